/** Actions on a webhook. */
import type { Webhook, WebhookWithToken } from "@uniknode/client";
import { useState } from "preact/hooks";
import { EquivalentForms } from "../../components/equivalent-forms.tsx";
import { useNode } from "../../data/node.ts";
import { Delete } from "./delete.tsx";
import { DropQueue } from "./drop-queue.tsx";
import { webhookForms } from "./forms.ts";
import { Rotate } from "./rotate.tsx";
import { Outcome, pingOf, useAction } from "./use-action.tsx";

export type ActionsProps = {
  readonly webhook: Webhook;
  readonly onRotated: (webhook: WebhookWithToken) => void;
};

export function Actions({ webhook: { id, enabled, queued = 0 }, onRotated }: ActionsProps) {
  const { webhooks } = useNode().operations;
  const action = useAction();
  const [asked, setAsked] = useState<"delete" | "rotate">();
  const [isDropping, setDropping] = useState(false);
  const close = () => setAsked(undefined);
  const { isRunning, run } = action;
  const toggle = async () => {
    await webhooks.update(id, { enabled: !enabled, ...(isDropping && { queue: "drop" }) });
    setDropping(false);
    if (isDropping) return enabled ? "Paused; the queue is dropped" : "Active again; the queue is dropped";
    return enabled ? "Paused; the queue is kept" : "Active again";
  };
  return (
    <section class="section" aria-label="Actions">
      <p>
        <button type="button" disabled={isRunning} onClick={() => void run(() => pingOf(webhooks, id))}>
          Ping
        </button>{" "}
        <button type="button" disabled={isRunning} onClick={() => void run(toggle)}>
          {enabled ? "Pause" : "Resume"}
        </button>{" "}
        <a class="button" href={`/console/webhooks/${id}/edit`}>
          Edit
        </a>{" "}
        <button type="button" disabled={isRunning} onClick={() => setAsked("rotate")}>
          Rotate the secret
        </button>{" "}
        <button type="button" class="danger" disabled={isRunning} onClick={() => setAsked("delete")}>
          Delete
        </button>
      </p>
      {queued > 0 && <DropQueue count={queued} isChosen={isDropping} onChange={setDropping} />}
      <Outcome action={action} />
      <Delete id={id} action={action} isOpen={asked === "delete"} onClose={close} />
      <Rotate id={id} action={action} isOpen={asked === "rotate"} onClose={close} onRotated={onRotated} />
      <EquivalentForms forms={webhookForms(id, enabled, location.origin)} what="these actions" />
    </section>
  );
}
