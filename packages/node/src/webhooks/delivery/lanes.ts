/**
 * The in-memory state of a webhook's queue, which has three lanes. First attempts start in the order of events, several
 * at once unless the order is strict. Retries run concurrently, one at a time, so that a failing delivery does not delay
 * others. Replays run when no first attempt is waiting.
 */

import type { WaitingDelivery } from "../model/deliveries.ts";
import type { QueueState } from "../storage/delivery-queue.ts";

export const LANES = ["first", "retry", "replay"] as const;
export type Lane = (typeof LANES)[number];

export type Queue = {
  readonly webhook: number;
  /** True if a delivery starts only after the previous one has succeeded or finally failed. */
  isStrict: boolean;
  /** Number of running calls by lane. */
  readonly running: Record<Lane, number>;
  /** Number of the last delivery that was read into the first lane. */
  taken: number;
  /** Prefetched deliveries after `taken`. */
  ahead: WaitingDelivery[];
  /** True if there may be deliveries after the last one taken. */
  hasFirst: boolean;
  /** True if no call may start until all have ended: a retraction is delivered alone, between the old and the new facts. */
  isBarred: boolean;
  /** Time of the next retry, if any. */
  retryMs: number | undefined;
  /** True if a failed retraction waits for its retry: no later delivery starts before it. */
  hasRetraction: boolean;
  /** Position of the last delivery that was read into the replay lane, and whether more may follow. */
  replayed: number;
  hasReplay: boolean;
  /** Earliest time of the next replayed delivery; 0 for now. */
  replayMs: number;
  /** Lanes whose next delivery is already under way; no call of them starts before its outcome is recorded. */
  readonly held: Set<Lane>;
  /** Time until which a failing target gets no call; afterwards one call at a time; 0 for other targets. */
  pausedUntilMs: number;
  /** True if the last call succeeded quickly. */
  isQuick: boolean;
  /** Target of the last delivery that was read; undefined before the first. */
  target: string | undefined;
};

/** Creates a queue from its state in the database. */
export const createQueue = (webhook: number, state: QueueState): Queue => ({
  webhook,
  ...state,
  running: { first: 0, retry: 0, replay: 0 },
  taken: 0,
  ahead: [],
  hasFirst: true,
  isBarred: false,
  replayed: 0,
  hasReplay: true,
  replayMs: 0,
  held: new Set(),
  pausedUntilMs: 0,
  isQuick: false,
  target: undefined,
});

/** Returns the number of running calls in all lanes. */
export const runningOf = ({ running }: Queue): number => running.first + running.retry + running.replay;

/** Maximum of concurrent calls of the replay lane, unless the order is strict. */
const MAX_REPLAYS = 2;

/** Returns when a lane may start its next call; undefined if it has no call to start. */
export function laneDueMs(queue: Queue, lane: Lane, maxConcurrent: number): number | undefined {
  const { isStrict, running, hasFirst, isBarred, hasRetraction, retryMs, pausedUntilMs } = queue;
  const isAlone = isStrict || pausedUntilMs > 0;
  if (isBarred || queue.held.has(lane) || (isAlone && runningOf(queue) > 0)) return undefined;
  if (lane === "retry") {
    return retryMs === undefined || running.retry > 0 ? undefined : Math.max(retryMs, pausedUntilMs);
  }
  if (hasRetraction || (isStrict && retryMs !== undefined)) return undefined;
  if (lane === "first") return hasFirst && running.first < maxConcurrent ? pausedUntilMs : undefined;
  const mayReplay = queue.hasReplay && !hasFirst && running.replay < MAX_REPLAYS;
  return mayReplay ? Math.max(queue.replayMs, pausedUntilMs) : undefined;
}

/** Returns whether the queue can be dropped without loss: the next delivery creates it again. */
export const isIdle = (queue: Queue, nowMs: number): boolean =>
  runningOf(queue) === 0 &&
  !queue.hasFirst &&
  !queue.hasReplay &&
  queue.retryMs === undefined &&
  queue.pausedUntilMs <= nowMs;
