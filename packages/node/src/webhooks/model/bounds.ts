/** Bounds of the deliveries that a node keeps. */

/** Bounds on stored deliveries; pending deliveries are never dropped, only failed. */
export type DeliveryRetention = {
  /** Time for which a finished delivery is stored. */
  readonly maxAgeMs: number;
  /** Time for which a failed delivery is stored, which can still be sent again. */
  readonly maxFailedAgeMs: number;
  /** Maximum number of deliveries of all webhooks; beyond it, the oldest finished ones are dropped. */
  readonly maxDeliveries: number;
  /** Maximum number of pending first attempts of one webhook; beyond it, the oldest fail. */
  readonly maxWaiting: number;
  /** Depth in blocks to which facts are stored regardless of other bounds, because they may be retracted. */
  readonly keptBlocks: number;
};

/** A queue that exceeds the maximum of pending first attempts by `surplus`. */
export type OverfullQueue = { readonly webhook: number; readonly surplus: number };
