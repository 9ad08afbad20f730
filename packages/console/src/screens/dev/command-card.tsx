/** Command with its form, and as a terminal command and code. */
import type { ComponentChildren } from "preact";
import { EquivalentForms } from "../../components/equivalent-forms.tsx";
import { type Command, curlOf, programOf } from "./commands.ts";
import type { Commands } from "./use-commands.ts";

/** Maximum per request (docs/guides/dev-chain.md). */
export const MAX_BLOCKS = 1_000;

export type CommandCardProps = {
  readonly title: string;
  readonly hint: string;
  /** Command for the current input. */
  readonly command: Command;
  readonly button: string;
  readonly commands: Commands;
  readonly isDisabled?: boolean;
  /** Shows the form at first. */
  readonly isOpen?: boolean;
  /** Form fields. */
  readonly children?: ComponentChildren;
};

export function CommandCard({
  title,
  hint,
  command,
  button,
  commands,
  isDisabled,
  isOpen = false,
  children,
}: CommandCardProps) {
  function onSubmit(event: SubmitEvent): void {
    event.preventDefault();
    void commands.run(command);
  }

  return (
    <details class="command" open={isOpen}>
      <summary>
        <h3>{title}</h3>
      </summary>
      <p class="quiet">{hint}</p>
      <form onSubmit={onSubmit}>
        {children}
        <button
          type="submit"
          class="primary"
          disabled={isDisabled === true || commands.running !== undefined}
        >
          {commands.running?.name === command.name ? "Running…" : button}
        </button>
      </form>
      <EquivalentForms
        what={title}
        forms={[
          { id: "curl", title: "curl", text: curlOf(command, location.origin) },
          { id: "client", title: "JavaScript", text: programOf(command) },
        ]}
      />
    </details>
  );
}
