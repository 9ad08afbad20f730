/** What the event log keeps of something that happened. */

/** `data` is JSON-ready: amounts as decimal text; absent for events without content. */
export type Event = {
  /**
   * Stable name of the fact, for ever the same: `block.applied:<block id>`,
   * `transaction.applied:<block id>:<sequence>`, `forger.missing:<block id>:<slot>` ... A fact that can repeat (a block applied
   * again after a reorganisation) repeats with the same id.
   */
  readonly id: string;
  readonly name: string;
  /** Of the block that caused it. */
  readonly height?: number;
  readonly blockId?: string;
  /** Id of the fact that it takes back: the block was undone, and this is told instead. */
  readonly reverts?: string;
  readonly data?: unknown;
};

/** An event in the log. */
export type LoggedEvent = Event & {
  /** Grows by one with each event; never reused. */
  readonly sequence: number;
  /** Milliseconds since 1970. */
  readonly createdMs: number;
};
