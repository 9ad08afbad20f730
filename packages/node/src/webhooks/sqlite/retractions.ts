/** Retractions in SQLite: the delivered facts that a revert of their block retracts, and how often each block was reverted. */
import type { Database } from "../../store/engine/database.ts";
import type { BlockReverts, DeliveredFacts } from "../intake.ts";
import type { DeliveredFact } from "../model/deliveries.ts";
import { REVERTED_REASON } from "./deliveries.ts";

type DeliveredFactRow = Omit<DeliveredFact, "hasSameTarget"> & { sameTarget: number };

/** The column `stands` of a delivered fact is 1, and 0 after its retraction. */
export function createDeliveredFactStore(database: Database): DeliveredFacts {
  // A finished delivery without an attempt was dropped: its receiver does not know the fact. One with a failed attempt may have
  // reached it.
  const unretracted = database.prepare<DeliveredFactRow>(
    `SELECT number, webhook, deliveries.id, deliveries.event, height, block_id AS blockId, content,
       webhooks.id IS NOT NULL AND (state = 'pending' OR (webhooks.target_number = deliveries.target_number
         AND EXISTS (SELECT 1 FROM attempts WHERE delivery = number))) AS sameTarget
     FROM deliveries LEFT JOIN webhooks ON webhooks.id = webhook
     WHERE height = +? AND block_id = +? AND stands = 1
     ORDER BY deliveries.event = 'block.applied', number DESC LIMIT +?`,
  );
  const retract = database.prepare("UPDATE deliveries SET stands = 0 WHERE number = ?");
  // A failed attempt is not retried, because the receiver gets the retraction instead. Nor is a delivery in the queue of a
  // replay, for which the retraction does not wait.
  const cancel = database.prepare(
    `UPDATE deliveries SET state = 'cancelled', next_attempt_ms = NULL, reason = ?,
     finished_ms = ? WHERE number = ? AND state = 'pending' AND (next_attempt_ms IS NOT NULL OR replay IS NOT NULL)`,
  );
  return {
    unretracted: (height, blockId, limit) =>
      unretracted
        .all(height, blockId, limit)
        .map(({ sameTarget, ...fact }) => ({ ...fact, hasSameTarget: sameTarget === 1 })),
    retract(number, atMs) {
      retract.run(number);
      cancel.run(REVERTED_REASON, atMs, number);
    },
  };
}

/** The table is called `reversals`. */
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
