/** Webhooks in the node: their storage is its database. */
import { join } from "node:path";
import { present } from "../../src/platform/present.ts";
import { type Database, openDatabase } from "../../src/store/engine/database.ts";
import { beginLife } from "./life.ts";
import type { OpenStorage } from "./storage.ts";

type Waiting = { webhook: number; count: number; nextMs: number | null; reason: string | null };

export const openSqliteStorage: OpenStorage = async (folder) => {
  let reader: Database | undefined;
  return {
    faults: [],
    async begin() {
      const life = await beginLife(folder);
      reader ??= openDatabase(join(folder, "data", "node.sqlite"), { readonly: true });
      return life;
    },
    // Blocks and events are committed together.
    reached: async (chronicle) => chronicle.position(),
    unfinished: async () => readUnfinished(present(reader, "a node that was started")),
    close: async () => reader?.close(),
  };
};

function readUnfinished(database: Database): string[] {
  const waiting = database
    .prepare<Waiting>(
      `SELECT webhook, count(*) AS count, min(next_attempt_ms) AS nextMs, max(reason) AS reason
       FROM deliveries JOIN webhooks ON webhooks.id = webhook WHERE state = 'pending' GROUP BY webhook`,
    )
    .all();
  const { unread } = present(
    database
      .prepare<{ unread: number }>(
        `SELECT (SELECT coalesce(max(sequence), 0) FROM events)
           - coalesce((SELECT sequence FROM cursors WHERE reader = 'webhooks'), 0) AS unread`,
      )
      .get(),
  );
  return [
    ...(unread > 0 ? [`${unread} events to be read`] : []),
    ...waiting.map(
      ({ webhook, count, nextMs, reason }) =>
        `${count} deliveries of webhook ${webhook} (next at ${nextMs}, ${reason})`,
    ),
  ];
}
