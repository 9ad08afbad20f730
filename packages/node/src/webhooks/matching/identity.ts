/**
 * The id of a delivery. It is derived from the fact and the webhook alone, so the same fact has the same id on every
 * attempt, after every restart, and when it is replayed years later: receivers use it to ignore duplicates.
 */
import { hash } from "node:crypto";

/** What identifies a fact. */
export type Fact = {
  /** Of the event. */
  readonly id: string;
  /** Facts of blocks: of the block. */
  readonly height?: number;
  /**
   * Facts of blocks: how often the block had been reverted when the fact became true. A block that is applied again
   * after a reorganisation is delivered again to subscribers that received its retraction.
   */
  readonly timesReverted?: number;
  /** All other facts: the sequence in the event log, because they may repeat. */
  readonly logSequence?: number;
};

/** `network` is the nethash. */
export const deliveryId = (
  network: string,
  webhook: number,
  { id, height, timesReverted, logSequence }: Fact,
): string =>
  messageId(
    positionText(height ?? logSequence ?? 0),
    network,
    webhook,
    id,
    timesReverted === undefined ? `log ${logSequence}` : `chain ${timesReverted}`,
  );

/** Id of the delivery by which an event of that name retracts another delivery. */
export const retractionId = (network: string, webhook: number, name: string, retracted: string): string =>
  messageId(
    retracted.slice(PREFIX.length, PREFIX.length + POSITION_DIGITS),
    network,
    webhook,
    name,
    `reverts ${retracted}`,
  );

const PREFIX = "msg_";
const POSITION_DIGITS = 8;

/** Ids begin with the position of the fact: deliveries of one time are neighbours in the index of ids. */
const positionText = (position: number): string =>
  position.toString(16).padStart(POSITION_DIGITS, "0").slice(-POSITION_DIGITS);

const messageId = (position: string, ...parts: readonly (string | number)[]): string =>
  `${PREFIX}${position}${hash("sha256", parts.join("\n")).slice(0, 32 - POSITION_DIGITS)}`;
