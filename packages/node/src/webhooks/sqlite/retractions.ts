/** Retractions in SQLite: the delivered facts that a revert of their block retracts, and how often each block was reverted. */
import type { Database } from "../../store/engine/database.ts";
import type { BlockReference } from "../intake.ts";
import { type DeliveredFact, REVERTED_REASON } from "../model/deliveries.ts";

export type DeliveredFactStore = {
  /** Returns the unretracted deliveries of the blocks' facts, block by block, in the order of their retractions. */
  unretracted(blocks: readonly BlockReference[], limit: number): DeliveredFact[];
  /** Marks the fact as retracted. */
  retract(number: number, atMs: number): void;
};

type DeliveredFactRow = Omit<DeliveredFact, "hasSameTarget"> & { sameTarget: number };

export function createDeliveredFactStore(database: Database): DeliveredFactStore {
  // A finished delivery without an attempt was dropped: its receiver does not know the fact. One with a failed attempt may have
  // reached it.
  const unretracted = database.prepare<DeliveredFactRow>(
    `SELECT number, webhook, deliveries.id, deliveries.event, height, block_id AS blockId, content,
       webhooks.id IS NOT NULL AND (state = 'pending' OR (webhooks.target_number = deliveries.target_number
         AND EXISTS (SELECT 1 FROM attempts WHERE delivery = number))) AS sameTarget
     FROM deliveries LEFT JOIN webhooks ON webhooks.id = webhook
     WHERE height = +? AND block_id = +? AND is_retracted = 0
     ORDER BY deliveries.event = 'block.applied', number DESC LIMIT +?`,
  );
  const retract = database.prepare("UPDATE deliveries SET is_retracted = 1 WHERE number = ?");
  // A failed attempt is not retried, because the receiver gets the retraction instead. Nor is a delivery in the queue of a
  // replay, for which the retraction does not wait.
  const cancel = database.prepare(
    `UPDATE deliveries SET state = 'cancelled', next_attempt_ms = NULL, reason = ?,
     finished_ms = ? WHERE number = ? AND state = 'pending' AND (next_attempt_ms IS NOT NULL OR replay IS NOT NULL)`,
  );
  return {
    unretracted(blocks, limit) {
      const facts: DeliveredFactRow[] = [];
      for (const { height, blockId } of blocks) {
        if (facts.length === limit) break;
        facts.push(...unretracted.all(height, blockId, limit - facts.length));
      }
      return facts.map(({ sameTarget, ...fact }) => ({ ...fact, hasSameTarget: sameTarget === 1 }));
    },
    retract(number, atMs) {
      retract.run(number);
      cancel.run(REVERTED_REASON, atMs, number);
    },
  };
}

export type BlockRevertStore = {
  /** Records a revert with its sequence in the event log; idempotent. */
  record(blockId: string, sequence: number): void;
  /** Returns how often each block was reverted before a sequence of the event log. */
  count(blockIds: readonly string[], before: number): Map<string, number>;
};

export function createBlockRevertStore(database: Database): BlockRevertStore {
  const insert = database.prepare("INSERT OR IGNORE INTO block_reverts VALUES (?, ?)");
  const count = database.prepare<{ total: number }>(
    "SELECT count(*) AS total FROM block_reverts WHERE block_id = +? AND sequence < ?",
  );
  return {
    record: (blockId, sequence) => void insert.run(blockId, sequence),
    count: (blockIds, before) =>
      new Map(blockIds.map((blockId) => [blockId, count.get(blockId, before)?.total ?? 0])),
  };
}
