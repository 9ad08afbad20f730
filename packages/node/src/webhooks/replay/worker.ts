/**
 * Replays a range of the chain: derives the events from the stored blocks and puts matching ones into the replay lane.
 * Works in small steps, and only while few deliveries are pending, so that it delays no live event, webhook or request.
 */
import type { History } from "../../event-log/history.ts";
import { isRemembered } from "../../event-log/history.ts";
import type { Event } from "../../events/event.ts";
import { subscribedNames } from "../../events/names.ts";
import { CostError, type Verdict } from "../../subscriptions/conditions/cost.ts";
import type { MatchingObserver } from "../../subscriptions/conditions/observer.ts";
import type { BackgroundTask } from "../delivery/dispatch.ts";
import type { ReplayRows } from "../delivery-queue.ts";
import type { Intake } from "../intake.ts";
import type { Definition, Definitions } from "../matching/definitions.ts";
import type { MatchedEvent, Outbox } from "../matching/outbox.ts";
import type { Replay } from "../model/replay.ts";

export type ReplayWorkerDeps = {
  replays: Pick<ReplayRows, "next" | "finish">;
  intake: Pick<Intake, "transaction" | "readTogether" | "events" | "replayed">;
  history: History;
  definitions: Definitions;
  outbox: Outbox;
  suspend: Intake["suspend"];
  observer: MatchingObserver;
  nowMs: () => number;
};

/** Maximum number of pending deliveries; more are created when half of them are finished. */
const MAX_WAITING = 200;
/** Maximum time for which a step reads, because it blocks this thread. */
const MAX_STEP_MS = 5;
const MAX_STEP_BLOCKS = 100;

/** Result of a step: the matched events, and where the next step continues. */
type Found = {
  readonly matched: MatchedEvent[];
  readonly nextHeight: number;
  readonly nextIndex: number;
  /** Reason to suspend the webhook, if any. */
  readonly tooExpensive?: string;
};

/** Creates the background task; each step works on one replay. */
export function createReplayWorker(deps: ReplayWorkerDeps): BackgroundTask {
  const { replays, intake, history, definitions, outbox, suspend, observer, nowMs } = deps;
  /** Webhook of the last step. */
  let last = 0;

  return async () => {
    const replay = await replays.next(last, MAX_WAITING / 2);
    if (!replay || intake.events.hasRetraction()) return { more: false };
    last = replay.webhook;
    const definition = definitions.find(replay.webhook);
    if (isRead(replay) || !definition) {
      // All deliveries of the replay are finished.
      await replays.finish(replay.webhook, nowMs());
      return { more: true };
    }
    const found = intake.readTogether(() => readEvents(replay, definition));
    if (found.tooExpensive !== undefined) {
      const { tooExpensive } = found;
      await intake.transaction(() => suspend(replay.webhook, tooExpensive, nowMs()));
      observer.suspended("replay");
      return { webhook: replay.webhook, more: true };
    }
    const count = await intake.transaction(
      // Retractions precede replays: no event of a replacing block is delivered before them.
      () => (intake.events.hasRetraction() ? 0 : enqueue(replay, found)),
      // A range without events may be read again after a power loss.
      found.matched.length > 0 ? "power loss" : "process death",
    );
    return { more: true, ...(count > 0 && { webhook: replay.webhook }) };
  };

  function readEvents({ webhook, toHeight, ...replay }: Replay, definition: Definition): Found {
    const endMs = performance.now() + MAX_STEP_MS;
    // The chain may have become shorter; the blocks that replace others are delivered as live events.
    const last = Math.min(toHeight, history.head() - definition.confirmations);
    const endHeight = Math.min(last, replay.nextHeight + MAX_STEP_BLOCKS - 1);
    const names = subscribedNames(
      definition.event === null ? definition.events : [definition.event, ...definition.events],
    );
    const matched: MatchedEvent[] = [];
    let evaluated = 0;
    let { nextHeight, nextIndex } = replay;
    while (nextHeight <= endHeight && performance.now() < endMs) {
      const events = history.eventsAt(nextHeight);
      for (; nextIndex < events.length; nextIndex++) {
        // Evaluates at least one event, even if reading the block took all the time.
        const isTimeUp = evaluated > 0 && performance.now() >= endMs;
        if (isTimeUp || matched.length === MAX_WAITING / 2) return { matched, nextHeight, nextIndex };
        const event = events[nextIndex]!;
        const name = names.get(event.name);
        if (name === undefined || !isRemembered(event.name)) continue;
        evaluated++;
        const verdict = judge(definition, event);
        if (verdict instanceof CostError) {
          return { matched, nextHeight, nextIndex, tooExpensive: verdict.message };
        }
        if (!verdict) continue;
        const content = outbox.share(name, () =>
          event.data === undefined ? undefined : JSON.stringify(event.data),
        );
        matched.push({ webhook, name, event, content, logSequence: Number.MAX_SAFE_INTEGER });
      }
      nextHeight++;
      nextIndex = 0;
    }
    return { matched, nextHeight: nextHeight > last ? toHeight + 1 : nextHeight, nextIndex };
  }

  function judge({ metered }: Definition, event: Event): Verdict {
    const startMs = performance.now();
    const verdict = metered.judge(event.data);
    observer.spent("replay", performance.now() - startMs);
    return verdict;
  }

  /** Puts events into the queue and returns their number. */
  function enqueue(
    { webhook, lastDelivery, events }: Replay,
    { matched, nextHeight, nextIndex }: Found,
  ): number {
    let count = 0;
    for (const item of matched) {
      const position = events + count + 1;
      const id = outbox.idOf(item.event, webhook, item.logSequence);
      // Deliveries from before the replay are sent again; those made since it began are not.
      if (
        outbox.put(item, position) ||
        intake.replayed.putAgain(webhook, { id, position, upTo: lastDelivery })
      )
        count++;
    }
    intake.replayed.advance(webhook, { nextHeight, nextIndex, events: events + count });
    return count;
  }
}

const isRead = ({ nextHeight, toHeight }: Replay): boolean => nextHeight > toHeight;
