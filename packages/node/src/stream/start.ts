/** Where a stream begins. */
import { StreamError } from "./error.ts";
import type { Place, Position } from "./position.ts";
import type { Source } from "./source.ts";
import type { Subscription } from "./subscription.ts";

/** Where the next event comes from. */
export type Start =
  /** Behind a sequence of the log; the reader knows everything before the place. */
  | { readonly from: "log"; readonly after: number; readonly place?: Place }
  /**
   * The stored blocks, from a height on, and then the log behind a sequence. `told` is the last block that the
   * reader was told of, if it was; `skip` events of the next one were sent already.
   */
  | {
      readonly from: "chain";
      readonly height: number;
      readonly told?: Place;
      readonly skip?: number;
      readonly after: number;
    };

export type Wish = {
  readonly subscription: Subscription;
  /** Where the reader was when it was cut off. */
  readonly position?: Position;
  /** First block that a new reader wants to hear of. */
  readonly fromHeight?: number;
};

/**
 * @param since sequence behind which the log has everything that the reader asks for
 * @throws {StreamError} STREAM_GONE, STREAM_INVALID
 */
export function startOf({ subscription, position, fromHeight }: Wish, since: number, source: Source): Start {
  const { sequence: after, place } = source.end();
  if (position) return resume(position, subscription, Math.max(since, source.begin()), after, source);
  if (fromHeight === undefined) return { from: "log", after, ...(place && { place }) };
  if (!subscription.isRemembered) {
    throw new StreamError(
      "STREAM_INVALID",
      '"fromHeight" is for events of which stored blocks tell; "events" names others as well',
    );
  }
  return { from: "chain", height: fromHeight, after };
}

function resume(
  { sequence, place }: Position,
  { isRemembered }: Subscription,
  since: number,
  after: number,
  source: Source,
): Start {
  if (sequence !== undefined && sequence >= since && sequence <= after) {
    return { from: "log", after: sequence, ...(place && { place }) };
  }
  // The block itself again: perhaps some of its events were not told yet.
  if (place && isRemembered && source.hasBlock(place)) {
    return { from: "chain", height: place.height, told: place, after };
  }
  throw new StreamError(
    "STREAM_GONE",
    place && isRemembered
      ? `block ${place.blockId} was undone since; take the state anew and come back without Last-Event-ID`
      : "the events since then are not kept any more; take the state anew and come back without Last-Event-ID",
  );
}
