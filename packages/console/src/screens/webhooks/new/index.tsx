/** Form that registers a webhook, with a dry run; then shows its secret once. */
import type { TriedTarget, WebhookWithToken } from "@uniknode/client";
import { useState } from "preact/hooks";
import { EquivalentForms } from "../../../components/equivalent-forms.tsx";
import { useListState } from "../../../components/list-state.ts";
import { Page, Section } from "../../../components/page.tsx";
import { useNode } from "../../../data/node.ts";
import { SecretPanel } from "../secret/panel.tsx";
import { useAction } from "../use-action.tsx";
import { Warnings } from "../warnings.tsx";
import { Conditions } from "./conditions.tsx";
import { DeliveryFields } from "./delivery.tsx";
import { type Draft, draftOf, fieldOf, queryOf, registrationOf } from "./draft.ts";
import { DryRunSection, useTrial } from "./dry-run.tsx";
import { Events } from "./events.tsx";
import { formsOf } from "./forms.ts";

type Made = {
  readonly webhook: WebhookWithToken;
  readonly warnings: readonly string[] | undefined;
  /** True if the receiver accepted a ping. */
  readonly isPinged: boolean;
};

export default function NewWebhook() {
  const [made, setMade] = useState<Made>();
  if (!made) {
    return (
      <Page title="New webhook">
        <Form onMade={setMade} />
      </Page>
    );
  }
  const { webhook, warnings, isPinged } = made;
  return (
    <Page title={`Webhook ${webhook.id} is registered`}>
      {isPinged && <p class="sentence">The receiver accepted the ping.</p>}
      <Warnings warnings={warnings} />
      <SecretPanel webhook={webhook} />
    </Page>
  );
}

type Registration = {
  /** Explains why the target of the draft did not accept the ping; the next registration skips it. */
  readonly refusal: string | undefined;
  /** @returns the outcome */
  register(): Promise<string>;
};

/** Pings the target, then registers the draft. */
function useRegistration(draft: Draft, onMade: (made: Made) => void): Registration {
  const { webhooks } = useNode().operations;
  const [refused, setRefused] = useState<{ readonly target: string; readonly text: string }>();
  const refusal = refused?.target === draft.target ? refused.text : undefined;
  const hasPing = draft.ping && refusal === undefined;

  async function register(): Promise<string> {
    const registration = registrationOf(draft);
    if (hasPing) {
      const { data } = await webhooks.pingTarget(registration.target);
      if (!data.accepted) {
        setRefused({ target: draft.target, text: refusalOf(data) });
        return "The receiver did not accept the ping; nothing is registered yet";
      }
    }
    const { data, warnings } = await webhooks.create({ ...registration, ping: false });
    onMade({ webhook: data, warnings, isPinged: hasPing });
    return `Webhook ${data.id} is registered`;
  }

  return { refusal, register };
}

/** Explains that a verifying receiver cannot accept a ping before it has the secret. */
function refusalOf({ status, reason, response }: TriedTarget): string {
  const text = response === undefined ? "" : ` (${response.slice(0, 100)})`;
  const hint =
    status === 401 || status === 403
      ? ": a receiver that verifies signatures needs the secret first, which the registration shows"
      : "";
  return `The receiver did not accept the ping: ${reason ?? "no response"}${text}${hint}.`;
}

function Form({ onMade }: { onMade: (made: Made) => void }) {
  const { query, change } = useListState();
  const action = useAction();
  const draft = draftOf(query);
  const trial = useTrial(draft);
  const onChange = (changes: Partial<Draft>) => change(queryOf({ ...draft, ...changes }), true);
  const problem = action.outcome?.isBad ? action.outcome.text : undefined;
  const field = problem === undefined ? undefined : fieldOf(problem);
  const { refusal, register } = useRegistration(draft, onMade);

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
        <Conditions draft={draft} paths={trial.paths} onChange={onChange} />
        <Problem text={field === "conditions" ? problem : undefined} />
      </Section>
      <DryRunSection trial={trial} />
      <Section title="Delivery">
        <DeliveryFields draft={draft} onChange={onChange} />
        <Problem text={field === "target" || field === undefined ? problem : undefined} />
      </Section>
      <Problem text={refusal} />
      <p>
        <button type="submit" class="primary" disabled={action.isRunning || draft.events.length === 0}>
          {refusal !== undefined ? "Register anyway" : "Register"}
        </button>{" "}
        {draft.events.length === 0 && <span class="quiet">Choose at least one event.</span>}
      </p>
      <EquivalentForms forms={formsOf(draft, location.origin)} what="the registration" />
    </form>
  );
}

const Problem = ({ text }: { text: string | undefined }) =>
  text === undefined ? null : (
    <p class="bad" role="alert">
      {text}
    </p>
  );
