/**
 * Replays a range of the chain: derives the events from the stored blocks and puts matching ones into the replay lane.
 * Works in small steps, and only while few deliveries are pending, so that it delays no live event, webhook or request.
 */
import { isRemembered } from "../../event-log/history.ts";
import type { Event } from "../../events/event.ts";
import { subscribedNames } from "../../events/names.ts";
import { CostError, type Verdict } from "../../subscriptions/conditions/cost.ts";
import type { MatchingObserver } from "../../subscriptions/conditions/slices.ts";
import type { BackgroundTask } from "../delivery/dispatch.ts";
import type { ReplayRows } from "../delivery-queue.ts";
import type { Intake } from "../intake.ts";
import type { Definition, Definitions } from "../matching/definitions.ts";
import type { MatchedEvent, Outbox } from "../matching/outbox.ts";
import type { Replay } from "../model/replay.ts";

export type ReplayWorkerDeps = {
  replays: Pick<ReplayRows, "next" | "finish">;
  intake: Pick<Intake, "transaction" | "readTogether" | "events" | "pastEvents" | "replayed">;
  definitions: Definitions;
  outbox: Outbox;
  suspend: Intake["suspend"];
  observer: MatchingObserver;
  nowMs: () => number;
};

/** Maximum number of pending deliveries; when half are finished, more are created. */
const MAX_WAITING = 200;
/** Maximum time for which a step reads, because it blocks this thread. */
const MAX_STEP_MS = 5;
const MAX_STEP_BLOCKS = 100;

/** Creates the background task; each step works on one replay. */
export function createReplayWorker(deps: ReplayWorkerDeps): BackgroundTask {
  const { replays, intake, definitions, nowMs } = deps;
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
    return replaySome(deps, replay, definition);
  };
}

const isRead = ({ nextHeight, toHeight }: Replay): boolean => nextHeight > toHeight;

/** Reads some events of the replay and puts the matching events into the queue. */
async function replaySome(
  deps: ReplayWorkerDeps,
  replay: Replay,
  definition: Definition,
): ReturnType<BackgroundTask> {
  const { intake, suspend, observer, nowMs } = deps;
  const { webhook } = replay;
  const found = intake.readTogether(() => readEvents(deps, replay, definition));
  const { matched, tooExpensive } = found;
  if (tooExpensive !== undefined) {
    await intake.transaction(() => suspend(webhook, tooExpensive, nowMs()));
    observer.suspended("replay");
    return { webhook, more: true };
  }
  const count = await intake.transaction(
    // Retractions precede replays: no event of a replacing block is delivered before them.
    () => (intake.events.hasRetraction() ? 0 : enqueue(deps, replay, found)),
    // A range without events may be read again after a power loss.
    matched.length > 0 ? "power loss" : "process death",
  );
  return { more: true, ...(count > 0 && { webhook }) };
}

/** Result of reading: the matched events, and where the next step continues. */
type Found = {
  readonly matched: MatchedEvent[];
  readonly nextHeight: number;
  readonly nextIndex: number;
  /** Reason to suspend the webhook, if any. */
  readonly tooExpensive?: string;
};

/** Bounds and progress of one step. */
type Step = {
  readonly definition: Definition;
  /** Names of the selected events, and the name of each in the subscription. */
  readonly names: ReturnType<typeof subscribedNames>;
  readonly endMs: number;
  readonly matched: MatchedEvent[];
  evaluated: number;
};

function readEvents(deps: ReplayWorkerDeps, replay: Replay, definition: Definition): Found {
  const { pastEvents } = deps.intake;
  const { event, events, confirmations } = definition;
  const step: Step = {
    definition,
    names: subscribedNames(event === null ? events : [event, ...events]),
    endMs: performance.now() + MAX_STEP_MS,
    matched: [],
    evaluated: 0,
  };
  // The chain may have become shorter; the blocks that replace others are delivered as live events.
  const last = Math.min(replay.toHeight, pastEvents.head() - confirmations);
  const endHeight = Math.min(last, replay.nextHeight + MAX_STEP_BLOCKS - 1);
  const { matched } = step;
  let { nextHeight, nextIndex } = replay;
  while (nextHeight <= endHeight && performance.now() < step.endMs) {
    const stopped = matchBlock(deps, step, pastEvents.eventsAt(nextHeight), nextIndex);
    if (stopped) return { matched, nextHeight, ...stopped };
    nextHeight++;
    nextIndex = 0;
  }
  return { matched, nextHeight: nextHeight > last ? replay.toHeight + 1 : nextHeight, nextIndex };
}

/** Matches the events of a block from an index; returns where the step ended, or undefined at the end of the block. */
function matchBlock(
  deps: ReplayWorkerDeps,
  step: Step,
  events: readonly Event[],
  fromIndex: number,
): Pick<Found, "nextIndex" | "tooExpensive"> | undefined {
  const { definition, names, matched } = step;
  for (const [index, event] of events.slice(fromIndex).entries()) {
    const nextIndex = fromIndex + index;
    // Evaluates at least one event, even if reading the block used up the time.
    const isTimeUp = step.evaluated > 0 && performance.now() >= step.endMs;
    if (isTimeUp || matched.length === MAX_WAITING / 2) return { nextIndex };
    const name = names.get(event.name);
    if (name === undefined || !isRemembered(event.name)) continue;
    step.evaluated++;
    const verdict = judge(deps.observer, definition, event);
    if (verdict instanceof CostError) return { nextIndex, tooExpensive: verdict.message };
    if (!verdict) continue;
    const content = deps.outbox.share(name, () =>
      event.data === undefined ? undefined : JSON.stringify(event.data),
    );
    const { id: webhook } = definition;
    matched.push({ webhook, name, event, content, logSequence: Number.MAX_SAFE_INTEGER });
  }
  return undefined;
}

function judge(observer: MatchingObserver, { metered }: Definition, event: Event): Verdict {
  const startMs = performance.now();
  const verdict = metered.judge(event.data);
  observer.spent("replay", performance.now() - startMs);
  return verdict;
}

/** Puts events into the queue and returns their number. */
function enqueue(
  { intake, outbox }: ReplayWorkerDeps,
  { webhook, lastDelivery, events }: Replay,
  { matched, nextHeight, nextIndex }: Found,
): number {
  const { replayed } = intake;
  let count = 0;
  for (const item of matched) {
    const position = events + count + 1;
    const id = outbox.idOf(item.event, webhook, item.logSequence);
    // Deliveries from before the replay are sent again; those made since it began are not.
    const isQueued =
      outbox.put(item, position) || replayed.putAgain(webhook, { id, position, upTo: lastDelivery });
    if (isQueued) count++;
  }
  replayed.advance(webhook, { nextHeight, nextIndex, events: events + count });
  return count;
}
