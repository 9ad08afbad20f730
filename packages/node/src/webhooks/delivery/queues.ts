/** The queues of webhooks that have something to do, as far as they are in memory. */
import type { WebhookStore } from "../../store/webhooks/webhooks.ts";
import type { DeliverySource } from "./delivery-source.ts";
import { createQueue, isIdle, type Lane, type Queue, runningOf } from "./queue.ts";

export type Queues = {
  /** Those called last come last. */
  all(): Iterable<Queue>;
  /** The queue of a webhook, read from the database unless it is in memory. */
  open(webhook: number): Queue;
  /** Deliveries came into the queue, or left it. */
  refill(webhook: number): Queue;
  /** The webhook was changed by another part: nothing that was known of it holds. */
  reset(webhook: number): void;
  /** A call of the lane begins. The queue goes to the end: with many webhooks due, each has its turn. */
  begin(queue: Queue, lane: Lane): void;
  /** A call has ended, and its outcome is on the disk. */
  end(queue: Queue, lane: Lane, ended: EndedCall): void;
  /** Forgets the queue if nothing would be lost with it. */
  dropIfIdle(queue: Queue, nowMs: number): void;
};

export type EndedCall = {
  /** Until when the target is left alone; 0: not at all. */
  readonly heldUntilMs: number;
  /** Whether what the database says of retries may have changed. */
  readonly concernsRetries: boolean;
};

export type QueuesDeps = {
  readonly webhooks: Pick<WebhookStore, "isStrict">;
  readonly deliverySource: Pick<DeliverySource, "retriesOf">;
};

export function createQueues({ webhooks, deliverySource }: QueuesDeps): Queues {
  const queues = new Map<number, Queue>();

  function open(webhook: number): Queue {
    const known = queues.get(webhook);
    if (known) return known;
    const queue = createQueue(webhook, webhooks.isStrict(webhook), deliverySource.retriesOf(webhook));
    queues.set(webhook, queue);
    return queue;
  }

  function refill(webhook: number): Queue {
    const queue = open(webhook);
    queue.hasFirst = true;
    queue.hasReplay = true;
    queue.replayMs = 0;
    return Object.assign(queue, deliverySource.retriesOf(webhook));
  }

  return {
    all: () => queues.values(),
    open,
    refill,
    reset(webhook) {
      const queue = refill(webhook);
      queue.ahead = [];
      queue.isStrict = webhooks.isStrict(webhook);
      queue.heldUntilMs = 0;
    },
    begin(queue, lane) {
      queue.running[lane]++;
      queues.delete(queue.webhook);
      queues.set(queue.webhook, queue);
    },
    end(queue, lane, { heldUntilMs, concernsRetries }) {
      queue.running[lane]--;
      queue.heldUntilMs = heldUntilMs;
      if (runningOf(queue) === 0) queue.isBarred = false;
      if (lane === "replay") Object.assign(queue, { hasReplay: true, replayMs: 0 });
      // After a failure its webhook may be suspended.
      if (concernsRetries) Object.assign(queue, { ahead: [], ...deliverySource.retriesOf(queue.webhook) });
    },
    dropIfIdle(queue, nowMs) {
      if (isIdle(queue, nowMs)) queues.delete(queue.webhook);
    },
  };
}
