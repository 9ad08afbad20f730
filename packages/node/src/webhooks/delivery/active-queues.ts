/** The in-memory queues of webhooks that have work to do. */

import { present } from "../../platform/present.ts";
import type { DeliveryQueue } from "../delivery-queue.ts";
import { createQueue, isIdle, type Lane, type Queue, runningOf } from "./lanes.ts";

/** Changes can be reported at any time; `refresh` applies them, so that a running read cannot undo them. */
export type Queues = {
  /** Returns all queues, the most recently called last. */
  all(): Iterable<Queue>;
  /** Reports that deliveries entered or left the queue of the webhook. */
  refill(webhook: number): void;
  /** Reports that another component changed the webhook: drops all cached state. */
  reset(webhook: number): void;
  /** Reports that the queue restarts; running calls stop counting. */
  restart(webhook: number): void;
  /** Applies all changes that were reported since the last call, with one database read. */
  refresh(): Promise<void>;
  /** Reports the start of a call. Moves the queue to the end, so that every due webhook gets its turn. */
  begin(queue: Queue, lane: Lane): void;
  /** Reports that a call has ended and its outcome is on disk. */
  end(queue: Queue, lane: Lane, ended: EndedCall): void;
  /** Drops the queue from memory if it is idle. */
  dropIfIdle(queue: Queue, nowMs: number): void;
};

export type EndedCall = {
  /** Time until which the target gets no calls; 0: no pause. */
  readonly pausedUntilMs: number;
  /** True if the state of the retries in the database may have changed. */
  readonly concernsRetries: boolean;
};

export type QueuesDeps = { readonly deliveryQueue: Pick<DeliveryQueue, "states"> };

/**
 * Parts of a queue to reload, from the smallest: its state; also its lanes; everything; everything, from the first
 * delivery.
 */
const CHANGES = ["state", "lanes", "all", "restart"] as const;
type Change = (typeof CHANGES)[number];

export function createQueues({ deliveryQueue }: QueuesDeps): Queues {
  const queues = new Map<number, Queue>();
  let changes = new Map<number, Change>();

  /** Records a change; the greater of two changes is applied. */
  function report(webhook: number, change: Change): void {
    const reported = changes.get(webhook);
    if (reported === undefined || CHANGES.indexOf(reported) < CHANGES.indexOf(change)) {
      changes.set(webhook, change);
    }
  }

  async function refresh(): Promise<void> {
    if (changes.size === 0) return;
    const applied = changes;
    changes = new Map();
    const states = await deliveryQueue.states([...applied.keys()]);
    for (const [index, [webhook, change]] of [...applied].entries()) {
      const state = present(states[index], "the state of a queue");
      const queue = queues.get(webhook);
      if (queue && change !== "restart") apply(change, Object.assign(queue, state));
      else queues.set(webhook, createQueue(webhook, state));
    }
  }

  return {
    all: () => queues.values(),
    refill: (webhook) => report(webhook, "lanes"),
    reset: (webhook) => report(webhook, "all"),
    restart: (webhook) => report(webhook, "restart"),
    refresh,
    begin(queue, lane) {
      queue.running[lane]++;
      queues.delete(queue.webhook);
      queues.set(queue.webhook, queue);
    },
    end(queue, lane, { pausedUntilMs, concernsRetries }) {
      queue.running[lane]--;
      queue.pausedUntilMs = pausedUntilMs;
      if (runningOf(queue) === 0) queue.isBarred = false;
      if (lane === "replay") Object.assign(queue, { hasReplay: true, replayMs: 0 });
      if (!concernsRetries) return;
      // After a failure, the webhook may be suspended.
      queue.ahead = [];
      report(queue.webhook, "state");
    },
    dropIfIdle(queue, nowMs) {
      if (isIdle(queue, nowMs)) queues.delete(queue.webhook);
    },
  };
}

function apply(change: Change, queue: Queue): void {
  if (change === "state") return;
  Object.assign(queue, { hasFirst: true, hasReplay: true, replayMs: 0 });
  if (change === "all") Object.assign(queue, { ahead: [], pausedUntilMs: 0 });
}
