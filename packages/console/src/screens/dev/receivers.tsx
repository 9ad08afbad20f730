/** Form that simulates failures of a webhook receiver. */
import type { FailingReceiver, ReceiverFailure, Webhook } from "@uniknode/client";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Badge } from "../../components/badge.tsx";
import { CountField } from "../../components/count-field.tsx";
import { countText } from "../../components/format.ts";
import { useNode, useResponse } from "../../data/node.ts";
import { CommandCard } from "./command-card.tsx";
import type { Command } from "./commands.ts";
import type { Commands } from "./use-commands.ts";

const FAILING = "failing receivers";
const MAX_SHOWN = 100;
const MAX_SECONDS = 3_600;
const WAYS: Readonly<Record<ReceiverFailure["how"], string>> = {
  refuse: "responds with a status",
  delay: "is slow",
  drop: "closes the connection",
};

/** Input of the form; the members that `how` does not use keep their values. */
type Draft = { readonly how: ReceiverFailure["how"]; readonly status: number; readonly seconds: number };

export function Receivers({ commands }: { commands: Commands }) {
  const { operations, responses } = useNode();
  const [webhook, setWebhook] = useState<number>();
  const [draft, setDraft] = useState<Draft>({ how: "refuse", status: 503, seconds: 30 });
  const response = useResponse(
    "webhooks to fail",
    () => operations.webhooks.list().page({ limit: MAX_SHOWN }),
    { lasts: "session", everyMs: 10_000 },
  );
  const failing = useResponse(FAILING, operations.dev.failing, { lasts: "session" });
  const webhooks = response.value?.data ?? [];
  const chosen = webhooks.find(({ id }) => id === webhook) ?? webhooks[0];

  async function run(command: Command): Promise<undefined> {
    await commands.run(command);
    responses.refresh(FAILING);
  }

  return (
    <>
      <CommandCard
        title="Failing receiver"
        hint="Every delivery attempt of the webhook fails this way instead of reaching its receiver, until you end it or the node stops."
        command={{ name: "fail", body: { webhook: chosen?.id ?? 1, ...failureOf(draft) } }}
        button="Make it fail"
        commands={{ ...commands, run }}
        isDisabled={chosen === undefined}
      >
        <WebhookField webhooks={webhooks} chosen={chosen} onChange={setWebhook}>
          {response.value && webhooks.length === 0 && (
            <p class="quiet">
              No webhook is registered. <a href="/console/webhooks/new">Create one</a>
            </p>
          )}
        </WebhookField>
        <FailureFields draft={draft} onChange={(changes) => setDraft({ ...draft, ...changes })} />
      </CommandCard>
      <FailingList
        failing={failing.value?.data ?? []}
        isDisabled={commands.running !== undefined}
        onEnd={(webhook) => void run({ name: "fail", body: { webhook, how: "not" } })}
      />
    </>
  );
}

function failureOf({ how, status, seconds }: Draft): ReceiverFailure {
  if (how === "refuse") return { how, status };
  return how === "delay" ? { how, seconds } : { how };
}

type WebhookFieldProps = {
  readonly webhooks: readonly Webhook[];
  readonly chosen: Webhook | undefined;
  readonly onChange: (id: number) => void;
  readonly children: ComponentChildren;
};

const WebhookField = ({ webhooks, chosen, onChange, children }: WebhookFieldProps) => (
  <div>
    <label for="fail-webhook">Webhook</label>
    <select
      id="fail-webhook"
      value={chosen?.id}
      onChange={({ currentTarget }) => onChange(Number(currentTarget.value))}
    >
      {webhooks.map(({ id, target }) => (
        <option key={id} value={id}>
          {`${id}: ${target}`}
        </option>
      ))}
    </select>
    {children}
  </div>
);

type FailureFieldsProps = { readonly draft: Draft; readonly onChange: (changes: Partial<Draft>) => void };

const FailureFields = ({ draft: { how, status, seconds }, onChange }: FailureFieldsProps) => (
  <>
    <div>
      <label for="fail-how">Its receiver</label>
      <select
        id="fail-how"
        value={how}
        onChange={({ currentTarget }) => onChange({ how: currentTarget.value as Draft["how"] })}
      >
        {Object.entries(WAYS).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </div>
    {how === "refuse" && (
      <CountField
        id="fail-status"
        label="Status"
        value={status}
        min={400}
        max={599}
        onChange={(status) => onChange({ status })}
      />
    )}
    {how === "delay" && (
      <CountField
        id="fail-seconds"
        label="Delay of the delivery, in seconds"
        value={seconds}
        max={MAX_SECONDS}
        onChange={(seconds) => onChange({ seconds })}
      />
    )}
  </>
);

type FailingListProps = {
  readonly failing: readonly FailingReceiver[];
  readonly isDisabled: boolean;
  readonly onEnd: (webhook: number) => void;
};

const FailingList = ({ failing, isDisabled, onEnd }: FailingListProps) => (
  <ul class="failing" aria-label="Failing receivers">
    {failing.map((receiver) => (
      <li key={receiver.webhook}>
        <a href={`/console/webhooks/${receiver.webhook}`}>Webhook {receiver.webhook}</a>{" "}
        <Badge tone="bad">{failureText(receiver)}</Badge>{" "}
        <button type="button" disabled={isDisabled} onClick={() => onEnd(receiver.webhook)}>
          End
        </button>
      </li>
    ))}
  </ul>
);

function failureText(failure: FailingReceiver): string {
  switch (failure.how) {
    case "refuse":
      return `responds with ${failure.status}`;
    case "delay":
      return `responds after ${countText(failure.seconds)} s`;
    case "drop":
      return "closes the connection";
  }
}
