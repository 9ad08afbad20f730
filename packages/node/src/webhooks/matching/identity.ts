/**
 * What a delivery is called. The name is made of the fact and the webhook alone, so the same fact has the same id on
 * every attempt, after every restart, and when it is replayed years later: receivers tell by it what they know already.
 */
import { createHash } from "node:crypto";

/** What tells one fact from all others. */
export type Fact = {
  /** Of the event. */
  readonly id: string;
  /**
   * Facts of blocks: how often the block had been undone when the fact became true. A block that comes back after a
   * reorganisation is news to those who were told that it is gone.
   */
  readonly timesReverted?: number;
  /** All other facts: the place in the event log, because they may repeat. */
  readonly logSequence?: number;
};

/** `network` is the nethash. */
export function deliveryId(
  network: string,
  webhook: number,
  { id, timesReverted, logSequence }: Fact,
): string {
  const occurrence = timesReverted === undefined ? `log ${logSequence}` : `chain ${timesReverted}`;
  const digest = createHash("sha256").update([network, webhook, id, occurrence].join("\n")).digest("hex");
  return `msg_${digest.slice(0, 32)}`;
}
