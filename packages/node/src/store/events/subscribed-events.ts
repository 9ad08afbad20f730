/** Names of events that the log records: for live streams, and for webhooks of another database. */
import type { Database } from "../engine/database.ts";
import type { CopiedEvents } from "./copied-events.ts";

/** Names for live streams, each with the sequence after which the log is complete for it. */
export type SubscribedEventStore = {
  all(): Map<string, number>;
  set(name: string, since: number): void;
  remove(name: string): void;
};

export function createSubscribedEventStore(database: Database): SubscribedEventStore {
  const all = database.prepare<{ name: string; since: number }>("SELECT name, since FROM subscribed_events");
  const set = database.prepare("INSERT OR REPLACE INTO subscribed_events VALUES (?, ?)");
  const remove = database.prepare("DELETE FROM subscribed_events WHERE name = ?");
  return {
    all: () => new Map(all.all().map(({ name, since }) => [name, since])),
    set: (name, since) => void set.run(name, since),
    remove: (name) => void remove.run(name),
  };
}

/**
 * Names for webhooks of another database. While there are any, the log keeps the events that the mirror has not copied into
 * that database.
 */
export type RemoteNameStore = {
  all(): ReadonlySet<string>;
  replace(names: readonly string[]): void;
};

export function createRemoteNameStore(
  database: Database,
  copiedEvents: Pick<CopiedEvents, "keep" | "forget">,
): RemoteNameStore {
  const all = database.prepare<{ name: string }>("SELECT name FROM remote_names");
  const removeAll = database.prepare("DELETE FROM remote_names");
  const add = database.prepare("INSERT INTO remote_names VALUES (?)");
  return {
    all: () => new Set(all.all().map(({ name }) => name)),
    replace(names) {
      database.transaction(() => {
        removeAll.run();
        for (const name of names) add.run(name);
        if (names.length > 0) copiedEvents.keep();
        else copiedEvents.forget();
      });
    },
  };
}
