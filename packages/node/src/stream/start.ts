/** Finds the position at which a stream starts. */
import { StreamError } from "./error.ts";
import type { BlockRef, Position } from "./frame.ts";
import type { Source } from "./source.ts";
import type { Subscription } from "./subscription.ts";

/** Source of the next event. */
export type Start =
  /** The log, after a sequence; the client knows every event before the block. */
  | { readonly from: "log"; readonly after: number; readonly block?: BlockRef }
  /**
   * The stored blocks, from a height on, and then the log after a sequence. `lastBlock` is the last block whose events
   * were sent, if any; `skip` events of the next one were sent already.
   */
  | {
      readonly from: "chain";
      readonly height: number;
      readonly lastBlock?: BlockRef;
      readonly skip?: number;
      readonly after: number;
    };

export type StreamRequest = {
  readonly subscription: Subscription;
  /** Position of the client when it disconnected. */
  readonly position?: Position;
  /** First block whose events a new client requests. */
  readonly fromHeight?: number;
};

/**
 * @param since sequence after which the log has every subscribed event
 * @throws {StreamError} STREAM_GONE, STREAM_INVALID
 */
export async function findStart(
  { subscription, position, fromHeight }: StreamRequest,
  since: number,
  source: Source,
): Promise<Start> {
  const { sequence: after, block } = await source.end();
  if (position) return resume(position, subscription, Math.max(since, await source.begin()), after, source);
  if (fromHeight === undefined) return { from: "log", after, ...(block && { block }) };
  if (!subscription.isRemembered) {
    throw new StreamError(
      "STREAM_INVALID",
      '"fromHeight" requires events that can be derived from stored blocks; "events" selects others as well',
    );
  }
  return { from: "chain", height: fromHeight, after };
}

async function resume(
  { sequence, block }: Position,
  { isRemembered }: Subscription,
  since: number,
  after: number,
  source: Source,
): Promise<Start> {
  if (sequence !== undefined && sequence >= since && sequence <= after) {
    return { from: "log", after: sequence, ...(block && { block }) };
  }
  // Start at the block itself: some of its events may not have been sent yet.
  if (block && isRemembered && (await source.hasBlock(block))) {
    return { from: "chain", height: block.height, lastBlock: block, after };
  }
  throw new StreamError(
    "STREAM_GONE",
    block && isRemembered
      ? `block ${block.blockId} was reverted; reload your state and reconnect without Last-Event-ID`
      : "the events since then are no longer available; reload your state and reconnect without Last-Event-ID",
  );
}
