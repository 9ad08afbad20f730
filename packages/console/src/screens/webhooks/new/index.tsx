/** Form that registers a webhook, with a preview; then shows its secret once. */
import type { WebhookWithToken } from "@uniknode/client";
import { useState } from "preact/hooks";
import { EquivalentForms } from "../../../components/equivalent-forms.tsx";
import { useListState } from "../../../components/list-state.ts";
import { Page } from "../../../components/page.tsx";
import { useNode } from "../../../data/node.ts";
import { SecretPanel } from "../secret/panel.tsx";
import { useAction } from "../use-action.tsx";
import { Warnings } from "../warnings.tsx";
import { type Draft, draftOf, queryOf, registrationOf } from "./draft.ts";
import { WebhookFields } from "./fields.tsx";
import { formsOf } from "./forms.ts";
import { missingOf } from "./sentences.ts";

type Made = { readonly webhook: WebhookWithToken; readonly warnings: readonly string[] | undefined };

export default function NewWebhook() {
  const [made, setMade] = useState<Made>();
  if (!made) {
    return (
      <Page title="New webhook">
        <Form onMade={setMade} />
      </Page>
    );
  }
  const { webhook, warnings } = made;
  return (
    <Page
      title={`Webhook ${webhook.id} is registered`}
      aside={<a href={`/console/webhooks/${webhook.id}`}>To the webhook</a>}
    >
      <Warnings warnings={warnings} />
      <SecretPanel webhook={webhook} />
    </Page>
  );
}

function Form({ onMade }: { onMade: (made: Made) => void }) {
  const { webhooks } = useNode().operations;
  const { query, change } = useListState();
  const action = useAction();
  const draft = draftOf(query);
  const missing = missingOf(draft);
  const onChange = (changes: Partial<Draft>) => change(queryOf({ ...draft, ...changes }), true);

  async function register(): Promise<string> {
    const { data, warnings } = await webhooks.create(registrationOf(draft));
    onMade({ webhook: data, warnings });
    return `Webhook ${data.id} is registered`;
  }

  function onSubmit(event: SubmitEvent): void {
    event.preventDefault();
    void action.run(register);
  }

  return (
    <form class="wizard" onSubmit={onSubmit}>
      <WebhookFields
        draft={draft}
        problem={action.outcome?.isBad ? action.outcome.text : undefined}
        onChange={onChange}
      />
      <p>
        <button type="submit" class="primary" disabled={action.isRunning || missing !== undefined}>
          Register
        </button>{" "}
        {missing !== undefined && <span class="quiet">{missing}</span>}
      </p>
      <EquivalentForms forms={formsOf(draft, location.origin)} what="the registration" />
    </form>
  );
}
