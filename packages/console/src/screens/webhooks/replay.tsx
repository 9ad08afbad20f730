/** Replay form with an estimate of the deliveries, and progress. */
import { EVERY_EVENT, type Replay, type Webhook } from "@uniknode/client";
import { useState } from "preact/hooks";
import { CountField } from "../../components/count-field.tsx";
import { countOfText, countText } from "../../components/format.ts";
import { Section } from "../../components/page.tsx";
import { useNode, useResponse } from "../../data/node.ts";
import { Outcome, useAction } from "./use-action.tsx";

/** Maximum number of blocks per dry run. */
const MAX_BLOCKS = 1_000;

export function ReplaySection({ webhook }: { webhook: Webhook }) {
  const { operations, head } = useNode();
  const { webhooks } = operations;
  const { id } = webhook;
  const action = useAction();
  const [isStarted, setStarted] = useState(false);
  const [from, setFrom] = useState<number>();
  const [to, setTo] = useState<number>();
  const top = head.value?.height ?? 1;
  const toHeight = to ?? top;
  // One block, so that a single click does not replay the whole chain.
  const fromHeight = from ?? toHeight;
  const isAsked = isStarted || webhook.replay !== undefined;
  // The node returns 404 if there is no replay.
  const { value } = useResponse(isAsked ? `webhook ${id} replay` : undefined, () => webhooks.getReplay(id), {
    lasts: "session",
    everyMs: 1_000,
  });
  const replay = value?.data;
  const isRunning = replay?.state === "running";

  async function start(): Promise<string> {
    await webhooks.replay(id, { fromHeight, toHeight });
    setStarted(true);
    return "Replay started";
  }
  async function cancel(): Promise<string> {
    await webhooks.cancelReplay(id);
    return "Replay cancelled; unsent deliveries are dropped";
  }
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    void action.run(start);
  };

  return (
    <Section title="Replay">
      <form class="filters" aria-label="Replay" onSubmit={onSubmit}>
        <CountField id="replay-from" label="From height" value={fromHeight} max={top} onChange={setFrom} />
        <CountField id="replay-to" label="To height" value={toHeight} max={top} onChange={setTo} />
        <button type="submit" disabled={action.isRunning || isRunning || fromHeight > toHeight}>
          Replay
        </button>
        {isRunning && (
          <button type="button" disabled={action.isRunning} onClick={() => void action.run(cancel)}>
            Cancel
          </button>
        )}
      </form>
      {!isRunning && <Estimate webhook={webhook} blocks={toHeight - fromHeight + 1} />}
      {replay && <Progress replay={replay} />}
      <Outcome action={action} />
    </Section>
  );
}

const Progress = ({ replay }: { replay: Replay }) => (
  <p role="status">
    {replay.state === "running" && (
      <progress
        max={replay.toHeight - replay.fromHeight + 1}
        value={replay.nextHeight - replay.fromHeight}
        aria-label="Blocks of the replay"
      />
    )}{" "}
    Replay of the blocks {countText(replay.fromHeight)} to {countText(replay.toHeight)}: {replay.state}
    {replay.reason !== undefined && ` (${replay.reason})`}, {countText(replay.events)} deliveries,{" "}
    {countText(replay.waiting)} of them without an outcome yet
  </p>
);

/** Estimates the deliveries with a dry run on the newest blocks. */
function Estimate({ webhook, blocks }: { webhook: Webhook; blocks: number }) {
  const { operations } = useNode();
  const { id, event, events, conditions, match } = webhook;
  const { value } = useResponse(
    `webhook ${id} estimate ${JSON.stringify([event, events, conditions, match])}`,
    () =>
      operations.webhooks.test({
        ...(events ? { events: [...new Set([event, ...events])] } : { event }),
        conditions: conditions.length > 0 ? conditions : [EVERY_EVENT],
        ...(match && { match }),
        blocks: MAX_BLOCKS,
      }),
    { lasts: "session" },
  );
  if (!value || blocks < 1) return null;
  const { fired, fromHeight, toHeight } = value.data;
  const tried = Math.max(toHeight - fromHeight + 1, 1);
  return (
    <p class="quiet">
      {countOfText(blocks, "blocks")}, about{" "}
      {countOfText(Math.round((fired.count * blocks) / tried), "deliveries")}, judged by the last{" "}
      {countText(tried)} blocks. What was delivered before comes again with the same id.
    </p>
  );
}
