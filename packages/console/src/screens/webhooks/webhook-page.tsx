/** Webhook page: subscription, state and actions. */
import { isEveryEvent, type Webhook, type WebhookWithToken } from "@uniknode/client";
import { useState } from "preact/hooks";
import { Json } from "../../components/code-block.tsx";
import { countText } from "../../components/format.ts";
import { Facts, Page } from "../../components/page.tsx";
import { ResponseView } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { useNode, useResponse } from "../../data/node.ts";
import { Actions } from "./actions.tsx";
import { Deliveries } from "./deliveries.tsx";
import { Health } from "./health.tsx";
import { ReplaySection } from "./replay.tsx";
import { SecretPanel } from "./secret/panel.tsx";
import { eventsOf, StateBadge, Trouble } from "./state.tsx";

const EVERY_FEW_SECONDS = { lasts: "session", everyMs: 5_000 } as const;

export default function WebhookPage({ id }: { id: string }) {
  const { operations } = useNode();
  const response = useResponse(`webhook ${id}`, () => operations.webhooks.get(id), EVERY_FEW_SECONDS);
  const webhook = response.value?.data;
  return (
    <Page kind="Webhook" title={id} aside={webhook && <StateBadge webhook={webhook} />}>
      <ResponseView response={response} what="The webhook">
        {({ data }) => <Content webhook={data} />}
      </ResponseView>
    </Page>
  );
}

function Content({ webhook }: { webhook: Webhook }) {
  const [rotated, setRotated] = useState<WebhookWithToken>();
  return (
    <>
      {rotated && <SecretPanel webhook={rotated} />}
      <Failing webhook={webhook} />
      <WebhookFacts webhook={webhook} />
      <Actions webhook={webhook} onRotated={setRotated} />
      <Deliveries webhook={webhook.id} />
      <ReplaySection webhook={webhook} />
    </>
  );
}

function WebhookFacts({ webhook }: { webhook: Webhook }) {
  const { name, target, conditions, order, confirmations = 0, replay } = webhook;
  return (
    <Facts
      facts={[
        ["Name", name],
        ["Deliveries", <Health key="health" webhook={webhook} />],
        ["Events", eventsOf(webhook)],
        [
          "Target",
          <span key="target" class="text">
            {target}
          </span>,
        ],
        [
          conditionsTitle(webhook),
          isEveryEvent(conditions) ? (
            "none: every event is delivered"
          ) : (
            <Json key="conditions" value={conditions} what="conditions" />
          ),
        ],
        ["Order", order === "strict" ? "Strict: one delivery at a time" : "Parallel"],
        ["Confirmations", confirmations > 0 && countText(confirmations)],
        ["Proof", webhook.proof && "in each delivery"],
        ["Replay", replay && `block ${countText(replay.nextHeight)} of ${countText(replay.toHeight)}`],
      ]}
    />
  );
}

function conditionsTitle({ conditions, match }: Webhook): string {
  if (conditions.length < 2) return "Conditions";
  return match === "all" ? "All conditions" : "One of the conditions";
}

function Failing({ webhook: { id, target, suspended, failing } }: { webhook: Webhook }) {
  const { reason = "recent attempts failed", since } = suspended ?? failing ?? {};
  if (!suspended && !failing) return null;
  return (
    <Trouble reason={reason} target={target}>
      {suspended && (
        <p>
          Nothing is sent until you edit or resume the webhook, or a ping succeeds: fix the receiver, then
          ping it.
        </p>
      )}
      <p>
        {/* A receiver that responds is the right one. */}
        {!/^HTTP 5/.test(reason) && (
          <a class="button" href={`/console/webhooks/${id}/edit`}>
            Edit the target
          </a>
        )}{" "}
        {since !== undefined && (
          <span class="quiet">
            {suspended ? "Suspended" : "Began failing"} <Time timeMs={since} clock="machine" />
          </span>
        )}
      </p>
    </Trouble>
  );
}
