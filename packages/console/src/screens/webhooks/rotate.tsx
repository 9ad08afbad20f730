/** Dialog that rotates the secret of a webhook, with an overlap in which the previous one stays valid. */
import type { WebhookWithToken } from "@uniknode/client";
import { useState } from "preact/hooks";
import { Dialog } from "../../components/dialog.tsx";
import { useNode } from "../../data/node.ts";
import type { Action } from "./use-action.tsx";

const OVERLAPS = [
  { seconds: 86_400, text: "a day" },
  { seconds: 3_600, text: "an hour" },
  { seconds: 604_800, text: "a week" },
  { seconds: 0, text: "not at all" },
] as const;

export type RotateProps = {
  readonly id: number;
  readonly action: Action;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onRotated: (webhook: WebhookWithToken) => void;
};

export function Rotate({ id, action, isOpen, onClose, onRotated }: RotateProps) {
  const { webhooks } = useNode().operations;
  const [seconds, setSeconds] = useState<number>(OVERLAPS[0].seconds);

  async function rotate(): Promise<string> {
    const { data } = await webhooks.rotate(id, { overlapSeconds: seconds });
    onRotated(data);
    return "The new secret is at the top of this page";
  }

  return (
    <Dialog title={`Rotate the secret of webhook ${id}?`} isOpen={isOpen} onClose={onClose}>
      <p>
        The node creates a new secret. While the previous secret is valid, deliveries have a signature for
        each of them, so that the receiver can change at any time.
      </p>
      <p>
        <label for="overlap">The previous secret stays valid for</label>{" "}
        <select
          id="overlap"
          value={seconds}
          onChange={({ currentTarget }) => setSeconds(Number(currentTarget.value))}
        >
          {OVERLAPS.map(({ seconds, text }) => (
            <option key={seconds} value={seconds}>
              {text}
            </option>
          ))}
        </select>
      </p>
      <button
        type="button"
        class="primary"
        onClick={() => {
          onClose();
          void action.run(rotate);
        }}
      >
        Rotate
      </button>
    </Dialog>
  );
}
