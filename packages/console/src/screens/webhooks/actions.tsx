/** Actions on a webhook. */
import type { Webhook, WebhookWithToken } from "@uniknode/client";
import { useState } from "preact/hooks";
import { EquivalentForms } from "../../components/equivalent-forms.tsx";
import { useNode } from "../../data/node.ts";
import { Delete } from "./delete.tsx";
import { webhookForms } from "./forms.ts";
import { type Queue, QueueDialog } from "./queue-dialog.tsx";
import { Rotate } from "./rotate.tsx";
import { Outcome, pingOf, useAction } from "./use-action.tsx";

export type ActionsProps = {
  readonly webhook: Webhook;
  readonly onRotated: (webhook: WebhookWithToken) => void;
};

export function Actions({ webhook, onRotated }: ActionsProps) {
  const { id, enabled, queued = 0 } = webhook;
  const { webhooks } = useNode().operations;
  const action = useAction();
  const [asked, setAsked] = useState<"delete" | "rotate" | "toggle">();
  const close = () => setAsked(undefined);
  const { isRunning, run } = action;
  const change = enabled ? "Pause" : "Resume";
  const toggle = async (queue: Queue) => {
    await webhooks.update(id, { enabled: !enabled, queue });
    const state = enabled ? "Paused" : "Active again";
    return queue === "drop" ? `${state}; the queue is dropped` : state;
  };
  return (
    <section class="section" aria-label="Actions">
      <p class="page-aside">
        <button type="button" disabled={isRunning} onClick={() => void run(() => pingOf(webhooks, webhook))}>
          Ping
        </button>{" "}
        <button
          type="button"
          disabled={isRunning}
          onClick={() => (enabled || queued > 0 ? setAsked("toggle") : void run(() => toggle("keep")))}
        >
          {change}
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
      <Outcome action={action} />
      <Delete id={id} action={action} isOpen={asked === "delete"} onClose={close} />
      <Rotate id={id} action={action} isOpen={asked === "rotate"} onClose={close} onRotated={onRotated} />
      <QueueDialog
        title={`${change} webhook ${id}?`}
        button={change}
        count={queued}
        isOpen={asked === "toggle"}
        onClose={close}
        onChosen={(queue) => void run(() => toggle(queue))}
      >
        {enabled
          ? "Until you press Resume, new events are not delivered; replay their blocks to get them later. Queued deliveries wait."
          : "Queued deliveries are sent in order."}
      </QueueDialog>
      <EquivalentForms forms={webhookForms(id, enabled, location.origin)} what="these actions" />
    </section>
  );
}
