/**
 * Log of reverted blocks in SQLite: a block that is applied again is a new fact. The table is called
 * `reversals`.
 */
import type { Database } from "../../store/engine/database.ts";
import type { BlockReverts } from "../intake.ts";

export function createBlockRevertStore(database: Database): BlockReverts {
  const insert = database.prepare("INSERT OR IGNORE INTO reversals VALUES (?, ?)");
  const count = database.prepare<{ total: number }>(
    "SELECT count(*) AS total FROM reversals WHERE block_id = +? AND sequence < ?",
  );
  return {
    record: (blockId, sequence) => void insert.run(blockId, sequence),
    count: (blockId, before) => count.get(blockId, before)?.total ?? 0,
  };
}
