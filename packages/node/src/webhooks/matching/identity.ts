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
export const deliveryId = (
  network: string,
  webhook: number,
  { id, timesReverted, logSequence }: Fact,
): string =>
  messageId(
    network,
    webhook,
    id,
    timesReverted === undefined ? `log ${logSequence}` : `chain ${timesReverted}`,
  );

/** Id of the delivery by which an event of that name takes back another delivery. */
export const reversalId = (network: string, webhook: number, name: string, takenBack: string): string =>
  messageId(network, webhook, name, `reverts ${takenBack}`);

function messageId(...parts: readonly (string | number)[]): string {
  return `msg_${createHash("sha256").update(parts.join("\n")).digest("hex").slice(0, 32)}`;
}
