/** Finds the position at which a stream starts, and sends its client every event from there on, as fast as it reads. */
import { setImmediate } from "node:timers/promises";
import type { Notifier } from "../platform/notifier.ts";
import { CostError } from "../subscriptions/conditions/cost.ts";
import type { MatchingObserver, Slices } from "../subscriptions/conditions/slices.ts";
import type { Sink } from "./sink.ts";
import {
  type BlockRef,
  type Position,
  type Source,
  type SourceEvent,
  slowedComment,
  suspendedFrame,
} from "./source.ts";
import { StreamError, type Subscription } from "./subscription.ts";

/** Source of the next event. */
export type Start =
  /** The log, after a sequence; the client knows every event before the block. */
  | { readonly from: "log"; readonly after: number; readonly block?: BlockRef }
  /**
   * The stored blocks, from a height on, and then the log after a sequence. `lastBlock` is the last block whose events
   * were sent, if any; `skip` events of the next one were sent already.
   */
  | {
      readonly from: "chain";
      readonly height: number;
      readonly lastBlock?: BlockRef;
      readonly skip?: number;
      readonly after: number;
    };

export type StreamRequest = {
  readonly subscription: Subscription;
  /** Position of the client when it disconnected. */
  readonly position?: Position;
  /** First block whose events a new client requests. */
  readonly fromHeight?: number;
};

/**
 * @param since sequence after which the log has every subscribed event
 * @throws {StreamError} STREAM_GONE, STREAM_INVALID
 */
export async function findStart(
  { subscription, position, fromHeight }: StreamRequest,
  since: number,
  source: Source,
): Promise<Start> {
  const { sequence: after, block } = await source.end();
  if (position) return resume(position, subscription, Math.max(since, await source.begin()), after, source);
  if (fromHeight === undefined) return { from: "log", after, ...(block && { block }) };
  if (!subscription.isRemembered) {
    throw new StreamError(
      "STREAM_INVALID",
      '"fromHeight" requires events that can be derived from stored blocks; "events" selects others as well',
    );
  }
  return { from: "chain", height: fromHeight, after };
}

async function resume(
  { sequence, logId, block }: Position,
  { isRemembered }: Subscription,
  since: number,
  after: number,
  source: Source,
): Promise<Start> {
  // A position that names no log may be of another node: its block is safe, and only repeats events.
  const isOfThisLog = logId === source.logId || (logId === undefined && !(block && isRemembered));
  if (isOfThisLog && sequence !== undefined && sequence >= since && sequence <= after) {
    return { from: "log", after: sequence, ...(block && { block }) };
  }
  // Start at the block itself: some of its events may not have been sent yet.
  if (block && isRemembered && (await source.hasBlock(block))) {
    return { from: "chain", height: block.height, lastBlock: block, after };
  }
  throw new StreamError(
    "STREAM_GONE",
    block && isRemembered
      ? `block ${block.blockId} was reverted; reload your state and reconnect without Last-Event-ID`
      : "the events since then are no longer available; reload your state and reconnect without Last-Event-ID",
  );
}

type FollowDeps = {
  readonly source: Source;
  readonly subscription: Subscription;
  readonly sink: Sink;
  readonly notifier: Notifier;
  readonly slices: Slices;
  readonly observer: Pick<MatchingObserver, "slowed">;
  /** Called with the position of the client; undefined while there are more events for it. */
  readonly onPosition: (position: Position | undefined) => void;
  /** Called when the client has not yet read what was written. */
  readonly onFull: () => void;
  /** Called when the conditions cost too much; the stream ends. */
  readonly onTooExpensive: () => void;
};

/** Time for which events are buffered for a client that does not read; afterwards they are read again when it does. */
const BUFFER_TIMEOUT_MS = 1_000;

/** Resolves when the client has disconnected, the log has dropped events that it did not get, or its conditions cost too much. */
export const follow = (start: Start, deps: FollowDeps): Promise<void> => new Follower(deps).follow(start);

/** Name of each event for this client, undefined if it is not subscribed; and the error that ended the matching. */
type Matched = { readonly names: readonly (string | undefined)[]; readonly tooExpensive?: CostError };

class Follower {
  readonly #deps: FollowDeps;
  /** True once the client was notified that its conditions slow it down. */
  #isSlowed = false;

  constructor(deps: FollowDeps) {
    this.#deps = deps;
  }

  async follow(start: Start): Promise<void> {
    const { source, sink, notifier, onPosition } = this.#deps;
    let at = start;
    while (sink.isOpen()) {
      // Must precede the reads: an event that is logged meanwhile notifies again.
      const notified = notifier.next();
      if (at.from === "chain") {
        at = await this.#sendBlock(at);
        // Nothing is kept in memory while the client reads slowly.
        await (sink.isFull() ? sink.ready() : setImmediate());
        continue;
      }
      const page = await source.log(at.after);
      if (!page) return sink.end();
      // A heartbeat during the page must not repeat the position before it.
      if (page.events.length > 0) onPosition(undefined);
      const sent = await this.#send(page.events);
      const isWhole = sent === page.events.length;
      at = {
        from: "log",
        after: isWhole ? page.sequence : (page.events[sent - 1]?.event.sequence ?? at.after),
      };
      const { sequence, block, isEnd } = page;
      const isAtEnd = isWhole && isEnd;
      onPosition(isAtEnd ? { sequence, logId: source.logId, ...(block && { block }) } : undefined);
      if (sink.isFull()) await sink.ready();
      else await (isAtEnd ? notified : setImmediate());
    }
  }

  async #sendBlock({
    height,
    lastBlock,
    skip = 0,
    after,
  }: Extract<Start, { from: "chain" }>): Promise<Start> {
    const { source } = this.#deps;
    // It is read first, so that the log has every later change.
    const end = await source.end();
    const page = await source.chain(height);
    // If the last block was reverted before this page was read, the log has its revert and the block that replaced it.
    if (lastBlock && !(await source.hasBlock(lastBlock))) return { from: "log", after };
    if (!page) return { from: "log", after: end.sequence };
    const sent = skip + (await this.#send(page.events.slice(skip)));
    return sent === page.events.length
      ? { from: "chain", height: height + 1, lastBlock: page.block, after }
      : { from: "chain", height, lastBlock: page.block, skip: sent, after };
  }

  /** Resolves to the number of handled events, less than all if the client stops reading or disconnects. */
  async #send(events: readonly SourceEvent[]): Promise<number> {
    const { sink, onFull, onTooExpensive } = this.#deps;
    let next = 0;
    while (next < events.length) {
      const { names, tooExpensive } = await this.#match(events, next);
      for (const [index, { frame }] of events.slice(next, next + names.length).entries()) {
        if (!sink.isOpen()) return next;
        next++;
        const name = names[index];
        if (name === undefined) continue;
        sink.write(frame(name));
        if (!sink.isFull()) continue;
        onFull();
        if (!(await sink.readyWithin(BUFFER_TIMEOUT_MS))) return next;
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

  /** Matches events from an index on, as many as there is time for. */
  async #match(events: readonly SourceEvent[], from: number): Promise<Matched> {
    const { subscription, sink, slices, observer } = this.#deps;
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
    if (subscription.isSlow() && !this.#isSlowed) {
      this.#isSlowed = true;
      observer.slowed("stream");
      sink.write(slowedComment);
    }
    return matched;
  }
}
