/**
 * The feed for mirrors (docs/spec/feed.md): every block after a position, and the data that a mirror needs before it
 * can follow. The next part is read from the database only after the mirror has read the previous one: a slow mirror
 * costs the node a connection and its buffer.
 */
import { setImmediate as nextTick } from "node:timers/promises";
import type { FactReader } from "../facts/reader.ts";
import { CodedError } from "../platform/coded-error.ts";
import { isWithin, Notifier } from "../platform/notifier.ts";
import type { CopiedEvents } from "../store/events/subscribed-events.ts";
import { type EventOptions, type EventPosition, type EventReader, eventsAfter } from "./event-reader.ts";
import { backLine, checkpointLine, createLogLines, endLine, HEARTBEAT, type Position } from "./line.ts";
import type { FeedReader } from "./reader.ts";
import { type StateRows, stateText } from "./state-rows.ts";

type FeedErrorCode =
  /** The node serves its maximum of responses; retry later. */
  | "FEED_FULL"
  /**
   * The changes after the mirror's blocks are not stored: the mirror must be built again. Or the events after its last one are
   * not in the log: it must continue with the oldest event.
   */
  | "FEED_GONE";

export class FeedError extends CodedError<FeedErrorCode> {
  constructor(code: FeedErrorCode, message: string) {
    super(code, message, { isRetryable: code === "FEED_FULL" });
  }
}

type FeedOptions = EventOptions & {
  /** Maximum number of open responses. */
  readonly maxOpen: number;
  /** Time limit for the rows of the state: their snapshot keeps SQLite from truncating its log. */
  readonly maxStateMs: number;
};

export const DEFAULT_FEED_OPTIONS: FeedOptions = {
  maxOpen: 8,
  heartbeatMs: 5_000,
  maxStateMs: 600_000,
  maxEventsMs: 60_000,
};

export type FeedDeps = {
  readonly reader: FeedReader;
  readonly openState: () => StateRows;
  readonly facts: Pick<FactReader, "checkpoint">;
  readonly events: EventReader;
  readonly copiedEvents: CopiedEvents;
  /** Returns the id of the last hand-over of the node's webhooks; undefined before the first. */
  readonly transfer: () => string | undefined;
};

/** A response that is being sent. */
export type FeedResponse = {
  readonly text: AsyncIterable<string>;
  /** Must be called after the text was read or abandoned. */
  release(): void;
};

export type FollowResponse = FeedResponse & {
  /** Returns the height of the last block that was sent to the client. */
  height(): number;
};

export type FeedFigures = {
  /** Open responses. */
  readonly open: number;
  /** Characters sent since the start, before compression. */
  readonly sentCharacters: number;
  /** Events sent since the start. */
  readonly sentEvents: number;
  /** Events that the log keeps for a mirror that has not copied them yet. */
  readonly uncopiedEvents: number;
};

export class Feed {
  readonly #options: FeedOptions;
  readonly #deps: FeedDeps;
  readonly #notifier = new Notifier();
  #open = 0;
  #sentCharacters = 0;
  #sentEvents = 0;
  #isClosed = false;

