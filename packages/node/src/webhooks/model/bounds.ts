/** Bounds of the deliveries that a node keeps. */

/** What waits is never dropped, only failed. */
export type DeliveryRetention = {
  /** How long a finished delivery is kept. */
  readonly maxAgeMs: number;
  /** The same for a failed one, which may still be sent again. */
  readonly maxFailedAgeMs: number;
  /** Over all webhooks; beyond it the oldest are dropped, if they are finished. */
  readonly maxDeliveries: number;
  /** First attempts that wait in one webhook; beyond it the oldest fail. */
  readonly maxWaiting: number;
  /** Facts of so many blocks below the head are kept beyond all bounds: they may have to be retracted. */
  readonly keptBlocks: number;
};

/** A queue with more first attempts than may wait, by `surplus`. */
export type OverfullQueue = { readonly webhook: number; readonly surplus: number };
