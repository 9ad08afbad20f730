/** Dialog that deletes a webhook. */
import { useLocation } from "preact-iso/router";
import { Dialog } from "../../components/dialog.tsx";
import { useNode } from "../../data/node.ts";
import type { Action } from "./use-action.tsx";

export type DeleteProps = {
  readonly id: number;
  readonly action: Action;
  readonly isOpen: boolean;
  readonly onClose: () => void;
};

export function Delete({ id, action, isOpen, onClose }: DeleteProps) {
  const { webhooks } = useNode().operations;
  const { route } = useLocation();

  async function remove(): Promise<string> {
    await webhooks.remove(id);
    route("/console/webhooks");
    return `Webhook ${id} is deleted`;
  }

  return (
    <Dialog title={`Delete webhook ${id}?`} isOpen={isOpen} onClose={onClose}>
      <p>Its deliveries are deleted too, including pending ones.</p>
      <p class="choices">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          class="primary danger"
          onClick={() => {
            onClose();
            // Stops the requests of the deleted webhook's page.
            void action.run(remove, "webhooks");
          }}
        >
          Delete
        </button>
      </p>
    </Dialog>
  );
}
