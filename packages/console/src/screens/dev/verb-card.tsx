/** Command with its form, and as a terminal command and code. */
import type { ComponentChildren } from "preact";
import { SameElsewhere } from "../../components/same-elsewhere.tsx";
import type { Verbs } from "./use-verbs.ts";
import { type Command, curlOf, programOf } from "./verbs.ts";

/** Maximum per request (docs/guides/dev-chain.md). */
export const MAX_BLOCKS = 1_000;

export type VerbCardProps = {
  readonly title: string;
  readonly hint: string;
  /** Command for the current input. */
  readonly command: Command;
  readonly button: string;
  readonly verbs: Verbs;
  readonly isDisabled?: boolean;
  /** Form fields. */
  readonly children?: ComponentChildren;
};

export function VerbCard({ title, hint, command, button, verbs, isDisabled, children }: VerbCardProps) {
  function onSubmit(event: SubmitEvent): void {
    event.preventDefault();
    void verbs.run(command);
  }

  return (
    <section class="card verb">
      <h2>{title}</h2>
      <p class="quiet">{hint}</p>
      <form onSubmit={onSubmit}>
        {children}
        <button type="submit" class="primary" disabled={isDisabled === true || verbs.running !== undefined}>
          {verbs.running?.verb === command.verb ? "Running…" : button}
        </button>
      </form>
      <SameElsewhere
        what={title}
        forms={[
          { id: "curl", title: "curl", text: curlOf(command, location.origin) },
          { id: "client", title: "JavaScript", text: programOf(command) },
        ]}
      />
    </section>
  );
}

export type CountFieldProps = {
  readonly id: string;
  readonly label: string;
  readonly value: number;
  /** Minimum; default 1. */
  readonly min?: number;
  readonly max: number;
  readonly onChange: (value: number) => void;
};

/** Field for an integer. */
export const CountField = ({ id, label, value, min = 1, max, onChange }: CountFieldProps) => (
  <div>
    <label for={id}>{label}</label>
    <input
      id={id}
      type="number"
      min={min}
      max={max}
      required
      value={value}
      onInput={({ currentTarget }) => {
        if (currentTarget.validity.valid) onChange(currentTarget.valueAsNumber);
      }}
    />
  </div>
);