  constructor(options: FeedOptions, deps: FeedDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  /**
   * Returns every block after the first of the positions that is on the chain, now and later. Ends after a revert, so
   * that the mirror requests the feed again. At the head, the newest event of the log and a checkpoint of the fact tree
   * follow the blocks.
   *
   * @param positions blocks of the mirror, newest first
   * @throws {FeedError} FEED_GONE, FEED_FULL
   */
  follow(positions: readonly Position[]): FollowResponse {
    const sent = { position: this.#startOf(positions) };
    const response = this.#begin(this.#followText(sent, positions));
    return { ...response, height: () => sent.position.height };
  }

  /**
   * Returns the blocks after a height up to another, without their changes.
   *
   * @throws {FeedError} FEED_FULL
   */
  blocks(after: number, last: number): FeedResponse {
    return this.#begin(this.#blocksBetween(after, last));
  }

  /**
   * Returns all records of the state after the last block.
   *
   * @throws {FeedError} FEED_FULL
   */
  state(): FeedResponse {
    return this.#begin(stateText(this.#deps.openState, this.#options.maxStateMs));
  }

  /**
   * Returns the events after a position of the log, as they are logged. Ends after some time, so that the mirror requests
   * them again. A mirror requests the events after a sequence when it has stored all events up to it: the log keeps later
   * ones for the mirror whose database has the webhooks of this node.
   *
   * @throws {FeedError} FEED_GONE, FEED_FULL
   */
  events(position: EventPosition): FeedResponse {
    return this.#begin(this.#eventsText(position));
  }

  /**
   * Gives later events higher sequences than this one: a mirror that copied the log of another node, or of the same node
   * before its database was replaced, can continue.
   */
  continueEvents(after: number): void {
    this.#deps.copiedEvents.continueAfter(after);
  }

  /** Must be called after every commit. */
  notify(): void {
    this.#notifier.notify();
  }

  figures(): FeedFigures {
    return {
      open: this.#open,
      sentCharacters: this.#sentCharacters,
      sentEvents: this.#sentEvents,
      uncopiedEvents: this.#deps.copiedEvents.uncopied(),
    };
  }

  /** Ends every response. */
  close(): void {
    this.#isClosed = true;
    this.#notifier.notify();
  }

  /** Counts the response until it is released. */
  #begin(text: AsyncIterable<string>): FeedResponse {
    const { maxOpen } = this.#options;
    if (this.#open >= maxOpen) {
      throw new FeedError("FEED_FULL", `${maxOpen} responses of the feed are open; stop a mirror, or retry`);
    }
    this.#open++;
    let isOpen = true;
    return {
      text: this.#measured(text),
      release: () => {
        if (isOpen) this.#open--;
        isOpen = false;
      },
    };
  }

  async *#measured(text: AsyncIterable<string>): AsyncIterable<string> {
    for await (const part of text) {
      this.#sentCharacters += part.length;
      yield part;
      // Lets other requests run between two parts.
      await nextTick();
      if (this.#isClosed) return;
    }
  }

  /** Returns the position after which the mirror gets blocks. */
  #startOf(positions: readonly Position[]): Position {
    const { reader } = this.#deps;
    const start = reader.commonOf(positions);
    if (start && reader.read(start).kind !== "gone") return start;
    throw new FeedError(
      "FEED_GONE",
      start
        ? `the changes of the blocks after ${start.height} are no longer stored: the mirror must be built again`
        : "none of these blocks is on the chain: the mirror must be built again",
    );
  }

  /** @param sent the last block that was sent to the client; initially the block at which the mirror continues */
  async *#followText(sent: { position: Position }, [newest]: readonly Position[]): AsyncIterable<string> {
    const { reader, facts } = this.#deps;
    if (sent.position.id !== newest?.id) yield backLine(sent.position);
    const logLines = createLogLines();
    let comparedId: string | undefined;
    while (!this.#isClosed) {
      // Must precede the read, so that a block committed during the read notifies again.
      const notified = this.#notifier.next();
      const batch = reader.read(sent.position);
      if (batch.kind === "reverted" || batch.kind === "gone") return;
      if (batch.kind === "blocks") {
        sent.position = batch.last;
        yield batch.lines + logLines(batch.last, batch.logSequence);
        continue;
      }
      const logLine = logLines(sent.position, batch.logSequence);
      if (logLine !== "") yield logLine;
      const checkpoint = await facts.checkpoint();
      const { block } = checkpoint;
      if (block && block.id !== comparedId) {
        yield checkpointLine(block, checkpoint);
        comparedId = block.id;
      }
      if (!(await isWithin(notified, this.#options.heartbeatMs))) {
        yield HEARTBEAT;
      }
    }
  }

  /** @throws {FeedError} FEED_GONE */
  #eventsText(position: EventPosition): AsyncIterable<string> {
    const { events: reader, copiedEvents, transfer } = this.#deps;
    const notifier = this.#notifier;
    const options = this.#options;
    const start = reader.start(position);
    if (start.kind === "gone") {
      throw new FeedError("FEED_GONE", `${start.reason}: continue with the oldest event of the log`);
    }
    // Mirrors of other databases do not copy for the workers that own the webhooks.
    if (typeof position === "object" && position.transfer === transfer())
      copiedEvents.copiedUpTo(position.sequence);
    return eventsAfter(start, options, {
      reader,
      notifier,
      isClosed: () => this.#isClosed,
      onSent: (count) => {
        this.#sentEvents += count;
      },
    });
  }

  async *#blocksBetween(after: number, last: number): AsyncIterable<string> {
    const { reader } = this.#deps;
    let height = after;
    for (;;) {
      const batch = reader.readBlocks(height, last);
      if (!batch) break;
      yield batch.lines;
      height = batch.last.height;
    }
    yield endLine(height - after);
  }
}
