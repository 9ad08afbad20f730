/** Retractions: the delivered facts that a revert of their block retracts, and how often each block was reverted. */
import type { BlockReference, RecordRevert } from "../intake.ts";
import { type DeliveredFact, REVERTED_REASON } from "../model/deliveries.ts";
import { isOwned } from "./shards.ts";
import { type Flag, given, type Reads, type Sql, type Steps } from "./sql.ts";

/** Returns how often each block was reverted before a sequence of the events. */
export function* countReverts(
  sql: Reads,
  blockIds: readonly string[],
  before: number,
): Steps<Map<string, number>> {
  if (blockIds.length === 0) return new Map();
  const rows = yield* sql.rows<{ block_id: string; total: number }>(
    "SELECT block_id, count(*) AS total FROM block_reverts WHERE block_id = ANY ($1) AND sequence < $2 GROUP BY 1",
    [blockIds, before],
  );
  return new Map(rows.map(({ block_id, total }) => [block_id, total]));
}

export function* recordReverts(sql: Sql, reverts: readonly RecordRevert[]): Steps<void> {
  if (reverts.length === 0) return;
  const rows = reverts.map(({ blockId, sequence }) => [blockId, sequence]);
  const { table, values } = given(sql.kind, { block_id: "text", sequence: "bigint" }, rows);
  yield* sql.change(
    `INSERT INTO block_reverts SELECT block_id, sequence FROM ${table} WHERE true ON CONFLICT DO NOTHING`,
    values,
  );
}

type FactRow = Omit<DeliveredFact, "hasSameTarget"> & { readonly hasSameTarget: Flag };

/** Returns the unretracted deliveries of the blocks' facts, block by block, in the order of their retractions. */
export function* unretracted(
  sql: Reads,
  shards: readonly number[],
  blocks: readonly BlockReference[],
  limit: number,
): Steps<DeliveredFact[]> {
  // SQLite would sort the facts of all blocks, of which the first may have enough.
  const groups = sql.kind === "sqlite" ? blocks.map((block) => [block]) : [blocks];
  const facts: DeliveredFact[] = [];
  for (const group of groups) {
    if (facts.length === limit) break;
    facts.push(...(yield* factsOf(sql, shards, group, limit - facts.length)));
  }
  return facts;
}

function* factsOf(
  sql: Reads,
  shards: readonly number[],
  blocks: readonly BlockReference[],
  limit: number,
): Steps<DeliveredFact[]> {
  const blockRows = blocks.map(({ height, blockId }) => [height, blockId]);
  const { table, values } = given(sql.kind, { height: "bigint", block_id: "text" }, blockRows);
  // A finished delivery without an attempt was dropped: its receiver does not know the fact. One with a failed attempt may
  // have reached it.
  const rows = yield* sql.rows<FactRow>(
    `SELECT deliveries.number, webhook, deliveries.id, deliveries.event, deliveries.height, deliveries.block_id AS "blockId", content,
       webhooks.id IS NOT NULL AND (state = 'pending' OR (webhooks.target_number = deliveries.target_number
         AND EXISTS (SELECT 1 FROM attempts WHERE delivery = deliveries.number))) AS "hasSameTarget"
     FROM ${table}
       JOIN deliveries ON deliveries.height = given.height AND deliveries.block_id = given.block_id AND is_retracted = false
       LEFT JOIN webhooks ON webhooks.id = webhook
     WHERE ${isOwned(sql.kind, "webhook", "$3")}
     ORDER BY place, deliveries.event = 'block.applied', deliveries.number DESC LIMIT $4`,
    [...values, shards, limit],
  );
  return rows.map((row) => ({ ...row, hasSameTarget: Boolean(row.hasSameTarget) }));
}

/**
 * Marks facts as retracted. A failed attempt is not retried, because the receiver gets the retraction instead; nor is a
 * delivery in the replay lane sent, for which the retraction does not wait.
 */
export function* retractFacts(sql: Sql, numbers: readonly number[], atMs: number): Steps<void> {
  if (numbers.length === 0) return;
  yield* sql.change("UPDATE deliveries SET is_retracted = true WHERE number = ANY ($1)", [numbers]);
  yield* sql.change(
    `UPDATE deliveries SET state = 'cancelled', next_attempt_ms = NULL, reason = $2, finished_ms = $3
     WHERE number = ANY ($1) AND state = 'pending' AND (next_attempt_ms IS NOT NULL OR replay IS NOT NULL)`,
    [numbers, REVERTED_REASON, atMs],
  );
}
