/** Figures of webhooks and of their queues, for metrics and health checks. Times are milliseconds since 1970. */

export type DeliveryFigures = {
  /** Of all webhooks together. */
  webhooks(): Promise<WebhookFigures>;
  /** Deliveries ever made to each registered webhook, without pings. */
  fired(): Promise<ReadonlyMap<number, number>>;
  /** By webhook; queues that are empty, or of webhooks that are off, are left out: what waits there is not late. */
  queues(): Promise<ReadonlyMap<number, QueueFigures>>;
};

export type WebhookFigures = {
  readonly active: number;
  readonly disabled: number;
  readonly suspended: number;
  /** Deliveries that were ever made in this data folder. */
  readonly fired: number;
  /** Events that the matcher has not handled yet. */
  readonly unmatched: number;
  /** When the oldest of them was logged. */
  readonly unmatchedSinceMs?: number;
};

/** Of the queue of a webhook, or of all. */
export type QueueFigures = {
  /** Deliveries that were never tried. */
  readonly waiting: number;
  /** Deliveries of which an attempt failed. */
  readonly retrying: number;
  /** Deliveries of a replay. */
  readonly replaying: number;
  /** When the oldest delivery was made that waits or is retried. */
  readonly oldestMs?: number;
};

/** All queues as one. */
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
