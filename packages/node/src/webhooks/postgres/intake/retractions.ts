/** Retractions: the delivered facts that a revert of their block retracts, and how often each block was reverted. */
import type { Query, Transaction } from "../../../postgres/connection.ts";
import type { BlockReference, RecordRevert } from "../../intake.ts";
import { type DeliveredFact, REVERTED_REASON } from "../../model/deliveries.ts";
import { SHARDS } from "../../storage/shards.ts";

/** Returns how often each block was reverted before a sequence of the events. */
export async function countReverts(
  query: Query,
  blockIds: readonly string[],
  before: number,
): Promise<Map<string, number>> {
  if (blockIds.length === 0) return new Map();
  const rows = await query<{ block_id: string; total: string }>(
    `SELECT block_id, count(*) AS total FROM block_reverts WHERE block_id = ANY ($1) AND sequence < $2 GROUP BY 1`,
    [blockIds, before],
  );
  return new Map(rows.map(({ block_id, total }) => [block_id, Number(total)]));
}

/** Records reverts, each once. */
export async function recordReverts(
  { change }: Transaction,
  reverts: readonly RecordRevert[],
): Promise<void> {
  if (reverts.length === 0) return;
  await change(
    `INSERT INTO block_reverts SELECT * FROM unnest($1::text[], $2::bigint[]) ON CONFLICT DO NOTHING`,
    [reverts.map(({ blockId }) => blockId), reverts.map(({ sequence }) => sequence)],
  );
}

type FactRow = {
  number: string;
  webhook: string;
  id: string;
  event: string;
  height: string;
  block_id: string;
  content: string;
  has_same_target: boolean;
};

/** Returns the unretracted deliveries of the blocks' facts, block by block, in the order of their retractions. */
export async function unretracted(
  query: Query,
  shards: readonly number[],
  blocks: readonly BlockReference[],
  limit: number,
): Promise<DeliveredFact[]> {
  // A finished delivery without an attempt was dropped: its receiver does not know the fact. One with a failed attempt may
  // have reached it.
  const rows = await query<FactRow>(
    `SELECT deliveries.number, webhook, deliveries.id, deliveries.event, deliveries.height, deliveries.block_id, content,
       webhooks.id IS NOT NULL AND (state = 'pending' OR (webhooks.target_number = deliveries.target_number
         AND EXISTS (SELECT 1 FROM attempts WHERE delivery = deliveries.number))) AS has_same_target
     FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS block (height, block_id, place)
       JOIN deliveries ON deliveries.height = block.height AND deliveries.block_id = block.block_id AND is_retracted = false
       LEFT JOIN webhooks ON webhooks.id = webhook
     WHERE (webhook % ${SHARDS})::integer = ANY ($3)
     ORDER BY place, deliveries.event = 'block.applied', deliveries.number DESC LIMIT $4`,
    [blocks.map(({ height }) => height), blocks.map(({ blockId }) => blockId), shards, limit],
  );
  return rows.map((row) => ({
    number: Number(row.number),
    webhook: Number(row.webhook),
    id: row.id,
    event: row.event,
    height: Number(row.height),
    blockId: row.block_id,
    content: Number(row.content),
    hasSameTarget: row.has_same_target,
  }));
}

/**
 * Marks facts as retracted. A failed attempt is not retried, because the receiver gets the retraction instead; nor is a
 * delivery in the replay lane sent, for which the retraction does not wait.
 */
export async function retractFacts(
  { change }: Transaction,
  numbers: readonly number[],
  atMs: number,
): Promise<void> {
  if (numbers.length === 0) return;
  await change("UPDATE deliveries SET is_retracted = true WHERE number = ANY ($1)", [numbers]);
  await change(
    `UPDATE deliveries SET state = 'cancelled', next_attempt_ms = NULL, reason = $2, finished_ms = $3
     WHERE number = ANY ($1) AND state = 'pending' AND (next_attempt_ms IS NOT NULL OR replay IS NOT NULL)`,
    [numbers, REVERTED_REASON, atMs],
  );
}
