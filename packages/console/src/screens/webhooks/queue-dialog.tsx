/** Dialog of a change that also decides about pending deliveries. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Dialog } from "../../components/dialog.tsx";
import { countOfText } from "../../components/format.ts";

export type Queue = "keep" | "drop";

export type QueueDialogProps = {
  readonly title: string;
  /** Name of the change. */
  readonly button: string;
  /** Number of pending deliveries. */
  readonly count: number;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onChosen: (queue: Queue) => void;
  /** Describes what happens to deliveries that are kept. */
  readonly children: ComponentChildren;
};

export function QueueDialog({ title, button, count, isOpen, onClose, onChosen, children }: QueueDialogProps) {
  const [isDropping, setDropping] = useState(false);
  function close(): void {
    setDropping(false);
    onClose();
  }
  return (
    <Dialog title={title} isOpen={isOpen} onClose={close}>
      <p>{children}</p>
      {count > 0 && (
        <label class="choice">
          <input
            type="checkbox"
            checked={isDropping}
            onChange={({ currentTarget }) => setDropping(currentTarget.checked)}
          />
          <span>Never send the {countOfText(count, "deliveries")} in the queue</span>
        </label>
      )}
      <p class="choices">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button
          type="button"
          class="primary"
          onClick={() => {
            close();
            onChosen(isDropping ? "drop" : "keep");
          }}
        >
          {button}
        </button>
      </p>
    </Dialog>
  );
}
