/** The end of a queue's pending deliveries without sending them. */

/** Final state of the deliveries: `cancelled` when they are obsolete, `failed` when they can be sent again later. */
export type Finish = {
  readonly state: "failed" | "cancelled";
  readonly reason: string;
  /**
   * True to finish retractions too. Otherwise they stay pending: a target that received a fact must receive its retraction.
   */
  readonly withRetractions?: boolean;
};
