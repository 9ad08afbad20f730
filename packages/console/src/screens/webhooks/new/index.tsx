/** Form that registers a webhook, with a dry run; then shows its secret once. */
import type { TriedTarget, WebhookWithToken } from "@uniknode/client";
import { useState } from "preact/hooks";
import { useListState } from "../../../components/list-state.ts";
import { Page, Section } from "../../../components/page.tsx";
import { SameElsewhere } from "../../../components/same-elsewhere.tsx";
import { useNode } from "../../../data/node.ts";
import { SecretPanel } from "../secret/panel.tsx";
import { useAction } from "../use-action.ts";
import { Warnings } from "../warnings.tsx";
import { Conditions } from "./conditions.tsx";
import { DeliveryFields } from "./delivery.tsx";
import { type Draft, draftOf, fieldOf, pathsOf, queryOf, registrationOf } from "./draft.ts";
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

/** Explains that a verifying receiver cannot accept a ping before it has the secret. */
function refusalOf({ status, reason, answer }: TriedTarget): string {
  const text = answer === undefined ? "" : ` (${answer.slice(0, 100)})`;
  const hint =
    status === 401 || status === 403
      ? ": a receiver that verifies signatures needs the secret first, which the registration shows"
      : "";
  return `The receiver did not accept the ping: ${reason ?? "no response"}${text}${hint}.`;
}

function Form({ onMade }: { onMade: (made: Made) => void }) {
  const { operations } = useNode();
  const { query, change } = useListState();
  const action = useAction();
  const draft = draftOf(query);
  const trial = useTrial(draft);
  const onChange = (changes: Partial<Draft>) => change(queryOf({ ...draft, ...changes }), true);
  const problem = action.outcome?.isBad ? action.outcome.text : undefined;
  const field = problem === undefined ? undefined : fieldOf(problem);
  const { fired, notFired } = trial.response.value?.data ?? {};
  const example = (fired?.events[0] ?? notFired?.events[0])?.data;

  /** Target that did not accept the ping, and its response. */
  const [refused, setRefused] = useState<{ readonly target: string; readonly text: string }>();
  const isRefused = refused?.target === draft.target;

  async function register(): Promise<string> {
    const registration = registrationOf(draft);
    if (draft.ping && !isRefused) {
      const { data } = await operations.webhooks.pingTarget(registration.target);
      if (!data.accepted) {
        setRefused({ target: draft.target, text: refusalOf(data) });
        return "The receiver did not accept the ping; nothing is registered yet";
      }
    }
    const { data, warnings } = await operations.webhooks.create({ ...registration, ping: false });
    onMade({ webhook: data, warnings, isPinged: draft.ping && !isRefused });
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
      {isRefused && (
        <p class="bad" role="alert">
          {refused.text}
        </p>
      )}
      <p>
        <button type="submit" class="primary" disabled={action.isRunning || draft.events.length === 0}>
          {isRefused ? "Register anyway" : "Register"}
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
