/**
 * Tells a range of the chain again: events are made anew from the stored blocks, and those that the webhook wants go
 * into a queue of their own. Little at a time, and only while little waits: live events, other webhooks and requests do
 * not notice.
 */
import type { History } from "../../event-log/history.ts";
import { isRemembered } from "../../event-log/history.ts";
import type { Event } from "../../events/event.ts";
import { subscribedNames } from "../../events/names.ts";
import type { Database } from "../../store/engine/database.ts";
import type { ReadTogether } from "../../store/engine/snapshot.ts";
import type { EventLog } from "../../store/events/event-log.ts";
import type { ReplayQueue } from "../../store/webhooks/replay-queue.ts";
import type { Replay, ReplayStore } from "../../store/webhooks/replays.ts";
import { CostError, type Verdict } from "../../subscriptions/conditions/cost.ts";
import type { MatchingObserver } from "../../subscriptions/conditions/observer.ts";
import type { Chore } from "../delivery/dispatch.ts";
import type { Definition, Definitions } from "../matching/definitions.ts";
import { READER } from "../matching/matcher.ts";
import type { News, Outbox } from "../matching/outbox.ts";
import type { Suspend } from "../suspension.ts";

export type TellerDeps = {
  database: Database;
  replays: ReplayStore;
  queue: ReplayQueue;
  history: History;
  readTogether: ReadTogether;
  definitions: Definitions;
  outbox: Outbox;
  eventLog: Pick<EventLog, "cursor" | "hasRetractionAfter">;
  suspend: Suspend;
  observer: MatchingObserver;
  nowMs: () => number;
};

/** So many deliveries wait at most; more are made when half of them are gone. */
const MAX_WAITING = 200;
/** What a step reads at most: this thread does nothing else meanwhile. */
const MAX_STEP_MS = 5;
const MAX_STEP_BLOCKS = 100;

/** What a step found: the events to tell, and where the next one goes on. */
type Found = {
  readonly news: News[];
  readonly nextHeight: number;
  readonly nextIndex: number;
  /** Why the webhook is to be suspended, if it is. */
  readonly tooExpensive?: string;
};

/** Each step works on one replay. */
export function createTeller(deps: TellerDeps): Chore {
  const {
    database,
    replays,
    queue,
    history,
    readTogether,
    definitions,
    outbox,
    eventLog,
    suspend,
    observer,
    nowMs,
  } = deps;
  /** The webhook that had its turn last. */
  let last = 0;

  return () => {
    const replay = replays.next(last, MAX_WAITING / 2);
    if (!replay || isReversing()) return { more: false };
    last = replay.webhook;
    const definition = definitions.find(replay.webhook);
    if (isRead(replay) || !definition) {
      // All of it was told, and has arrived or was given up.
      replays.end(replay.webhook, "finished", nowMs());
      return { more: true };
    }
    const found = readTogether(() => look(replay, definition));
    if (found.tooExpensive !== undefined) {
      const { tooExpensive } = found;
      database.transaction(() => suspend(replay.webhook, tooExpensive, nowMs()));
      observer.suspended("replay");
      return { webhook: replay.webhook, more: true };
    }
    const told = database.transaction(
      () => (isReversing() ? 0 : tell(replay, found)),
      // A range without events may be read again after a loss of power.
      found.news.length > 0 ? "power loss" : "process death",
    );
    return { more: true, ...(told > 0 && { webhook: replay.webhook }) };
  };

  /** What has to be taken back goes first: nothing is told of blocks that come in place of others until that is done. */
  function isReversing(): boolean {
    return eventLog.hasRetractionAfter(eventLog.cursor(READER) ?? 0);
  }

  function look({ webhook, toHeight, ...replay }: Replay, definition: Definition): Found {
    const endMs = performance.now() + MAX_STEP_MS;
    // The chain may have become shorter; what comes in place of its blocks is told as it comes.
    const last = Math.min(toHeight, history.head() - definition.confirmations);
    const endHeight = Math.min(last, replay.nextHeight + MAX_STEP_BLOCKS - 1);
    const names = subscribedNames(
      definition.event === null ? definition.events : [definition.event, ...definition.events],
    );
    const news: News[] = [];
    let evaluated = 0;
    let { nextHeight, nextIndex } = replay;
    while (nextHeight <= endHeight && performance.now() < endMs) {
      const events = history.eventsAt(nextHeight);
      for (; nextIndex < events.length; nextIndex++) {
        // At least one is evaluated, even if reading the block has taken all the time.
        const isTimeUp = evaluated > 0 && performance.now() >= endMs;
        if (isTimeUp || news.length === MAX_WAITING / 2) return { news, nextHeight, nextIndex };
        const event = events[nextIndex]!;
        const name = names.get(event.name);
        if (name === undefined || !isRemembered(event.name)) continue;
        evaluated++;
        const verdict = judge(definition, event);
        if (verdict instanceof CostError) {
          return { news, nextHeight, nextIndex, tooExpensive: verdict.message };
        }
        if (!verdict) continue;
        const content = outbox.share(name, () =>
          event.data === undefined ? undefined : JSON.stringify(event.data),
        );
        news.push({ webhook, name, event, content, logSequence: Number.MAX_SAFE_INTEGER });
      }
      nextHeight++;
      nextIndex = 0;
    }
    return { news, nextHeight: nextHeight > last ? toHeight + 1 : nextHeight, nextIndex };
  }

  function judge({ metered }: Definition, event: Event): Verdict {
    const startMs = performance.now();
    const verdict = metered.judge(event.data);
    observer.spent("replay", performance.now() - startMs);
    return verdict;
  }

  /** Answers how many events were put into the queue. */
  function tell({ webhook, toldBefore, events }: Replay, { news, nextHeight, nextIndex }: Found): number {
    let told = 0;
    for (const item of news) {
      const place = events + told + 1;
      const id = outbox.idOf(item.event, webhook, item.logSequence);
      // What the webhook has since before is sent again; what it was told since the replay began is not.
      if (outbox.put(item, place) || queue.putAgain(webhook, { id, place, upTo: toldBefore })) told++;
    }
    replays.advance(webhook, { nextHeight, nextIndex, events: events + told });
    return told;
  }
}

const isRead = ({ nextHeight, toHeight }: Replay): boolean => nextHeight > toHeight;
