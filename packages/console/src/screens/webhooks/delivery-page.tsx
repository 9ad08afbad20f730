/** Delivery with its attempts and body. */
import { type DeliveryAttempt, type DeliveryRecord, jsonText } from "@uniknode/client";
import { Json } from "../../components/code-block.tsx";
import { EquivalentForms } from "../../components/equivalent-forms.tsx";
import { countText } from "../../components/format.ts";
import { hrefOf, Identifier } from "../../components/identifier.tsx";
import { Facts, Page, Section } from "../../components/page.tsx";
import { Empty, ResponseView } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { useNode, useResponse } from "../../data/node.ts";
import { Counterpart } from "./counterpart.tsx";
import { deliveryForms, requestOf } from "./forms.ts";
import { DeliveryBadge } from "./state.tsx";
import { Outcome, useAction } from "./use-action.tsx";

const EVERY_FEW_SECONDS = { lasts: "session", everyMs: 3_000 } as const;

const COLUMNS: readonly Column<DeliveryAttempt>[] = [
  {
    title: "Started",
    narrow: "2a",
    cell: ({ startedAt }) => <Time timeMs={startedAt} clock="machine" isWhole />,
  },
  {
    title: "Duration",
    narrow: "1c",
    cell: ({ durationMs }) => `${countText(durationMs)} ms`,
    isNumber: true,
  },
  {
    title: "Response",
    narrow: "1a",
    cell: ({ status, error }) => (status === undefined ? (error ?? "acknowledged") : `HTTP ${status}`),
  },
  { title: "Body", narrow: "2c", cell: ({ response }) => response && <span class="text">{response}</span> },
];

export function DeliveryPage({ webhook, id }: { webhook: string; id: string }) {
  const { webhooks } = useNode().operations;
  const response = useResponse(
    `webhook ${webhook} delivery ${id}`,
    () => webhooks.delivery(webhook, id),
    EVERY_FEW_SECONDS,
  );
  const delivery = response.value?.data;
  return (
    <Page kind="Delivery" title={id} aside={delivery && <DeliveryBadge state={delivery.state} />}>
      <ResponseView response={response} what="The delivery">
        {({ data }) => <Content webhook={webhook} delivery={data} />}
      </ResponseView>
    </Page>
  );
}

function Content({ webhook, delivery }: { webhook: string; delivery: DeliveryRecord }) {
  const { webhooks } = useNode().operations;
  const action = useAction();
  const { value } = useResponse(`webhook ${webhook}`, () => webhooks.get(webhook), { lasts: "session" });
  const target = value?.data.target;
  const { id, messageId, attempts, body } = delivery;
  const sendAgain = async () => {
    await webhooks.retry(webhook, id);
    return "It is sent again, with the same id and body";
  };
  return (
    <>
      <DeliveryFacts webhook={webhook} target={target} delivery={delivery} />
      <Section
        title="Attempts"
        aside={
          <button type="button" disabled={action.isRunning} onClick={() => void action.run(sendAgain)}>
            {delivery.state === "pending" ? "Send now" : "Send again"}
          </button>
        }
      >
        <Outcome action={action} />
        <Table
          caption="Attempts"
          columns={COLUMNS}
          rows={attempts}
          keyOf={({ startedAt }) => startedAt}
          empty={<Empty title="No attempts yet" />}
        />
      </Section>
      <Counterpart webhook={webhook} delivery={delivery} />
      <Section title="Request">
        <Json value={body} what="body" />
        <EquivalentForms
          what="the delivery"
          forms={[
            {
              id: "request",
              title: "The request, unsigned",
              text: requestOf(target ?? "TARGET", messageId, jsonText(body)),
            },
            ...deliveryForms(webhook, id, location.origin),
          ]}
        />
      </Section>
    </>
  );
}

type DeliveryFactsProps = {
  readonly webhook: string;
  readonly target: string | undefined;
  readonly delivery: DeliveryRecord;
};

function DeliveryFacts({ webhook, target, delivery }: DeliveryFactsProps) {
  const { messageId, event, height, blockId, reverts, reason, undone, nextAttemptAt } = delivery;
  return (
    <Facts
      facts={[
        [
          "Webhook",
          <a key="webhook" href={`/console/webhooks/${webhook}`}>
            {webhook}
          </a>,
        ],
        ["webhook-id", <Identifier key="id" id={messageId} what="webhook-id" isWhole />],
        ["Event", event],
        [
          "Target",
          target !== undefined && (
            <span key="target" class="text">
              {target}
            </span>
          ),
        ],
        ["Block", height && blockId && <a href={hrefOf.block(blockId)}>{countText(height)}</a>],
        [
          "Retracts",
          reverts && <a href={`/console/webhooks/${webhook}/${encodeURIComponent(reverts)}`}>{reverts}</a>,
        ],
        ["Its block", undone && "was reverted"],
        ["Reason", reason && <span class="text">{reason}</span>],
        [
          "Next attempt",
          nextAttemptAt !== undefined && <Time timeMs={nextAttemptAt} clock="machine" isWhole />,
        ],
      ]}
    />
  );
}
