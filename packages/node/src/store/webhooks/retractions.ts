/** Which blocks were undone, and when: a block that comes back is another fact than the one that went. */
import type { Database } from "../engine/database.ts";

export type ReversalStore = {
  /** The block was undone, at a place in the event log. Recorded again, it counts once. */
  record(blockId: string, sequence: number): void;
  /** How often the block had been undone before a place in the event log. */
  count(blockId: string, before: number): number;
};

export function createReversalStore(database: Database): ReversalStore {
  const insert = database.prepare("INSERT OR IGNORE INTO reversals VALUES (?, ?)");
  const count = database.prepare<{ total: number }>(
    "SELECT count(*) AS total FROM reversals WHERE block_id = ? AND sequence < ?",
  );
  return {
    record: (blockId, sequence) => void insert.run(blockId, sequence),
    count: (blockId, before) => count.get(blockId, before)?.total ?? 0,
  };
}
