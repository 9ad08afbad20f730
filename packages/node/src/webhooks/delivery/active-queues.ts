/** The in-memory queues of webhooks that have work to do. */

import { present } from "../../platform/present.ts";
import type { DeliveryQueue, QueueState } from "../storage/delivery-queue.ts";
import { createQueue, isIdle, type Lane, type Queue, runningOf } from "./lanes.ts";

export type EndedCall = {
  /** Time until which the target gets no calls; 0: no pause. */
  readonly pausedUntilMs: number;
  /** True if the state of the retries in the database may have changed. */
  readonly concernsRetries: boolean;
};

export type QueuesDeps = {
  readonly deliveryQueue: Pick<DeliveryQueue, "states">;
  /** See `Ownership`. Other queues are not read. */
  readonly owns: (webhook: number) => boolean;
  /** Returns the latest time at which a retry can be due. */
  readonly latestMs: () => number;
};

/** Maximum number of idle queues whose last delivery is known; others are read from the first one. */
const MAX_TAKEN = 10_000;

/**
 * Parts of a queue to reload, from the smallest: its state; also its lanes; everything; everything, from the first
 * delivery; the same in a new queue.
 */
const CHANGES = ["state", "lanes", "all", "rewind", "restart"] as const;
type Change = (typeof CHANGES)[number];

/** Changes can be reported at any time; `refresh` applies them, so that a running read cannot undo them. */
export class Queues {
  readonly #deps: QueuesDeps;
  readonly #queues = new Map<number, Queue>();
  /** Last delivery that was taken out of an idle queue, by webhook: a read from the first one could be slow. */
  readonly #taken = new Map<number, number>();
  #changes = new Map<number, Change>();

  constructor(deps: QueuesDeps) {
    this.#deps = deps;
  }

  /** Returns all queues, the most recently called last. */
  all(): Iterable<Queue> {
    return this.#queues.values();
  }

  /** Reports that deliveries entered or left the queue of the webhook. */
  refill(webhook: number): void {
    this.#report(webhook, "lanes");
  }

  /** Reports that another component changed the webhook: drops all cached state. */
  reset(webhook: number): void {
    this.#report(webhook, "all");
  }

  /** Reports that changes of the webhook may have been missed: reads its queue from the first delivery, beside running calls. */
  rewind(webhook: number): void {
    this.#report(webhook, "rewind");
  }

  /** Reports that the queue restarts; running calls stop counting. */
  restart(webhook: number): void {
    this.#report(webhook, "restart");
  }

  /** Records a change; the greater of two changes is applied. */
  #report(webhook: number, change: Change): void {
    const reported = this.#changes.get(webhook);
    if (reported === undefined || CHANGES.indexOf(reported) < CHANGES.indexOf(change))
      this.#changes.set(webhook, change);
  }

  /** Drops the queue from memory: another process owns the webhook. */
  remove(webhook: number): void {
    this.#queues.delete(webhook);
    this.#taken.delete(webhook);
    this.#changes.delete(webhook);
  }

  /** Returns whether calls of this queue may start: the webhook is owned, and the queue was neither removed nor restarted. */
  isCurrent(queue: Queue): boolean {
    const { webhook } = queue;
    return (
      this.#queues.get(webhook) === queue &&
      this.#deps.owns(webhook) &&
      this.#changes.get(webhook) !== "restart"
    );
  }

  /** Returns whether the queue of the webhook is in memory; while a call is running, it is, unless it was removed. */
  has(webhook: number): boolean {
    return this.#queues.has(webhook);
  }

  /** Applies all changes that were reported since the last call, with one database read. */
  async refresh(): Promise<void> {
    const { deliveryQueue, owns, latestMs } = this.#deps;
    const changes = this.#changes;
    if (changes.size === 0) return;
    this.#changes = new Map();
    const states = await deliveryQueue.states([...changes.keys()], latestMs()).catch((error) => {
      for (const [webhook, change] of changes) this.#report(webhook, change);
      throw error;
    });
    for (const [index, [webhook, change]] of [...changes].entries()) {
      if (!owns(webhook)) continue;
      const stored = present(states[index], "the state of a queue");
      const queue = this.#queues.get(webhook);
      if (queue && change !== "restart") apply(change, Object.assign(queue, stored));
      else this.#queues.set(webhook, this.#create(webhook, stored, change));
    }
  }

  #create(webhook: number, stored: QueueState, change: Change): Queue {
    const queue = createQueue(webhook, stored);
    if (change !== "rewind" && change !== "restart") queue.taken = this.#taken.get(webhook) ?? 0;
    this.#taken.delete(webhook);
    return queue;
  }

  /** Reports the start of a call. Moves the queue to the end, so that every due webhook gets its turn. */
  begin(queue: Queue, lane: Lane): void {
    queue.running[lane]++;
    this.#queues.delete(queue.webhook);
    this.#queues.set(queue.webhook, queue);
  }

  /** Reports that a call has ended and its outcome is on disk. */
  end(queue: Queue, lane: Lane, { pausedUntilMs, concernsRetries }: EndedCall): void {
    queue.running[lane]--;
    queue.pausedUntilMs = pausedUntilMs;
    if (runningOf(queue) === 0) queue.isBarred = false;
    if (lane === "replay") Object.assign(queue, { hasReplay: true, replayMs: 0 });
    if (!concernsRetries) return;
    // After a failure, the webhook may be suspended.
    queue.ahead = [];
    this.#report(queue.webhook, "state");
  }

  /** Reports that a delivery of the webhook is no longer under way: held lanes continue. */
  release(webhook: number): void {
    const queue = this.#queues.get(webhook);
    if (!queue || queue.held.size === 0) return;
    queue.held.clear();
    // They may begin with the delivery that was under way.
    queue.ahead = [];
  }

  /** Drops the queue from memory if it is idle. */
  dropIfIdle(queue: Queue, nowMs: number): void {
    if (!isIdle(queue, nowMs)) return;
    this.#queues.delete(queue.webhook);
    if (queue.taken === 0) return;
    if (this.#taken.size >= MAX_TAKEN) this.#taken.delete(present(this.#taken.keys().next().value));
    this.#taken.set(queue.webhook, queue.taken);
  }
}

function apply(change: Change, queue: Queue): void {
  if (change === "state") return;
  Object.assign(queue, { hasFirst: true, hasReplay: true, replayMs: 0 });
  if (change === "lanes") return;
  queue.ahead = [];
  if (change === "all") queue.pausedUntilMs = 0;
  else Object.assign(queue, { taken: 0, replayed: 0 });
}
