/** The event log: selects the events of blocks that are recorded, records other events, drops old ones, and notifies readers. */
import type { Logger } from "pino";
import { DEFAULT_EVENT_RETENTION, startEventRetention } from "../../event-log/retention.ts";
import { SubscribedEvents } from "../../event-log/subscribed-events.ts";
import type { Event } from "../../events/catalogue.ts";
import type { Closing } from "../../platform/lifecycle/closing.ts";
import { Subscribers } from "../../platform/notifier.ts";
import type { Database } from "../../store/engine/database.ts";
import { createLastSequence, EventLog } from "../../store/events/event-log.ts";
import { CopiedEvents, RemoteNameStore, SubscribedEventStore } from "../../store/events/subscribed-events.ts";
import { systemClock } from "../../webhooks/collaborators.ts";
import { hasOwnNames, OwnerStore } from "../../webhooks/sqlite/hand-over/owner.ts";
import { runNow, sqlOf } from "../../webhooks/sqlite/sql.ts";
import { readEventNames } from "../../webhooks/storage/webhooks.ts";
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
  const subscribedEvents = new SubscribedEvents({
    store: new SubscribedEventStore(database),
    remoteNames: openRemoteNames(database, feedBlocks > 0),
    lastSequence: createLastSequence(database),
    webhookNames: webhooks === "on" ? createWebhookNames(database) : () => new Set(),
    elapsedMs: () => performance.now(),
  });
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

/** While delivery workers own the webhooks, the log records the names of their database. */
function createWebhookNames(database: Database): () => ReadonlySet<string> {
  const owners = new OwnerStore(database);
  return () => (hasOwnNames(owners.read()) ? runNow(readEventNames(sqlOf(database))) : new Set());
}

/** Without a feed, no mirror copies events: then the log keeps none for it. */
function openRemoteNames(database: Database, hasFeed: boolean): RemoteNameStore {
  const copiedEvents = new CopiedEvents(database);
  const remoteNames = new RemoteNameStore(database, copiedEvents);
  if (hasFeed && remoteNames.all().size > 0) copiedEvents.keep();
  if (!hasFeed) copiedEvents.forget();
  return remoteNames;
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
