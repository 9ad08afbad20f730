/**
 * The queue of one webhook, as far as it is in memory: two lanes. First attempts begin in the order of events, several
 * at once unless the order is strict; retries run beside them, one at a time, so that a delivery that fails holds no
 * other one back.
 */

export const LANES = ["first", "retry"] as const;
export type Lane = (typeof LANES)[number];

export type Queue = {
  readonly webhook: number;
  /** A delivery begins only after the one before has succeeded or is given up. */
  isStrict: boolean;
  /** Calls under way. */
  readonly running: Record<Lane, number>;
  /** Number of the last delivery that the first lane took. */
  taken: number;
  /** Whether there may be deliveries behind it. */
  hasFirst: boolean;
  /** Nothing begins until every call has ended: what takes back is told alone, between the old and the new. */
  isBarred: boolean;
  /** When the next retry is due, if there is one. */
  retryMs: number | undefined;
  /** What takes back another delivery failed and waits for its retry: nothing later is told before. */
  isReverting: boolean;
  /** A target that keeps failing is left alone until then, and called once at a time; 0 for all others. */
  heldUntilMs: number;
};

/** What the database says of the queue beside its first attempts. */
export type Retries = Pick<Queue, "retryMs" | "isReverting">;

export const createQueue = (webhook: number, isStrict: boolean, retries: Retries): Queue => ({
  webhook,
  isStrict,
  running: { first: 0, retry: 0 },
  taken: 0,
  hasFirst: true,
  isBarred: false,
  ...retries,
  heldUntilMs: 0,
});

/** When a lane may begin its next call; nothing while it has none to begin. */
export function laneDueMs(queue: Queue, lane: Lane, maxConcurrent: number): number | undefined {
  const { isStrict, running, hasFirst, isBarred, isReverting, retryMs, heldUntilMs } = queue;
  const isAlone = isStrict || heldUntilMs > 0;
  if (isBarred || (isAlone && running.first + running.retry > 0)) return undefined;
  if (lane === "retry") {
    return retryMs === undefined || running.retry > 0 ? undefined : Math.max(retryMs, heldUntilMs);
  }
  if (!hasFirst || running.first >= maxConcurrent) return undefined;
  return isReverting || (isStrict && retryMs !== undefined) ? undefined : heldUntilMs;
}

/** Whether nothing would be lost with the queue: it is made anew with the next delivery. */
export const isIdle = ({ running, hasFirst, retryMs, heldUntilMs }: Queue, nowMs: number): boolean =>
  running.first + running.retry === 0 && !hasFirst && retryMs === undefined && heldUntilMs <= nowMs;
