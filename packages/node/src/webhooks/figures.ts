/** Figures of webhooks and of their queues, for metrics and health checks. Times are milliseconds since 1970. */

export type DeliveryFigures = {
  /** Returns the totals of all webhooks. */
  webhooks(): Promise<WebhookFigures>;
  /** Returns the number of deliveries ever created for each registered webhook, without pings. */
  fired(): Promise<ReadonlyMap<number, number>>;
  /** Returns figures by webhook; omits empty queues and webhooks that are off, whose deliveries are not late. */
  queues(): Promise<ReadonlyMap<number, QueueFigures>>;
};

export type WebhookFigures = {
  readonly active: number;
  readonly disabled: number;
  readonly suspended: number;
  /** Deliveries ever created in this data folder. */
  readonly fired: number;
  /** Events that the matcher has not handled yet. */
  readonly unmatched: number;
  /** Time at which the oldest unmatched event was logged. */
  readonly unmatchedSinceMs?: number;
};

/** Figures of the queue of one webhook, or of all queues. */
export type QueueFigures = {
  /** Deliveries that were never tried. */
  readonly waiting: number;
  /** Deliveries with a failed attempt. */
  readonly retrying: number;
  /** Deliveries of a replay. */
  readonly replaying: number;
  /** Creation time of the oldest pending delivery or retry. */
  readonly oldestMs?: number;
};

/** Adds up the figures of all queues. */
export function totalOf(queues: Iterable<QueueFigures>): QueueFigures {
  const total = { waiting: 0, retrying: 0, replaying: 0 };
  let oldestMs = Number.POSITIVE_INFINITY;
  for (const queue of queues) {
    total.waiting += queue.waiting;
    total.retrying += queue.retrying;
    total.replaying += queue.replaying;
    oldestMs = Math.min(oldestMs, queue.oldestMs ?? Number.POSITIVE_INFINITY);
  }
  return { ...total, ...(oldestMs !== Number.POSITIVE_INFINITY && { oldestMs }) };
}
