/**
 * Names of events that the log records for live streams, each with the sequence after which the log is
 * complete for it.
 */
import type { Database } from "../engine/database.ts";

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
