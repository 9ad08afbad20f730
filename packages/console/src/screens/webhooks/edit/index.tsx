/** Form that changes a webhook; a dialog asks about pending deliveries. */
import type { Webhook } from "@uniknode/client";
import { useState } from "preact/hooks";
import { Page } from "../../../components/page.tsx";
import { ResponseView } from "../../../components/states.tsx";
import { useNode, useResponse } from "../../../data/node.ts";
import type { Draft } from "../new/draft.ts";
import { WebhookFields } from "../new/fields.tsx";
import { missingOf } from "../new/sentences.ts";
import { type Queue, QueueDialog } from "../queue-dialog.tsx";
import { Outcome, useAction } from "../use-action.tsx";
import { Warnings } from "../warnings.tsx";
import { changesOf, draftOfWebhook } from "./changes.ts";

export default function EditWebhook({ id }: { id: string }) {
  const { operations } = useNode();
  const response = useResponse(`webhook ${id}`, () => operations.webhooks.get(id), { lasts: "session" });
  return (
    <Page title={`Edit webhook ${id}`} aside={<a href={`/console/webhooks/${id}`}>To the webhook</a>}>
      <ResponseView response={response} what="The webhook">
        {({ data }) => <Form webhook={data} />}
      </ResponseView>
    </Page>
  );
}

function Form({ webhook }: { webhook: Webhook }) {
  const { operations } = useNode();
  const action = useAction();
  const [before, setBefore] = useState<Draft>(() => draftOfWebhook(webhook));
  const [draft, setDraft] = useState(before);
  const [isAsking, setAsking] = useState(false);
  const [warnings, setWarnings] = useState<readonly string[]>();
  const { id, queued = 0 } = webhook;
  const missing = missingOf(draft);
  const changes = changesOf(before, draft);

  async function save(queue: Queue): Promise<string> {
    const { warnings } = await operations.webhooks.update(id, { ...changes, queue });
    setWarnings(warnings);
    const saved = draftOfWebhook((await operations.webhooks.get(id)).data);
    setBefore(saved);
    setDraft(saved);
    return queue === "drop" ? "Saved; the queue is dropped" : "Saved";
  }

  function onSubmit(event: SubmitEvent): void {
    event.preventDefault();
    if (queued > 0) setAsking(true);
    else void action.run(() => save("keep"));
  }

  return (
    <form class="wizard" onSubmit={onSubmit}>
      <WebhookFields
        draft={draft}
        problem={action.outcome?.isBad ? action.outcome.text : undefined}
        onChange={(changes) => setDraft({ ...draft, ...changes })}
      />
      <Warnings warnings={warnings} />
      <Outcome action={action} />
      <p>
        <button
          type="submit"
          class="primary"
          disabled={action.isRunning || missing !== undefined || Object.keys(changes).length === 0}
        >
          Save
        </button>{" "}
        {missing !== undefined && <span class="quiet">{missing}</span>}
      </p>
      <QueueDialog
        title={`Save webhook ${id}?`}
        button="Save"
        count={queued}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onChosen={(queue) => void action.run(() => save(queue))}
      >
        Queued deliveries go to {draft.target}, in order.
      </QueueDialog>
    </form>
  );
}
