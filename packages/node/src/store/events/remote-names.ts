/**
 * Names of events that the log records for webhooks of another database. While there are any, the log keeps the events that
 * the mirror has not copied into that database.
 */
import type { Database } from "../engine/database.ts";
import type { CopiedEvents } from "./copied-events.ts";

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
