/** A replay: deliveries of the events of a range of the chain to one webhook. */

export type ReplayState = "running" | "finished" | "cancelled";

/** Times are milliseconds since 1970. */
export type Replay = {
  readonly webhook: number;
  readonly fromHeight: number;
  /** Included. */
  readonly toHeight: number;
  /** The next block to read; above the last when all were read. */
  readonly nextHeight: number;
  /** Events of that block that were handled already. */
  readonly nextIndex: number;
  /** Events that were put into the queue so far. */
  readonly events: number;
  /** Number of the last delivery before the replay began. */
  readonly lastDelivery: number;
  readonly state: ReplayState;
  /** Why it was cancelled. */
  readonly reason?: string;
  readonly startedMs: number;
  readonly finishedMs?: number;
};

/** Where a replay continues. */
export type ReplayPosition = Pick<Replay, "nextHeight" | "nextIndex" | "events">;

/** `waiting`: deliveries that have not arrived yet. */
export type ReplayProgress = Replay & { readonly waiting: number };
