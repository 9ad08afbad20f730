/**
 * What a delivery is called. The name is made of the fact and the webhook alone, so the same fact has the same id on
 * every attempt, after every restart, and when it is replayed years later: receivers use it to ignore duplicates.
 */
import { hash } from "node:crypto";

/** What tells one fact from all others. */
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
  /** All other facts: the place in the event log, because they may repeat. */
  readonly logSequence?: number;
};

/** `network` is the nethash. */
export const deliveryId = (
  network: string,
  webhook: number,
  { id, height, timesReverted, logSequence }: Fact,
): string =>
  messageId(
    placeText(height ?? logSequence ?? 0),
    network,
    webhook,
    id,
    timesReverted === undefined ? `log ${logSequence}` : `chain ${timesReverted}`,
  );

/** Id of the delivery by which an event of that name retracts another delivery. */
export const retractionId = (network: string, webhook: number, name: string, retracted: string): string =>
  messageId(
    retracted.slice(PREFIX.length, PREFIX.length + PLACE_DIGITS),
    network,
    webhook,
    name,
    `reverts ${retracted}`,
  );

const PREFIX = "msg_";
const PLACE_DIGITS = 8;

/** Ids begin with the position of the fact: deliveries of one time are neighbours in the index of ids. */
const placeText = (place: number): string =>
  place.toString(16).padStart(PLACE_DIGITS, "0").slice(-PLACE_DIGITS);

const messageId = (place: string, ...parts: readonly (string | number)[]): string =>
  `${PREFIX}${place}${hash("sha256", parts.join("\n")).slice(0, 32 - PLACE_DIGITS)}`;
