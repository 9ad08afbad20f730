/** Form that simulates failures of a webhook receiver. */
import type { FailingReceiver, ReceiverFailure } from "@uniknode/client";
import { useState } from "preact/hooks";
import { Badge } from "../../components/badge.tsx";
import { countText } from "../../components/format.ts";
import { useNode, useResponse } from "../../data/node.ts";
import { CommandCard, CountField } from "./command-card.tsx";
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

export function Receivers({ commands }: { commands: Commands }) {
  const { operations, responses } = useNode();
  const [webhook, setWebhook] = useState<number>();
  const [how, setHow] = useState<ReceiverFailure["how"]>("refuse");
  const [status, setStatus] = useState(503);
  const [seconds, setSeconds] = useState(30);
  const response = useResponse(
    "webhooks to fail",
    () => operations.webhooks.list().page({ limit: MAX_SHOWN }),
    {
      lasts: "session",
      everyMs: 10_000,
    },
  );
  const failing = useResponse(FAILING, operations.dev.failing, { lasts: "session" });
  const webhooks = response.value?.data ?? [];
  const chosen = webhooks.find(({ id }) => id === webhook) ?? webhooks[0];
  const failure: ReceiverFailure =
    how === "refuse" ? { how, status } : how === "delay" ? { how, seconds } : { how };

  async function run(command: Command): Promise<undefined> {
    await commands.run(command);
    responses.refresh(FAILING);
  }

  return (
    <CommandCard
      title="Failing receiver"
      hint="Every delivery attempt of the webhook fails this way instead of reaching its receiver, until you end it or the node stops."
      command={{ name: "fail", body: { webhook: chosen?.id ?? 1, ...failure } }}
      button="Make it fail"
      commands={{ ...commands, run }}
      isDisabled={chosen === undefined}
    >
      <div>
        <label for="fail-webhook">Webhook</label>
        <select
          id="fail-webhook"
          value={chosen?.id}
          onChange={({ currentTarget }) => setWebhook(Number(currentTarget.value))}
        >
          {webhooks.map(({ id, target }) => (
            <option key={id} value={id}>
              {`${id}: ${target}`}
            </option>
          ))}
        </select>
        {response.value && webhooks.length === 0 && (
          <p class="quiet">
            No webhook is registered. <a href="/console/webhooks/new">Create one</a>
          </p>
        )}
      </div>
      <div>
        <label for="fail-how">Its receiver</label>
        <select
          id="fail-how"
          value={how}
          onChange={({ currentTarget }) => setHow(currentTarget.value as ReceiverFailure["how"])}
        >
          {Object.entries(WAYS).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </div>
      {how === "refuse" && (
        <CountField id="fail-status" label="Status" value={status} min={400} max={599} onChange={setStatus} />
      )}
      {how === "delay" && (
        <CountField
          id="fail-seconds"
          label="Seconds before it gets the delivery"
          value={seconds}
          max={MAX_SECONDS}
          onChange={setSeconds}
        />
      )}
      <ul class="failing" aria-label="Failing receivers">
        {(failing.value?.data ?? []).map((receiver) => (
          <li key={receiver.webhook}>
            <a href={`/console/webhooks/${receiver.webhook}`}>Webhook {receiver.webhook}</a>{" "}
            <Badge tone="bad">{failureText(receiver)}</Badge>{" "}
            <button
              type="button"
              disabled={commands.running !== undefined}
              onClick={() => void run({ name: "fail", body: { webhook: receiver.webhook, how: "not" } })}
            >
              End
            </button>
          </li>
        ))}
      </ul>
    </CommandCard>
  );
}

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
