/** The pending transactions on disk, so that they survive a restart. */
import type { Database, Durability } from "../engine/database.ts";

/** A removed transaction may be added again: then it is the latest arrival, or the first one. */
export type PoolChange = {
  readonly added: readonly AddedRow[];
  readonly removed: readonly string[];
};

export type AddedRow = {
  readonly id: string;
  readonly bytes: Uint8Array;
  /** `first`: the row is placed before all others, also before earlier ones of the same change. */
  readonly place?: "last" | "first";
};

export type PoolStore = {
  /** Canonical bytes in order of arrival. */
  load(): { id: string; bytes: Uint8Array }[];
  /**
   * Writes the change and runs `alongside` in one transaction: both or nothing. By default, it survives the end of the process; a
   * power failure can lose the latest changes.
   */
  write(change: PoolChange, alongside?: () => void, survives?: Durability): void;
};

export function createPoolStore(database: Database): PoolStore {
  const select = database.prepare<{ id: string; bytes: Uint8Array }>(
    "SELECT id, bytes FROM pool ORDER BY arrival",
  );
  const append = database.prepare("INSERT OR IGNORE INTO pool (id, bytes) VALUES (?, ?)");
  const prepend = database.prepare(
    "INSERT OR IGNORE INTO pool (arrival, id, bytes) SELECT coalesce(min(arrival), 1) - 1, ?, ? FROM pool",
  );
  const remove = database.prepare("DELETE FROM pool WHERE id = ?");
  return {
    load: () => select.all(),
    // Pending transactions are numerous and short-lived: waiting for the disk would cost more than it saves.
    write({ added, removed }, alongside, survives = "process death") {
      database.transaction(() => {
        for (const id of removed) remove.run(id);
        for (const { id, bytes, place } of added) (place === "first" ? prepend : append).run(id, bytes);
        alongside?.();
      }, survives);
    },
  };
}
