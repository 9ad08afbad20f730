/** Form that changes a webhook; pending deliveries stay in the queue unless dropped. */
import type { Webhook } from "@uniknode/client";
import { useState } from "preact/hooks";
import { Page, Section } from "../../../components/page.tsx";
import { ResponseView } from "../../../components/states.tsx";
import { useNode, useResponse } from "../../../data/node.ts";
import { DropQueue } from "../drop-queue.tsx";
import { Conditions } from "../new/conditions.tsx";
import { DeliveryFields } from "../new/delivery.tsx";
import type { Draft } from "../new/draft.ts";
import { DryRunSection, useTrial } from "../new/dry-run.tsx";
import { Events } from "../new/events.tsx";
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
  const [isDropping, setDropping] = useState(false);
  const [warnings, setWarnings] = useState<readonly string[]>();
  const trial = useTrial(draft);
  const { id, queued = 0 } = webhook;
  const onChange = (changes: Partial<Draft>) => setDraft({ ...draft, ...changes });

  async function save(): Promise<string> {
    const changes = changesOf(before, draft);
    if (Object.keys(changes).length === 0 && !isDropping) return "No changes";
    const { warnings } = await operations.webhooks.update(id, {
      ...changes,
      ...(isDropping && { queue: "drop" }),
    });
    setWarnings(warnings);
    setDropping(false);
    const saved = draftOfWebhook((await operations.webhooks.get(id)).data);
    setBefore(saved);
    setDraft(saved);
    return isDropping ? "Saved; the queue is dropped" : "Saved";
  }

  function onSubmit(event: SubmitEvent): void {
    event.preventDefault();
    void action.run(save);
  }

  return (
    <form class="wizard" onSubmit={onSubmit}>
      <Section title="Delivery">
        <DeliveryFields draft={draft} onChange={onChange} hasPing={false} />
        {queued > 0 && <DropQueue count={queued} isChosen={isDropping} onChange={setDropping} />}
      </Section>
      <Section title="Events">
        <Events events={draft.events} onChange={(events) => onChange({ events })} />
      </Section>
      <Section title="Conditions">
        <Conditions draft={draft} paths={trial.paths} onChange={onChange} />
      </Section>
      <DryRunSection trial={trial} />
      <Warnings warnings={warnings} />
      <Outcome action={action} />
      <p>
        <button type="submit" class="primary" disabled={action.isRunning || draft.events.length === 0}>
          Save
        </button>
      </p>
    </form>
  );
}
