/** The events of the log as a response of the feed (docs/spec/feed.md 6). */
import type { Notifier } from "../platform/notifier.ts";
import { isWithin } from "../platform/within.ts";
import type { EventReader } from "./event-reader.ts";
import { eventStartLine, HEARTBEAT } from "./line.ts";

export type EventOptions = {
  readonly heartbeatMs: number;
  /** Duration of a response. The next request says which events are copied, so that the log can drop them. */
  readonly maxEventsMs: number;
};

export type EventDeps = {
  readonly reader: Pick<EventReader, "read">;
  readonly notifier: Pick<Notifier, "next">;
  readonly isClosed: () => boolean;
  /** Called with the number of events of a line. */
  readonly onSent: (events: number) => void;
};

/** @param start sequence of an event: all later events are in the log */
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
