/**
 * The queue of one webhook, as far as it is in memory: three lanes. First attempts begin in the order of events, several
 * at once unless the order is strict; retries run beside them, one at a time, so that a delivery that fails delays
 * no other one; replays run when no first attempt waits.
 */
import type { WaitingDelivery } from "../deliveries.ts";
import type { QueueState } from "../delivery-queue.ts";

export const LANES = ["first", "retry", "replay"] as const;
export type Lane = (typeof LANES)[number];

export type Queue = {
  readonly webhook: number;
  /** A delivery begins only after the one before has succeeded or has failed for good. */
  isStrict: boolean;
  /** Calls under way. */
  readonly running: Record<Lane, number>;
  /** Number of the last delivery that the first lane took. */
  taken: number;
  /** The next ones behind it, as far as they were read. */
  ahead: WaitingDelivery[];
  /** Whether there may be deliveries behind the last one taken. */
  hasFirst: boolean;
  /** Nothing begins until every call has ended: a retraction is delivered alone, between the old and the new facts. */
  isBarred: boolean;
  /** When the next retry is due, if there is one. */
  retryMs: number | undefined;
  /** A retraction failed and waits for its retry: no later delivery begins before it. */
  hasRetraction: boolean;
  /** Position of the last delivery that the replay lane took, and whether there may be more behind it. */
  replayed: number;
  hasReplay: boolean;
  /** When the next one may begin; 0 for at once. */
  replayMs: number;
  /** A target that keeps failing gets no call until then, and one call at a time; 0 for all others. */
  pausedUntilMs: number;
  /** Whether the last call succeeded quickly. */
  isQuick: boolean;
  /** Target of the last delivery that was read; undefined before the first. */
  target: string | undefined;
};

/** Of which nothing is known but its state in the database. */
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
  pausedUntilMs: 0,
  isQuick: false,
  target: undefined,
});

/** Calls under way, in all lanes. */
export const runningOf = ({ running }: Queue): number => running.first + running.retry + running.replay;

/** Calls of the replay lane under way at once, unless the order is strict. */
const MAX_REPLAYS = 2;

/** When a lane may begin its next call; nothing while it has none to begin. */
export function laneDueMs(queue: Queue, lane: Lane, maxConcurrent: number): number | undefined {
  const { isStrict, running, hasFirst, isBarred, hasRetraction, retryMs, pausedUntilMs } = queue;
  const isAlone = isStrict || pausedUntilMs > 0;
  if (isBarred || (isAlone && runningOf(queue) > 0)) return undefined;
  if (lane === "retry") {
    return retryMs === undefined || running.retry > 0 ? undefined : Math.max(retryMs, pausedUntilMs);
  }
  if (hasRetraction || (isStrict && retryMs !== undefined)) return undefined;
  if (lane === "first") return hasFirst && running.first < maxConcurrent ? pausedUntilMs : undefined;
  const mayReplay = queue.hasReplay && !hasFirst && running.replay < MAX_REPLAYS;
  return mayReplay ? Math.max(queue.replayMs, pausedUntilMs) : undefined;
}

/** Whether nothing would be lost with the queue: it is created again with the next delivery. */
export const isIdle = (queue: Queue, nowMs: number): boolean =>
  runningOf(queue) === 0 &&
  !queue.hasFirst &&
  !queue.hasReplay &&
  queue.retryMs === undefined &&
  queue.pausedUntilMs <= nowMs;
