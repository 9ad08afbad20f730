/** Reads the events of the log as they are stored, for mirrors, and sends them as a response of the feed (docs/spec/feed.md 6). */
import { isWithin, type Notifier } from "../platform/notifier.ts";
import {
  createReadTogether,
  type Database,
  type ReadTogether,
  type SqlValue,
  type Statement,
} from "../store/engine/database.ts";
import { createLastSequence } from "../store/events/event-log.ts";
import { eventStartLine, eventsLine, HEARTBEAT } from "./line.ts";

/** An event, or an end of the log. */
export type EventPosition =
  | {
      readonly sequence: number;
      /** Id of the event, if the mirror knows it: the log of another node has other events. */
      readonly id?: string;
      /** Id of the last hand-over of webhooks in the database of the mirror, if there was one. */
      readonly transfer?: string;
    }
  | "oldest"
  | "newest";

type EventStart =
  /** The log has every event after `sequence`; `last` is its newest event. */
  | { readonly kind: "start"; readonly sequence: number; readonly last: number }
  | { readonly kind: "gone"; readonly reason: string };

type EventBatch =
  /** A line with the next events, their number, and the sequence of the last one. */
  | { readonly kind: "events"; readonly line: string; readonly count: number; readonly last: number }
  /** No event follows. */
  | { readonly kind: "end" }
  /** The next event was dropped from the log. */
  | { readonly kind: "gone" };

/** Bounds of one line, so that a tick of the serving thread stays short. A single event may be longer. */
const MAX_EVENTS = 500;
const MAX_CHARACTERS = 512 * 1024;

type EventColumns = [sequence: number, ...SqlValue[]];

export class EventReader {
  readonly #together: ReadTogether;
  readonly #lastSequence: () => number;
  readonly #oldest: Statement<{ sequence: number }>;
  readonly #byNumber: Statement<{ id: string }>;
  readonly #select: Statement<EventColumns>;

  constructor(database: Database) {
    this.#together = createReadTogether(database);
    this.#lastSequence = createLastSequence(database);
    this.#oldest = database.prepare("SELECT sequence FROM events ORDER BY sequence LIMIT 1");
    this.#byNumber = database.prepare("SELECT id FROM events WHERE sequence = ?");
    this.#select = database.prepare(
      `SELECT sequence, id, name, height, block_id, created_ms, time_ms, reverts, data FROM events
       WHERE sequence > +? ORDER BY sequence LIMIT ${MAX_EVENTS}`,
      { arrays: true },
    );
  }

  start(position: EventPosition): EventStart {
    return this.#together(() => this.#start(position));
  }

  /** Returns the next events after a sequence. */
  read(after: number): EventBatch {
    return this.#together((): EventBatch => {
      const first = this.#oldest.get()?.sequence ?? this.#lastSequence() + 1;
      if (after < first - 1) return { kind: "gone" };
      return nextEvents(this.#select.iterate(after)) ?? { kind: "end" };
    });
  }

  #start(position: EventPosition): EventStart {
    const last = this.#lastSequence();
    if (position === "newest") return { kind: "start", sequence: last, last };
    const first = this.#oldest.get()?.sequence ?? last + 1;
    if (position === "oldest") return { kind: "start", sequence: first - 1, last };
    const { sequence, id } = position;
    if (sequence > last) return gone(`the log ends at event ${last}, before ${sequence}`);
    if (sequence < first - 1) return gone(`the events after ${sequence} were dropped from the log`);
    const stored = this.#byNumber.get(sequence);
    if (id !== undefined && stored && stored.id !== id) {
      return gone(`event ${sequence} has another id: the mirror has copied the log of another node`);
    }
    return { kind: "start", sequence, last };
  }
}

const gone = (reason: string): EventStart => ({ kind: "gone", reason });

/** Returns a line with the next events. The log drops its oldest events alone: sequences that it skips have no events. */
function nextEvents(events: Iterable<EventColumns>): EventBatch | undefined {
  const rows: string[] = [];
  let characters = 0;
  let last = 0;
  for (const event of events) {
    const row = JSON.stringify(event);
    characters += row.length;
    if (rows.length > 0 && characters > MAX_CHARACTERS) break;
    rows.push(row);
    last = event[0];
  }
  return rows.length > 0 ? { kind: "events", line: eventsLine(rows), count: rows.length, last } : undefined;
}

export type EventOptions = {
  readonly heartbeatMs: number;
  /** Duration of a response. The next request says which events are copied, so that the log can drop them. */
  readonly maxEventsMs: number;
};

type EventDeps = {
  readonly reader: Pick<EventReader, "read">;
  readonly notifier: Pick<Notifier, "next">;
  readonly isClosed: () => boolean;
  /** Called with the number of events of a line. */
  readonly onSent: (events: number) => void;
};

/**
 * Yields the text of a response.
 *
 * @param start sequence of an event: all later events are in the log
 */
export async function* eventsAfter(
  start: { readonly sequence: number; readonly last: number },
  { heartbeatMs, maxEventsMs }: EventOptions,
  { reader, notifier, isClosed, onSent }: EventDeps,
): AsyncIterable<string> {
  const endMs = performance.now() + maxEventsMs;
  yield eventStartLine(start.sequence, start.last);
  let { sequence } = start;
  let sentMs = performance.now();
  while (!isClosed() && performance.now() < endMs) {
    // Must precede the read, so that an event logged during the read notifies again.
    const notified = notifier.next();
    const batch = reader.read(sequence);
    if (batch.kind === "gone") return;
    if (batch.kind === "events") {
      onSent(batch.count);
      sequence = batch.last;
      yield batch.line;
      sentMs = performance.now();
      // Commits without events notify, too.
    } else if (!(await isWithin(notified, sentMs + heartbeatMs - performance.now()))) {
      yield HEARTBEAT;
      sentMs = performance.now();
    }
  }
}
