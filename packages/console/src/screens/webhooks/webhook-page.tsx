/** A webhook: what it selects, how it is, and what may be done with it. */
import type { Webhook } from "@uniknode/client";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso/router";
import { Json } from "../../components/code-block.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { countText } from "../../components/format.ts";
import { Facts, Page } from "../../components/page.tsx";
import { Answered } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { useAnswer, useNode } from "../../data/node.ts";
import { Deliveries } from "./deliveries.tsx";
import { Outcome } from "./outcome.tsx";
import { eventsOf, StateBadge } from "./state.tsx";
import { useAction } from "./use-action.ts";

const EVERY_FEW_SECONDS = { lasts: "session", everyMs: 5_000 } as const;

export function WebhookPage({ id }: { id: string }) {
  const { operations } = useNode();
  const answer = useAnswer(`webhook ${id}`, () => operations.webhooks.get(id), EVERY_FEW_SECONDS);
  const webhook = answer.value?.data;
  return (
    <Page kind="Webhook" title={id} aside={webhook && <StateBadge webhook={webhook} />}>
      <Answered answer={answer} what="The webhook">
        {({ data }) => <Content webhook={data} />}
      </Answered>
    </Page>
  );
}

function Content({ webhook }: { webhook: Webhook }) {
  const { id, target, conditions, match, order, confirmations = 0, suspended, replay } = webhook;
  return (
    <>
      <Facts
        facts={[
          ["Events", eventsOf(webhook)],
          [
            "Target",
            <span key="target" class="text">
              {target}
            </span>,
          ],
          [
            match === "all" ? "All conditions" : "One of the conditions",
            <Json key="conditions" value={conditions} what="conditions" />,
          ],
          ["Order", order === "strict" ? "strict: one after another" : "parallel"],
          ["Confirmations", confirmations > 0 && countText(confirmations)],
          [
            "Suspended",
            suspended && (
              <>
                {suspended.reason} · <Time timeMs={suspended.since} clock="machine" />
              </>
            ),
          ],
          ["Replay", replay && `block ${countText(replay.nextHeight)} of ${countText(replay.toHeight)}`],
        ]}
      />
      <Actions webhook={webhook} />
      <Deliveries webhook={id} />
    </>
  );
}

function Actions({ webhook: { id, enabled } }: { webhook: Webhook }) {
  const { webhooks } = useNode().operations;
  const { route } = useLocation();
  const action = useAction();
  const [isAsked, setAsked] = useState(false);
  const { isRunning, run } = action;
  const ping = async () => {
    const { data } = await webhooks.ping(id);
    return `The receiver ${data.state === "delivered" ? "accepted" : "did not accept"} the ping: ${data.attempts[0]?.status ?? data.reason}`;
  };
  const toggle = async () => {
    await webhooks.update(id, { enabled: !enabled });
    return enabled ? "Paused: what waited was dropped" : "Active again";
  };
  const remove = async () => {
    await webhooks.remove(id);
    route("/console/webhooks");
    return `Webhook ${id} is deleted`;
  };
  return (
    <section class="section" aria-label="Actions">
      <p>
        <button type="button" disabled={isRunning} onClick={() => void run(ping)}>
          Ping
        </button>{" "}
        <button type="button" disabled={isRunning} onClick={() => void run(toggle)}>
          {enabled ? "Pause" : "Resume"}
        </button>{" "}
        <button type="button" disabled={isRunning} onClick={() => setAsked(true)}>
          Delete
        </button>
      </p>
      <Outcome action={action} />
      <Dialog title={`Delete webhook ${id}?`} isOpen={isAsked} onClose={() => setAsked(false)}>
        <p>Its deliveries, waiting ones included, are deleted with it.</p>
        <button
          type="button"
          class="primary"
          onClick={() => {
            setAsked(false);
            void run(remove);
          }}
        >
          Delete
        </button>
      </Dialog>
    </section>
  );
}
