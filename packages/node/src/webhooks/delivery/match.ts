/**
 * From the event log to the queues. Deliveries are written and the cursor moves in one transaction: whenever the
 * process dies, each event is matched once, and no delivery is lost or comes twice with another id.
 */
import type { Logger } from "pino";
import { loggedName } from "../../events/catalogue.ts";
import type { LoggedEvent } from "../../events/event.ts";
import type { Database } from "../../store/database.ts";
import type { DeliveryStore } from "../../store/deliveries.ts";
import type { EventLog } from "../../store/events.ts";
import type { ActiveWebhook, WebhookStore } from "../../store/webhooks.ts";
import { type Condition, compileConditions } from "../conditions/conditions.ts";
import { parseJson } from "../json.ts";
import { bodyOf, deliveryId } from "./message.ts";

/** Name of the cursor in the event log. */
export const READER = "webhooks";

/** Work of one step: short enough that the chain does not wait for the writer. */
const EVENTS_AT_ONCE = 50;
const DELIVERIES_AT_ONCE = 1_000;

/** All parts use one connection, so that one transaction holds them together. */
export type MatcherDeps = {
  database: Database;
  eventLog: Pick<EventLog, "read" | "cursor" | "moveCursor">;
  webhooks: Pick<WebhookStore, "active">;
  deliveries: Pick<DeliveryStore, "insert">;
  nowMs: () => number;
  logger: Logger;
};

export type Matched = {
  /** Webhooks that got deliveries. */
  readonly webhooks: ReadonlySet<number>;
  /** Whether further events wait. */
  readonly more: boolean;
};

type Compiled = ActiveWebhook & { readonly fires: (content: unknown) => boolean };

/** A step handles the next events behind the cursor, if there are any. */
export function createMatcher(deps: MatcherDeps): () => Matched {
  const { database, eventLog, webhooks, deliveries } = deps;
  let compiled = new Map<number, Compiled>();

  return () => {
    const events = eventLog.read(eventLog.cursor(READER) ?? 0, EVENTS_AT_ONCE);
    if (events.length === 0) return { webhooks: new Set(), more: false };
    return database.transaction(() => match(events));
  };

  function match(events: readonly LoggedEvent[]): Matched {
    refresh();
    const matched = new Set<number>();
    let written = 0;
    let handled = 0;
    for (const event of events) {
      if (written >= DELIVERIES_AT_ONCE) break;
      const atMs = deps.nowMs();
      let dataText: string | undefined;
      for (const webhook of compiled.values()) {
        if (!isFor(webhook, event) || !webhook.fires(event.data)) continue;
        dataText ??= event.data === undefined ? undefined : JSON.stringify(event.data);
        deliveries.insert(
          {
            webhook: webhook.id,
            id: deliveryId(event, webhook.id),
            sequence: event.sequence,
            event: webhook.event,
            ...(event.height !== undefined && { height: event.height }),
            ...(event.blockId !== undefined && { blockId: event.blockId }),
            body: bodyOf(event, dataText, webhook, atMs),
          },
          atMs,
        );
        matched.add(webhook.id);
        written++;
      }
      eventLog.moveCursor(READER, event.sequence);
      handled++;
    }
    return { webhooks: matched, more: handled < events.length || events.length === EVENTS_AT_ONCE };
  }

  /** Reads the register anew: other processes may write it too. Conditions that stayed the same stay compiled. */
  function refresh(): void {
    const before = compiled;
    compiled = new Map(
      webhooks.active().map((webhook) => {
        const known = before.get(webhook.id);
        const fires = known?.conditions === webhook.conditions ? known.fires : compile(webhook);
        return [webhook.id, { ...webhook, fires }];
      }),
    );
  }

  function compile({ id, conditions }: ActiveWebhook): Compiled["fires"] {
    try {
      return compileConditions(parseJson(conditions) as Condition[]);
    } catch (error) {
      deps.logger.error(
        { webhook: id, err: error },
        "conditions of a webhook cannot be read; it does not fire",
      );
      return () => false;
    }
  }
}

const isFor = ({ event: name, activeAfter }: ActiveWebhook, event: LoggedEvent): boolean =>
  loggedName(name) === event.name && event.sequence > activeAfter;
