/** The in-memory queues of webhooks that have work to do. */

import { present } from "../../platform/present.ts";
import type { DeliveryQueue, QueueState } from "../delivery-queue.ts";
import { createQueue, isIdle, type Lane, type Queue, runningOf } from "./lanes.ts";

/** Changes can be reported at any time; `refresh` applies them, so that a running read cannot undo them. */
export type Queues = {
  /** Returns all queues, the most recently called last. */
  all(): Iterable<Queue>;
  /** Reports that deliveries entered or left the queue of the webhook. */
  refill(webhook: number): void;
  /** Reports that another component changed the webhook: drops all cached state. */
  reset(webhook: number): void;
  /** Reports that changes of the webhook may have been missed: reads its queue from the first delivery, beside running calls. */
  rewind(webhook: number): void;
  /** Reports that the queue restarts; running calls stop counting. */
  restart(webhook: number): void;
  /** Drops the queue from memory: another process owns the webhook. */
  remove(webhook: number): void;
  /** Returns whether calls of this queue may start: the webhook is owned, and the queue was neither removed nor restarted. */
  isCurrent(queue: Queue): boolean;
  /** Returns whether the queue of the webhook is in memory; while a call is running, it is, unless it was removed. */
  has(webhook: number): boolean;
  /** Applies all changes that were reported since the last call, with one database read. */
  refresh(): Promise<void>;
  /** Reports the start of a call. Moves the queue to the end, so that every due webhook gets its turn. */
  begin(queue: Queue, lane: Lane): void;
  /** Reports that a call has ended and its outcome is on disk. */
  end(queue: Queue, lane: Lane, ended: EndedCall): void;
  /** Reports that a delivery of the webhook is no longer under way: held lanes continue. */
  release(webhook: number): void;
  /** Drops the queue from memory if it is idle. */
  dropIfIdle(queue: Queue, nowMs: number): void;
};

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

type State = QueuesDeps & {
  readonly queues: Map<number, Queue>;
  /** Last delivery that was taken out of an idle queue, by webhook: a read from the first one could be slow. */
  readonly taken: Map<number, number>;
  changes: Map<number, Change>;
};

export function createQueues(deps: QueuesDeps): Queues {
  const state: State = { ...deps, queues: new Map(), taken: new Map(), changes: new Map() };
  const { queues, taken } = state;
  return {
    all: () => queues.values(),
    refill: (webhook) => report(state, webhook, "lanes"),
    reset: (webhook) => report(state, webhook, "all"),
    rewind: (webhook) => report(state, webhook, "rewind"),
    restart: (webhook) => report(state, webhook, "restart"),
    remove(webhook) {
      queues.delete(webhook);
      taken.delete(webhook);
      state.changes.delete(webhook);
    },
    isCurrent: (queue) => isCurrent(state, queue),
    has: (webhook) => queues.has(webhook),
    refresh: () => refresh(state),
    begin(queue, lane) {
      queue.running[lane]++;
      queues.delete(queue.webhook);
      queues.set(queue.webhook, queue);
    },
    end: (queue, lane, ended) => end(state, queue, lane, ended),
    release: (webhook) => release(queues.get(webhook)),
    dropIfIdle(queue, nowMs) {
      if (!isIdle(queue, nowMs)) return;
      queues.delete(queue.webhook);
      if (queue.taken === 0) return;
      if (taken.size >= MAX_TAKEN) taken.delete(present(taken.keys().next().value));
      taken.set(queue.webhook, queue.taken);
    },
  };
}

/** Records a change; the greater of two changes is applied. */
function report({ changes }: State, webhook: number, change: Change): void {
  const reported = changes.get(webhook);
  if (reported === undefined || CHANGES.indexOf(reported) < CHANGES.indexOf(change)) {
    changes.set(webhook, change);
  }
}

const isCurrent = ({ queues, owns, changes }: State, queue: Queue): boolean =>
  queues.get(queue.webhook) === queue && owns(queue.webhook) && changes.get(queue.webhook) !== "restart";

async function refresh(state: State): Promise<void> {
  const { deliveryQueue, queues, owns, latestMs, changes } = state;
  if (changes.size === 0) return;
  state.changes = new Map();
  const states = await deliveryQueue.states([...changes.keys()], latestMs()).catch((error) => {
    for (const [webhook, change] of changes) report(state, webhook, change);
    throw error;
  });
  for (const [index, [webhook, change]] of [...changes].entries()) {
    if (!owns(webhook)) continue;
    const stored = present(states[index], "the state of a queue");
    const queue = queues.get(webhook);
    if (queue && change !== "restart") apply(change, Object.assign(queue, stored));
    else queues.set(webhook, create(state, webhook, stored, change));
  }
}

function create({ taken }: State, webhook: number, stored: QueueState, change: Change): Queue {
  const queue = createQueue(webhook, stored);
  if (change !== "rewind" && change !== "restart") queue.taken = taken.get(webhook) ?? 0;
  taken.delete(webhook);
  return queue;
}

function end(state: State, queue: Queue, lane: Lane, { pausedUntilMs, concernsRetries }: EndedCall): void {
  queue.running[lane]--;
  queue.pausedUntilMs = pausedUntilMs;
  if (runningOf(queue) === 0) queue.isBarred = false;
  if (lane === "replay") Object.assign(queue, { hasReplay: true, replayMs: 0 });
  if (!concernsRetries) return;
  // After a failure, the webhook may be suspended.
  queue.ahead = [];
  report(state, queue.webhook, "state");
}

function release(queue: Queue | undefined): void {
  if (!queue || queue.held.size === 0) return;
  queue.held.clear();
  // They may begin with the delivery that was under way.
  queue.ahead = [];
}

function apply(change: Change, queue: Queue): void {
  if (change === "state") return;
  Object.assign(queue, { hasFirst: true, hasReplay: true, replayMs: 0 });
  if (change === "lanes") return;
  queue.ahead = [];
  if (change === "all") queue.pausedUntilMs = 0;
  else Object.assign(queue, { taken: 0, replayed: 0 });
}
