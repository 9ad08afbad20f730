/**
 * The queue of one webhook, as far as it is in memory: two lanes, each with one call at a time. First attempts run in
 * the order of events; retries run beside them, so that a delivery that fails holds no other one back.
 */

export const LANES = ["first", "retry"] as const;
export type Lane = (typeof LANES)[number];

export type Queue = {
  readonly webhook: number;
  readonly running: Set<Lane>;
  /** Whether there may be deliveries that were never tried. */
  hasFirst: boolean;
  /** When the next retry is due, if there is one. */
  retryMs: number | undefined;
  /** A target that keeps failing is left alone until then, and called once at a time; 0 for all others. */
  heldUntilMs: number;
};

export const createQueue = (webhook: number, retryMs: number | undefined): Queue => ({
  webhook,
  running: new Set(),
  hasFirst: true,
  retryMs,
  heldUntilMs: 0,
});

/**
 * When a lane may make its next call; nothing while it has none to make. In strict order a failed delivery holds back
 * the later ones until it has succeeded or is given up.
 */
export function laneDueMs(queue: Queue, lane: Lane, strictOrder: boolean): number | undefined {
  const { running, hasFirst, retryMs, heldUntilMs } = queue;
  const isAlone = strictOrder || heldUntilMs > 0;
  if (running.has(lane) || (isAlone && running.size > 0)) return undefined;
  if (lane === "retry") return retryMs === undefined ? undefined : Math.max(retryMs, heldUntilMs);
  if (!hasFirst || (strictOrder && retryMs !== undefined)) return undefined;
  return heldUntilMs;
}

/** Whether nothing would be lost with the queue: it is made anew with the next delivery. */
export const isIdle = ({ running, hasFirst, retryMs, heldUntilMs }: Queue, nowMs: number): boolean =>
  running.size === 0 && !hasFirst && retryMs === undefined && heldUntilMs <= nowMs;
