/** The event log: selects the events of blocks that are recorded, records other events, drops old ones, and notifies readers. */
import type { Logger } from "pino";
import { DEFAULT_EVENT_RETENTION, startEventRetention } from "../../event-log/retention.ts";
import { openSubscribedEvents, type SubscribedEvents } from "../../event-log/subscribed-events.ts";
import type { Event } from "../../events/catalogue.ts";
import type { Closing } from "../../platform/lifecycle/closing.ts";
import { Subscribers } from "../../platform/notifier.ts";
import type { Database } from "../../store/engine/database.ts";
import { EventLog } from "../../store/events/event-log.ts";
import { CopiedEvents, RemoteNameStore } from "../../store/events/subscribed-events.ts";
import { systemClock } from "../../webhooks/collaborators.ts";
import { createWebhookNames } from "../../webhooks/sqlite/hand-over/owner.ts";
import type { NodeOptions } from "./node-options.ts";

export type NodeEventLog = {
  readonly reporter: Reporter;
  readonly events: EventLog;
  /** Names that webhooks and live streams subscribe to. */
  readonly subscribedEvents: SubscribedEvents;
  /** Notifies readers of the log of new events. */
  readonly grown: Subscribers<void>;
};

export function openNodeEventLog(
  { webhooks, feedBlocks }: Pick<NodeOptions, "webhooks" | "feedBlocks">,
  { database, logger }: { readonly database: Database; readonly logger: Logger },
  onStop: Closing["add"],
): NodeEventLog {
  keepForMirror(database, feedBlocks > 0);
  const subscribedEvents = openSubscribedEvents(
    database,
    webhooks === "on" ? createWebhookNames(database) : () => new Set(),
  );
  // The age of events is measured with the clock of the machine: the clock of the chain can be ahead.
  const events = new EventLog(database, {
    recordedNames: subscribedEvents.names,
    // A clock that is ahead for some minutes must not drop events.
    retentionNow: () => Math.min(systemClock.nowMs(), systemClock.steadyMs()),
  });
  const endRetention = startEventRetention(DEFAULT_EVENT_RETENTION, {
    events,
    subscribedEvents,
    onError: (err) => logger.error({ err }, "failed to delete old events"),
  });
  onStop("event retention", endRetention);
  const grown = new Subscribers<void>();
  return {
    reporter: new Reporter({ database, events, onLogged: () => grown.notify(), logger }),
    events,
    subscribedEvents,
    grown,
  };
}

/** Without a feed, no mirror copies events: then the log keeps none for it. */
function keepForMirror(database: Database, hasFeed: boolean): void {
  const copiedEvents = new CopiedEvents(database);
  if (!hasFeed) copiedEvents.forget();
  else if (new RemoteNameStore(database, copiedEvents).all().size > 0) copiedEvents.keep();
}

type ReporterDeps = {
  readonly database: Pick<Database, "transaction">;
  readonly events: EventLog;
  /** Called after events were recorded and can be read. */
  readonly onLogged: () => void;
  readonly logger: Logger;
};

export class Reporter {
  readonly #deps: ReporterDeps;

  constructor(deps: ReporterDeps) {
    this.#deps = deps;
  }

  /**
   * Records events that are about to happen, in a transaction of its own.
   *
   * @throws {Error} of the database; the caller must then not let them happen
   */
  log(...happening: Event[]): void {
    const { database, events, onLogged } = this.#deps;
    if (!happening.some(({ name }) => events.isRecorded(name))) return;
    database.transaction(() => events.append(happening));
    // The pool reports within a transaction of its own; readers see the events after its commit.
    queueMicrotask(onLogged);
  }

  /** Records events that have happened; logs an error if they cannot be written. */
  report(...happened: Event[]): void {
    try {
      this.log(...happened);
    } catch (err) {
      this.#deps.logger.error(
        { err, events: happened.map(({ name }) => name) },
        "failed to write events; they are lost",
      );
    }
  }
}
