/** The pending transactions on disk, so that they survive a restart. */
import type { Database } from "./database.ts";

export type PoolStore = {
  /** Canonical bytes in order of arrival. */
  load(): { id: string; bytes: Uint8Array }[];
  /** One transaction; a row that is there already stays as it is. */
  write(change: { added: readonly { id: string; bytes: Uint8Array }[]; removed: readonly string[] }): void;
};

export function createPoolStore(database: Database): PoolStore {
  const select = database.prepare<{ id: string; bytes: Uint8Array }>(
    "SELECT id, bytes FROM pool ORDER BY arrival",
  );
  const insert = database.prepare("INSERT OR IGNORE INTO pool (id, bytes) VALUES (?, ?)");
  const remove = database.prepare("DELETE FROM pool WHERE id = ?");
  return {
    load: () => select.all(),
    write({ added, removed }) {
      database.transaction(() => {
        for (const id of removed) remove.run(id);
        for (const { id, bytes } of added) insert.run(id, bytes);
      });
    },
  };
}
