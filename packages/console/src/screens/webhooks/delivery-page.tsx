/** Delivery with its attempts and body. */
import { type DeliveryRecord, jsonText } from "@uniknode/client";
import { Json } from "../../components/code-block.tsx";
import { EquivalentForms } from "../../components/equivalent-forms.tsx";
import { countText } from "../../components/format.ts";
import { hrefOf, Identifier } from "../../components/identifier.tsx";
import { Facts, Page, Section } from "../../components/page.tsx";
import { ResponseView } from "../../components/states.tsx";
import { useNode, useResponse } from "../../data/node.ts";
import { Attempts } from "./attempts.tsx";
import { Counterpart } from "./counterpart.tsx";
import { deliveryForms, requestOf } from "./forms.ts";
import { Resend } from "./resend.tsx";
import { DeliveryBadge, Trouble } from "./state.tsx";
import { Outcome, useAction } from "./use-action.tsx";

const EVERY_FEW_SECONDS = { lasts: "session", everyMs: 3_000 } as const;

export default function DeliveryPage({ webhook, id }: { webhook: string; id: string }) {
  const { webhooks } = useNode().operations;
  const response = useResponse(
    `webhook ${webhook} delivery ${id}`,
    () => webhooks.delivery(webhook, id),
    EVERY_FEW_SECONDS,
  );
  const delivery = response.value?.data;
  const { value } = useResponse(`webhook ${webhook}`, () => webhooks.get(webhook), { lasts: "session" });
  return (
    <Page kind="Delivery" title={id} aside={delivery && <DeliveryBadge state={delivery.state} />}>
      <ResponseView response={response} what="The delivery">
        {({ data }) => <Content webhook={webhook} target={value?.data.target ?? "TARGET"} delivery={data} />}
      </ResponseView>
    </Page>
  );
}

type DeliveryProps = { readonly webhook: string; readonly delivery: DeliveryRecord };

/** @param target current target of the webhook; the attempts may have had others */
function Content({ webhook, target, delivery }: DeliveryProps & { readonly target: string }) {
  const { webhooks } = useNode().operations;
  const action = useAction();
  const { id, messageId, state, reason, body } = delivery;
  const sendAgain = async () => {
    await webhooks.retry(webhook, id);
    return "It is sent again, with the same id and body";
  };
  const send = (
    <button type="button" disabled={action.isRunning} onClick={() => void action.run(sendAgain)}>
      {state === "pending" ? "Send now" : "Send again"}
    </button>
  );
  const isTrouble = reason !== undefined && state !== "delivered";
  return (
    <>
      {isTrouble && (
        <Trouble reason={reason}>
          <p>
            {send}{" "}
            <a class="button" href={`/console/webhooks/${webhook}/edit`}>
              Edit the target
            </a>
          </p>
        </Trouble>
      )}
      <Section title="Attempts" aside={!isTrouble && send}>
        <Outcome action={action} />
        <Attempts delivery={delivery} />
      </Section>
      <DeliveryFacts webhook={webhook} delivery={delivery} />
      <Counterpart webhook={webhook} delivery={delivery} />
      <Section title="Request">
        <Json value={body} what="body" />
        <EquivalentForms
          what="the delivery"
          forms={[
            {
              id: "request",
              title: "The request, unsigned",
              text: requestOf(target, messageId, jsonText(body)),
            },
            ...deliveryForms(webhook, id, location.origin),
          ]}
        />
        <Resend body={body} />
      </Section>
    </>
  );
}

function DeliveryFacts({ webhook, delivery }: DeliveryProps) {
  const { messageId, event, height, blockId, reverts, undone } = delivery;
  return (
    <Facts
      facts={[
        [
          "Webhook",
          <a key="webhook" href={`/console/webhooks/${webhook}`}>
            {webhook}
          </a>,
        ],
        ["Message id", <Identifier key="id" id={messageId} what="message id" isWhole />],
        ["Event", event],
        ["Block", height && blockId && <a href={hrefOf.block(blockId)}>{countText(height)}</a>],
        [
          "Retracts",
          reverts && <a href={`/console/webhooks/${webhook}/${encodeURIComponent(reverts)}`}>{reverts}</a>,
        ],
        ["Its block", undone && "was reverted"],
      ]}
    />
  );
}
