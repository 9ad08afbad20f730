/** Lanes of deliveries: the table `delivery_lanes`, which triggers of `deliveries` write. */

/** Lanes of pending deliveries. */
export const LANES = ["first", "retry", "replay"] as const;

export type Lane = (typeof LANES)[number];

/** Returns SQL for the entries of a webhook, which is a column or a parameter, in a lane; conditions follow. */
export const entriesOf = (lane: Lane | "failed", webhook: string): string =>
  `delivery_lanes WHERE delivery_lanes.lane = '${lane}' AND delivery_lanes.webhook = ${webhook}`;

/** Returns an SQL condition for deliveries that are in a lane. After a lock, it holds for the locked rows. */
export const isIn = (lane: Lane): string =>
  `lane_of(deliveries.state, deliveries.next_attempt_ms, deliveries.replay) = '${lane}'`;

/** SQL condition for entries of pending deliveries. */
export const IS_PENDING = `delivery_lanes.lane IN (${LANES.map((lane) => `'${lane}'`).join(", ")})`;

/**
 * Returns SQL for the number of pending deliveries of a webhook, which is a column or a parameter. Counts entries of an
 * index: a million pending deliveries cost about 0.2 s of one server process, and 1 s before the first vacuum.
 */
export const pendingCount = (webhook: string): string =>
  `(SELECT count(*) FROM delivery_lanes WHERE ${IS_PENDING} AND delivery_lanes.webhook = ${webhook})`;
