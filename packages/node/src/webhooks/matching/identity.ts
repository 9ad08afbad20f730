/**
 * Ids of deliveries. An id depends only on the event and the webhook, so that a delivery has the same id on every attempt,
 * after every restart, and in a replay years later: receivers use it to ignore duplicates.
 */
import { hash } from "node:crypto";

/** Values that identify an event. */
export type EventIdentity = {
  /** Id of the event. */
  readonly id: string;
  /** Height of the block, for events of blocks. */
  readonly height?: number;
  /**
   * Number of reverts of the block before this event, for events of blocks. A block that is applied again after a
   * reorganisation is delivered again to subscribers that received its retraction.
   */
  readonly timesReverted?: number;
  /**
   * Sequence in the event log, for all other events, because they may repeat, and the time at which they were logged, because
   * an older copy of the log uses sequences again.
   */
  readonly logSequence?: number;
  readonly createdMs?: number | undefined;
};

/** `network` is the nethash. */
export const deliveryId = (
  network: string,
  webhook: number,
  { id, height, timesReverted, logSequence, createdMs }: EventIdentity,
): string =>
  messageId(
    positionText(height ?? logSequence ?? 0),
    network,
    webhook,
    id,
    timesReverted === undefined ? `log ${logSequence} ${createdMs}` : `chain ${timesReverted}`,
  );

/** Returns the id of the delivery by which an event with this name retracts another delivery. */
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

/** Encodes the position of the event, with which ids begin: deliveries of one time are adjacent in the index. */
const positionText = (position: number): string =>
  position.toString(16).padStart(POSITION_DIGITS, "0").slice(-POSITION_DIGITS);

const messageId = (position: string, ...parts: readonly (string | number)[]): string =>
  `${PREFIX}${position}${hash("sha256", parts.join("\n")).slice(0, 32 - POSITION_DIGITS)}`;
