/** Makes a webhook: events, conditions tried on the past while one writes them, a target; then its secret, once. */
import type { WebhookWithToken } from "@uniknode/client";
import { useState } from "preact/hooks";
import { useListState } from "../../../components/list-state.ts";
import { Page, Section } from "../../../components/page.tsx";
import { SameElsewhere } from "../../../components/same-elsewhere.tsx";
import { useNode } from "../../../data/node.ts";
import { SecretPanel } from "../secret/panel.tsx";
import { useAction } from "../use-action.ts";
import { Conditions } from "./conditions.tsx";
import { DeliveryFields } from "./delivery.tsx";
import { type Draft, draftOf, fieldOf, pathsOf, queryOf, registrationOf } from "./draft.ts";
import { DryRunSection, useTrial } from "./dry-run.tsx";
import { Events } from "./events.tsx";
import { formsOf } from "./forms.ts";

export default function NewWebhook() {
  const [made, setMade] = useState<WebhookWithToken>();
  return (
    <Page title={made ? `Webhook ${made.id} is registered` : "New webhook"}>
      {made ? <SecretPanel webhook={made} /> : <Form onMade={setMade} />}
    </Page>
  );
}

function Form({ onMade }: { onMade: (webhook: WebhookWithToken) => void }) {
  const { operations } = useNode();
  const { query, change } = useListState();
  const action = useAction();
  const draft = draftOf(query);
  const trial = useTrial(draft);
  const onChange = (changes: Partial<Draft>) => change(queryOf({ ...draft, ...changes }), true);
  const problem = action.outcome?.isBad ? action.outcome.text : undefined;
  const field = problem === undefined ? undefined : fieldOf(problem);
  const { fired, notFired } = trial.answer.value?.data ?? {};
  const example = (fired?.events[0] ?? notFired?.events[0])?.data;

  async function register(): Promise<string> {
    const { data } = await operations.webhooks.create(registrationOf(draft));
    onMade(data);
    return `Webhook ${data.id} is registered`;
  }

  function onSubmit(event: SubmitEvent): void {
    event.preventDefault();
    void action.run(register);
  }

  return (
    <form class="wizard" onSubmit={onSubmit}>
      <Section title="Events">
        <Events events={draft.events} onChange={(events) => onChange({ events })} />
        <Problem text={field === "events" ? problem : undefined} />
      </Section>
      <Section title="Conditions">
        <Conditions draft={draft} paths={pathsOf(example)} onChange={onChange} />
        <Problem text={field === "conditions" ? problem : undefined} />
      </Section>
      <DryRunSection trial={trial} />
      <Section title="Delivery">
        <DeliveryFields draft={draft} onChange={onChange} />
        <Problem text={field === "target" || field === undefined ? problem : undefined} />
      </Section>
      <p>
        <button type="submit" class="primary" disabled={action.isRunning || draft.events.length === 0}>
          Register
        </button>{" "}
        {draft.events.length === 0 && <span class="quiet">Choose at least one event.</span>}
      </p>
      <SameElsewhere forms={formsOf(draft, location.origin)} what="the registration" />
    </form>
  );
}

const Problem = ({ text }: { text: string | undefined }) =>
  text === undefined ? null : (
    <p class="bad" role="alert">
      {text}
    </p>
  );
