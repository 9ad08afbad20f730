/** An event, and an event as the event log records it. */

/** `data` is JSON-ready: amounts as decimal text; absent for events without content. */
export type Event = {
  /**
   * Stable id, the same on every node: `block.applied:<block id>`, `transaction.applied:<block id>:<sequence>`,
   * `forger.missing:<block id>:<slot>` ... An event that repeats (a block applied again after a reorganisation) has the same id.
   */
  readonly id: string;
  readonly name: string;
  /** Height of the block that caused the event. */
  readonly height?: number;
  readonly blockId?: string;
  /** Time of the block whose application or revert caused the event, milliseconds since 1970. */
  readonly timeMs?: number;
  /** Id of the event that this one retracts, because its block was reverted. */
  readonly reverts?: string;
  readonly data?: unknown;
};

/** An event in the log. */
export type LoggedEvent = Event & {
  /** Grows by one with each event; never reused. */
  readonly sequence: number;
  /** Time at which it was logged, milliseconds since 1970. */
  readonly createdMs: number;
};
