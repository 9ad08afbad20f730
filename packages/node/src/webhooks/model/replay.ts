/** A replay: deliveries of the events of a range of the chain to one webhook. */

export type ReplayState = "running" | "finished" | "cancelled";

/** Times are milliseconds since 1970. */
export type Replay = {
  readonly webhook: number;
  readonly fromHeight: number;
  readonly toHeight: number;
  /** Next block to read; above `toHeight` after all were read. */
  readonly nextHeight: number;
  /** Number of events of the next block that were already handled. */
  readonly nextIndex: number;
  /** Number of events that were put into the queue so far. */
  readonly events: number;
  /** Number of the last delivery before the replay started. */
  readonly lastDelivery: number;
  readonly state: ReplayState;
  readonly reason?: string;
  readonly startedMs: number;
  readonly finishedMs?: number;
};

export type ReplayPosition = Pick<Replay, "nextHeight" | "nextIndex" | "events">;

/** `waiting`: number of pending deliveries. */
export type ReplayProgress = Replay & { readonly waiting: number };

/** Reasons after a cancellation by request: of the replay, and of its deliveries. */
export const CANCELLATION = { replay: "by request", deliveries: "the replay was cancelled" } as const;
