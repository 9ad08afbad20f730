/** What webhooks were told of a block, as long as the block stands: all of it is taken back when it does not. */
import type { Database } from "../engine/database.ts";
import { UNDONE } from "./deliveries.ts";

/** A delivery that tells a fact of a block. */
export type Told = {
  readonly number: number;
  readonly webhook: number;
  readonly id: string;
  /** As the webhook calls it. */
  readonly event: string;
  readonly height: number;
  readonly blockId: string;
  /** Number of what it tells. */
  readonly content: number;
  /** The webhook is there, and has the same target: whoever it is may have heard of it, or will. */
  readonly isHeard: boolean;
};

export type ToldStore = {
  /**
   * Deliveries that tell facts of the block and were not taken back, the latest first and the block itself last: the
   * order in which they become untrue (webhooks.md 5).
   */
  standing(height: number, blockId: string, limit: number): Told[];
  /** The fact is no longer true: it is neither tried again nor sent again on demand. */
  retract(number: number, atMs: number): void;
};

type ToldRow = Omit<Told, "isHeard"> & { heard: number };

export function createToldStore(database: Database): ToldStore {
  const standing = database.prepare<ToldRow>(
    `SELECT number, webhook, deliveries.id, deliveries.event, height, block_id AS blockId, content,
       webhooks.id IS NOT NULL AND webhooks.target_number = deliveries.target_number AS heard
     FROM deliveries LEFT JOIN webhooks ON webhooks.id = webhook
     WHERE height = ? AND block_id = ? AND stands = 1
     ORDER BY deliveries.event = 'block.applied', number DESC LIMIT ?`,
  );
  const retract = database.prepare("UPDATE deliveries SET stands = 0 WHERE number = ?");
  // What was tried in vain needs no further attempt: the receiver hears that it is untrue instead. Nor does what is in
  // the queue of a replay, which the reversal does not wait for.
  const giveUp = database.prepare(
    `UPDATE deliveries SET state = 'cancelled', next_attempt_ms = NULL, reason = ?,
     finished_ms = ? WHERE number = ? AND state = 'pending' AND (next_attempt_ms IS NOT NULL OR replay IS NOT NULL)`,
  );
  return {
    standing: (height, blockId, limit) =>
      standing.all(height, blockId, limit).map(({ heard, ...told }) => ({ ...told, isHeard: heard === 1 })),
    retract(number, atMs) {
      retract.run(number);
      giveUp.run(UNDONE, atMs, number);
    },
  };
}
