/**
 * The in-memory queues of webhooks that have work to do. A queue has three lanes. First attempts start in the order of events, several
 * at once unless the order is strict. Retries run concurrently, one at a time, so that a failing delivery does not delay others.
 * Replays run when no first attempt is waiting.
 */
import { setNewest } from "../../platform/bounded-entries.ts";
import { present } from "../../platform/present.ts";
import type { WaitingDelivery } from "../model/deliveries.ts";
import type { DeliveryQueue, QueueState } from "../storage/delivery-queue.ts";
import type { Lane } from "../storage/lanes.ts";
import type { Pauses } from "./retry.ts";

type EndedCall = {
  /** Time at which the pauses begin. */
  readonly atMs: number;
  readonly pauses: Pauses;
  /** True if the state of the retries in the database may have changed. */
  readonly concernsRetries: boolean;
};

type QueuesDeps = {
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
  end(queue: Queue, lane: Lane, { atMs, pauses, concernsRetries }: EndedCall): void {
    queue.running[lane]--;
    queue.requestedUntilMs = Math.max(queue.requestedUntilMs, atMs + pauses.requestedMs);
    const untilMs = Math.max(queue.requestedUntilMs, atMs + pauses.probeMs);
    queue.pausedUntilMs = untilMs > atMs ? untilMs : 0;
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

  dropIfIdle(queue: Queue, nowMs: number): void {
    if (!isIdle(queue, nowMs)) return;
    this.#queues.delete(queue.webhook);
    if (queue.taken > 0) setNewest(this.#taken, queue.webhook, queue.taken, MAX_TAKEN);
  }
}

function apply(change: Change, queue: Queue): void {
  if (change === "state") return;
  Object.assign(queue, { hasFirst: true, hasReplay: true, replayMs: 0 });
  if (change === "lanes") return;
  queue.ahead = [];
  if (change === "all") Object.assign(queue, { pausedUntilMs: 0, requestedUntilMs: 0 });
  else Object.assign(queue, { taken: 0, replayed: 0 });
}

export type Queue = {
  readonly webhook: number;
  /** True if a delivery starts only after the previous one has succeeded or finally failed. */
  isStrict: boolean;
  readonly running: Record<Lane, number>;
  /** Number of the last delivery that was read into the first lane. */
  taken: number;
  /** Prefetched deliveries after `taken`. */
  ahead: WaitingDelivery[];
  /** True if there may be deliveries after the last one taken. */
  hasFirst: boolean;
  /** True if no call may start until all have ended: a retraction is delivered alone, between the old and the new facts. */
  isBarred: boolean;
  retryAtMs: number | undefined;
  /** True if a failed retraction waits for its retry: no later delivery starts before it. */
  hasRetraction: boolean;
  /** Position of the last delivery that was read into the replay lane, and whether more may follow. */
  replayed: number;
  hasReplay: boolean;
  /** Earliest time of the next replayed delivery; 0 for now. */
  replayMs: number;
  /** Lanes whose next delivery is already under way; no call of them starts before its outcome is recorded. */
  readonly held: Set<Lane>;
  /** Time until which a failing target gets no call; afterwards one call at a time; 0 for other targets. */
  pausedUntilMs: number;
  /** Time until which the target has requested a pause; it can be past. */
  requestedUntilMs: number;
  /** True if the last call succeeded quickly. */
  isQuick: boolean;
};

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
  held: new Set(),
  pausedUntilMs: 0,
  requestedUntilMs: 0,
  isQuick: false,
});

export const runningOf = ({ running }: Queue): number => running.first + running.retry + running.replay;

/** Maximum of concurrent calls of the replay lane, unless the order is strict. */
const MAX_REPLAYS = 2;

/** Returns when a lane may start its next call; undefined if it has no call to start. */
export function laneDueMs(queue: Queue, lane: Lane, maxConcurrent: number): number | undefined {
  const { isStrict, running, hasFirst, isBarred, hasRetraction, retryAtMs, pausedUntilMs } = queue;
  const isAlone = isStrict || pausedUntilMs > 0;
  if (isBarred || queue.held.has(lane) || (isAlone && runningOf(queue) > 0)) return undefined;
  if (lane === "retry") {
    return retryAtMs === undefined || running.retry > 0 ? undefined : Math.max(retryAtMs, pausedUntilMs);
  }
  if (hasRetraction || (isStrict && retryAtMs !== undefined)) return undefined;
  if (lane === "first") return hasFirst && running.first < maxConcurrent ? pausedUntilMs : undefined;
  const mayReplay = queue.hasReplay && !hasFirst && running.replay < MAX_REPLAYS;
  return mayReplay ? Math.max(queue.replayMs, pausedUntilMs) : undefined;
}

/** Returns whether the queue can be dropped without loss: the next delivery creates it again. */
export const isIdle = (queue: Queue, nowMs: number): boolean =>
  runningOf(queue) === 0 &&
  !queue.hasFirst &&
  !queue.hasReplay &&
  queue.retryAtMs === undefined &&
  queue.pausedUntilMs <= nowMs;
