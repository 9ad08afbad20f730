/** Shows a fact and its retraction side by side. */
import type { DeliveryRecord } from "@uniknode/client";
import { Json } from "../../components/code-block.tsx";
import { countText } from "../../components/format.ts";
import { hrefOf } from "../../components/identifier.tsx";
import { Section } from "../../components/page.tsx";
import { ResponseView } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { useNode, useResponse } from "../../data/node.ts";
import { DeliveryBadge } from "./state.tsx";

type CounterpartProps = { readonly webhook: string; readonly delivery: DeliveryRecord };

/** Renders nothing if the block of the delivery is on the chain. */
export function Counterpart({ webhook, delivery }: CounterpartProps) {
  const { webhooks } = useNode().operations;
  const { messageId, reverts, undone, height } = delivery;
  const retractions = undone === true && height !== undefined ? { height } : undefined;
  const isAsked = reverts !== undefined || retractions !== undefined;
  const response = useResponse(
    isAsked ? `webhook ${webhook} counterpart ${messageId}` : undefined,
    async () => {
      if (reverts !== undefined) return (await webhooks.delivery(webhook, reverts)).data;
      const { data } = await webhooks.deliveries(webhook, retractions).page({ limit: 100 });
      const found = data.find((other) => other.reverts === messageId);
      return found ? (await webhooks.delivery(webhook, found.id)).data : null;
    },
    { lasts: "session", everyMs: 5_000 },
  );
  if (!isAsked) return null;
  return (
    <Section title="The fact and its retraction">
      <ResponseView response={response} what="The other delivery">
        {(other) =>
          other === null ? (
            <p class="quiet">
              The block of this delivery was reverted. Its retraction is not in the log: the delivery had not
              arrived, or the log is older.
            </p>
          ) : (
            <div class="pair">
              <Side title="Fact" webhook={webhook} delivery={reverts === undefined ? delivery : other} />
              <Side
                title="Retraction"
                webhook={webhook}
                delivery={reverts === undefined ? other : delivery}
              />
            </div>
          )
        }
      </ResponseView>
    </Section>
  );
}

function Side({ title, webhook, delivery }: CounterpartProps & { title: string }) {
  const { id, event, state, height, blockId, createdAt, sequence, body } = delivery;
  return (
    <article class="card" aria-label={title}>
      <h3>
        {title} <DeliveryBadge state={state} />
      </h3>
      <p class="quiet">
        <a href={`/console/webhooks/${webhook}/${id}`}>Delivery {id}</a> · <code>{event}</code>
        {sequence !== undefined && ` · sequence ${countText(sequence)}`} ·{" "}
        {height !== undefined && blockId !== undefined && (
          <>
            block <a href={hrefOf.block(blockId)}>{countText(height)}</a> ·{" "}
          </>
        )}
        <Time timeMs={createdAt} clock="machine" />
      </p>
      <Json value={body} what={`body of the ${title.toLowerCase()}`} />
    </article>
  );
}
