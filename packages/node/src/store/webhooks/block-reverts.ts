/**
 * Which blocks were reverted, and when: a block that is applied again is another fact than before. The table is called
 * `reversals`.
 */
import type { Database } from "../engine/database.ts";

export type BlockRevertStore = {
  /** Records a revert with its sequence in the event log. Recorded again, it counts once. */
  record(blockId: string, sequence: number): void;
  /** How often the block was reverted before a sequence of the event log. */
  count(blockId: string, before: number): number;
};

export function createBlockRevertStore(database: Database): BlockRevertStore {
  const insert = database.prepare("INSERT OR IGNORE INTO reversals VALUES (?, ?)");
  const count = database.prepare<{ total: number }>(
    "SELECT count(*) AS total FROM reversals WHERE block_id = +? AND sequence < ?",
  );
  return {
    record: (blockId, sequence) => void insert.run(blockId, sequence),
    count: (blockId, before) => count.get(blockId, before)?.total ?? 0,
  };
}
