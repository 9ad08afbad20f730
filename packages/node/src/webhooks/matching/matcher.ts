/**
 * From the event log to the queues. Deliveries are written and the cursor moves in one transaction: whenever the
 * process dies, each event is matched once, and no delivery is lost or comes twice with another id.
 */
import type { LoggedEvent } from "../../events/event.ts";
import type { Database } from "../../store/database.ts";
import type { EventLog } from "../../store/events.ts";
import type { ReversalStore } from "../../store/reversals.ts";
import type { Definitions } from "./definitions.ts";
import type { Outbox } from "./outbox.ts";

/** Name of the cursor in the event log. */
export const READER = "webhooks";

/** Work of one step: short enough that the chain does not wait for the writer. */
const EVENTS_AT_ONCE = 50;
const DELIVERIES_AT_ONCE = 1_000;

/** All parts use one connection, so that one transaction holds them together. */
export type MatcherDeps = {
  database: Database;
  eventLog: Pick<EventLog, "read" | "cursor" | "moveCursor">;
  definitions: Definitions;
  reversals: Pick<ReversalStore, "record">;
  outbox: Outbox;
};

export type Matched = {
  /** Webhooks that got deliveries. */
  readonly webhooks: ReadonlySet<number>;
  /** Whether further events wait. */
  readonly more: boolean;
};

/** A step handles the next events behind the cursor, if there are any. */
export function createMatcher(deps: MatcherDeps): () => Matched {
  const { database, eventLog, definitions, reversals, outbox } = deps;

  return () => {
    const events = eventLog.read(eventLog.cursor(READER) ?? 0, EVENTS_AT_ONCE);
    if (events.length === 0) return { webhooks: new Set(), more: false };
    return database.transaction(() => match(events));
  };

  function match(events: readonly LoggedEvent[]): Matched {
    const matched = new Set<number>();
    let written = 0;
    let handled = 0;
    for (const event of events) {
      if (written >= DELIVERIES_AT_ONCE) break;
      for (const webhook of tell(event)) {
        matched.add(webhook);
        written++;
      }
      if (event.name === "block.reverted") reversals.record(event.blockId!, event.sequence);
      eventLog.moveCursor(READER, event.sequence);
      handled++;
    }
    return { webhooks: matched, more: handled < events.length || events.length === EVENTS_AT_ONCE };
  }

  /** Answers the webhooks that hear of the event. */
  function tell(event: LoggedEvent): number[] {
    let dataText: string | undefined;
    return definitions.forEvent(event.name).flatMap(({ definition, name }) => {
      const { id: webhook, activeAfter, fires } = definition;
      if (event.sequence <= activeAfter || !fires(event.data)) return [];
      dataText ??= event.data === undefined ? undefined : JSON.stringify(event.data);
      return outbox.put({ webhook, name, event, dataText, logSequence: event.sequence }) ? [webhook] : [];
    });
  }
}
