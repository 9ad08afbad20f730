/** The queues of webhooks that have something to do, as far as they are in memory. */
import type { DeliveryQueue } from "../delivery-queue.ts";
import { createQueue, isIdle, type Lane, type Queue, runningOf } from "./queue.ts";

/** Calls report changes at any time; `refresh` applies them, so that no read that is under way undoes one. */
export type Queues = {
  /** Those called last come last. */
  all(): Iterable<Queue>;
  /** Deliveries came into the queue of the webhook, or left it. */
  refill(webhook: number): void;
  /** The webhook was changed by another part: nothing that was known of it is valid. */
  reset(webhook: number): void;
  /** The queue begins anew; calls that are under way no longer count. */
  restart(webhook: number): void;
  /** Applies all changes that were reported since the last call, with one read of the database. */
  refresh(): Promise<void>;
  /** A call of the lane begins. The queue goes to the end: with many webhooks due, each of them is served. */
  begin(queue: Queue, lane: Lane): void;
  /** A call has ended, and its outcome is on disk. */
  end(queue: Queue, lane: Lane, ended: EndedCall): void;
  /** Drops the queue from memory if nothing would be lost with it. */
  dropIfIdle(queue: Queue, nowMs: number): void;
};

export type EndedCall = {
  /** Until when the target gets no call; 0: no pause. */
  readonly pausedUntilMs: number;
  /** Whether the state of the retries in the database may have changed. */
  readonly concernsRetries: boolean;
};

export type QueuesDeps = { readonly deliveryQueue: Pick<DeliveryQueue, "states"> };

/** What is to be read again of a queue: its state; its lanes as well; everything; from the beginning. */
const CHANGES = ["state", "lanes", "all", "restart"] as const;
type Change = (typeof CHANGES)[number];

export function createQueues({ deliveryQueue }: QueuesDeps): Queues {
  const queues = new Map<number, Queue>();
  let changes = new Map<number, Change>();

  /** The greater one of two changes is applied. */
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
    let index = 0;
    for (const [webhook, change] of applied) {
      const state = states[index++]!;
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
      // After a failure its webhook may be suspended.
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
