/** Sends one reader everything from its start on, as fast as it takes it. */
import { setImmediate } from "node:timers/promises";
import { CostError } from "../subscriptions/conditions/cost.ts";
import type { MatchingObserver } from "../subscriptions/conditions/observer.ts";
import type { Slices } from "../subscriptions/conditions/slices.ts";
import type { Bell } from "./bell.ts";
import { slowedComment, suspendedFrame } from "./frame.ts";
import type { Position } from "./position.ts";
import type { Sink } from "./sink.ts";
import type { Source, Told } from "./source.ts";
import type { Start } from "./start.ts";
import type { Subscription } from "./subscription.ts";

export type FollowDeps = {
  readonly source: Source;
  readonly subscription: Subscription;
  readonly sink: Sink;
  readonly bell: Bell;
  readonly slices: Slices;
  readonly observer: Pick<MatchingObserver, "slowed">;
  /** Called with how far the reader is: undefined while there is more for it. */
  readonly onPosition: (position: Position | undefined) => void;
  /** The reader has not taken yet what was written. */
  readonly onFull: () => void;
  /** The conditions cost too much; the stream ends. */
  readonly onTooExpensive: () => void;
};

/** For so long what was read is held for a reader that does not take it; then it is read again when the reader goes on. */
const HOLD_MS = 1_000;

/** How the reader calls some events, or undefined where it is not subscribed; and why there are no more, if so. */
type Matched = { readonly names: readonly (string | undefined)[]; readonly tooExpensive?: CostError };

/** Settles when the reader is gone, the log has dropped what it did not get yet, or its conditions cost too much. */
export async function follow(start: Start, deps: FollowDeps): Promise<void> {
  const { source, subscription, sink, bell, slices, observer, onPosition, onFull, onTooExpensive } = deps;
  let at = start;
  let isSlowed = false;
  while (sink.isOpen()) {
    // Before anything is read: what is logged meanwhile rings again.
    const rung = bell.heard();
    if (at.from === "chain") {
      at = await sendBlock(at);
      // Nothing that was read is held while the reader takes its time.
      await (sink.isFull() ? sink.ready() : setImmediate());
      continue;
    }
    const page = source.log(at.after);
    if (!page) return sink.end();
    const sent = await send(page.events);
    const isWhole = sent === page.events.length;
    at = {
      from: "log",
      after: isWhole ? page.sequence : (page.events[sent - 1]?.event.sequence ?? at.after),
    };
    const { sequence, place, isEnd } = page;
    const isAtEnd = isWhole && isEnd;
    onPosition(isAtEnd ? { sequence, ...(place && { place }) } : undefined);
    if (sink.isFull()) await sink.ready();
    else await (isAtEnd ? rung : setImmediate());
  }

  async function sendBlock(from: Extract<Start, { from: "chain" }>): Promise<Start> {
    const { height, told, skip = 0, after } = from;
    // First of all: whatever changes from here on is in the log.
    const end = source.end();
    // The log says what became of a block that was undone since it was sent, and what came in its place.
    if (told && !source.hasBlock(told)) return { from: "log", after };
    const page = source.chain(height);
    if (!page) return { from: "log", after: end.sequence };
    const sent = skip + (await send(page.events.slice(skip)));
    return sent === page.events.length
      ? { from: "chain", height: height + 1, told: page.place, after }
      : { from: "chain", height, told: page.place, skip: sent, after };
  }

  /** Answers how many of the events are done: not all where the reader does not take them, or is gone. */
  async function send(events: readonly Told[]): Promise<number> {
    let next = 0;
    while (next < events.length) {
      const { names, tooExpensive } = await match(events, next);
      for (const name of names) {
        if (!sink.isOpen()) return next;
        const { frame } = events[next++]!;
        if (name === undefined) continue;
        sink.write(frame(name));
        if (!sink.isFull()) continue;
        onFull();
        if (!(await sink.readyWithin(HOLD_MS))) return next;
      }
      if (tooExpensive) {
        onTooExpensive();
        sink.write(suspendedFrame(tooExpensive));
        sink.end();
      }
      if (!sink.isOpen()) return next;
    }
    return next;
  }

  async function match(events: readonly Told[], from: number): Promise<Matched> {
    const work = (isTimeUp: () => boolean): Matched => {
      const names: (string | undefined)[] = [];
      for (const { event } of events.slice(from)) {
        if ((names.length > 0 && isTimeUp()) || !sink.isOpen()) break;
        const name = subscription.nameOf(event);
        if (name instanceof CostError) return { names, tooExpensive: name };
        names.push(name);
      }
      return { names };
    };
    if (!subscription.hasConditions) return work(() => false);
    const matched = await slices.run("stream", subscription.isSlow(), work);
    if (subscription.isSlow() && !isSlowed) {
      isSlowed = true;
      observer.slowed("stream");
      sink.write(slowedComment);
    }
    return matched;
  }
}
