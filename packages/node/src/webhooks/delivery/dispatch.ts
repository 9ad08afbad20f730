/**
 * Moves deliveries from the queues to their targets: each run records the outcomes of calls, matches new events, and
 * starts the calls that are due. Nothing waits for outcomes, but many commits would delay the next block (decision 21).
 */
import type { Logger } from "pino";
import type { Clock } from "../clock.ts";
import type { WaitingDelivery } from "../deliveries.ts";
import type { DeliveryQueue } from "../delivery-queue.ts";
import type { Matched } from "../matching/matcher.ts";
import type { MakeAttempt } from "./attempt.ts";
import { isQuick } from "./call-slots.ts";
import { createDeliverySource } from "./delivery-source.ts";
import { createDueCalls, type DueOptions } from "./due.ts";
import type { HostRates } from "./host-rate-limit.ts";
import { createInFlight } from "./in-flight.ts";
import type { Outcome } from "./outcome.ts";
import { createOutcomes } from "./outcomes.ts";
import type { Lane, Queue } from "./queue.ts";
import { createQueues } from "./queues.ts";
import { createSchedule } from "./schedule.ts";

export type DispatcherOptions = DueOptions & {
  /** How long `close` waits for responses before it aborts the calls. */
  readonly closeGraceMs: number;
};

export type DispatcherDeps = {
  deliveryQueue: DeliveryQueue;
  match: () => Promise<Matched>;
  /** Background tasks: one step of each runs when no event is waiting to be matched. */
  backgroundTasks: readonly BackgroundTask[];
  outcome: Outcome;
  attempt: MakeAttempt;
  /** Rate limit of the hosts that are called; absent: no limit. */
  rates?: HostRates | undefined;
  /** Called after every run, because finished deliveries may be old enough to be dropped. */
  retain: () => void;
  /** Called after every run, with the error of the database if there was one. */
  runEnded: (error?: unknown) => void;
  clock: Clock;
  logger: Logger;
};

/** Runs one short step. `webhook`: the webhook whose queue has changed, if any; `more`: further steps may follow. */
export type BackgroundTask = () => Promise<{ readonly webhook?: number; readonly more: boolean }>;

export type Dispatcher = {
  /** Runs soon; call it after events were logged or deliveries became due. The first call starts the dispatcher. */
  notify(): void;
  /** Drops the cached queue of a webhook, after another component changed the webhook or its queue. */
  queueChanged(webhook: number): void;
  /** Returns whether a call of a delivery is running, or its outcome is not on disk yet. */
  isUnderWay(delivery: number): boolean;
  /** Restarts the queue of the webhook from its first delivery: running calls are aborted and repeated. */
  queueRestarted(webhook: number): void;
  close(): Promise<void>;
};

/** Pause after a run that failed with an error of the database. */
const ERROR_PAUSE_MS = 1_000;
/** Pause between two steps of the background tasks, for other writers and for requests. */
const TASK_PAUSE_MS = 5;

/** While more calls than this are running, outcomes are written in batches: of half the calls, or after some time. */
const FEW_CALLS = 16;
const GATHER_MS = 2;

export function createDispatcher(options: DispatcherOptions, deps: DispatcherDeps): Dispatcher {
  const { deliveryQueue, rates, clock, logger, outcome } = deps;
  const queues = createQueues({ deliveryQueue });
  /** Numbers of deliveries whose calls are running, or whose outcomes are not on disk yet. */
  const underWay = new Set<number>();
  const outcomes = createOutcomes({
    deliveryQueue,
    queues,
    outcome,
    clock,
    onWritten: ({ delivery }) => void underWay.delete(delivery.number),
  });
  const deliverySource = createDeliverySource({ deliveryQueue, rates });
  const inFlight = createInFlight(clock);
  const due = createDueCalls(options, { queues, deliverySource, rates, begin: call });
  const schedule = createSchedule(clock, () => guarded(run));
  let isStarted = false;
  /** Time of the next steps of the background tasks, if any are left. */
  let tasksDueMs: number | undefined;

  async function run(): Promise<void> {
    if (!isStarted) for (const webhook of await deliveryQueue.webhooks()) queues.refill(webhook);
    isStarted = true;
    await outcomes.write();
    const matched = await deps.match();
    for (const webhook of matched.webhooks) queues.refill(webhook);
    deps.retain();
    tasksDueMs = matched.more ? undefined : await runBackgroundTasks();
    await beginCalls();
    if (matched.more) schedule.notify();
  }

  /** Starts calls that are due, then sleeps; continues in the next run if one comes earlier. */
  async function beginCalls(): Promise<void> {
    if (await due.begin(clock.nowMs())) schedule.continueWith(() => guarded(beginCalls));
    else if (outcomes.size() > 0) gather();
    else sleep();
  }

  /** Runs the work; after a database error, pauses before the next run. */
  async function guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      deps.runEnded();
    } catch (error) {
      deps.runEnded(error);
      logger.error({ err: error }, "webhook deliveries are stalled");
      schedule.pause(ERROR_PAUSE_MS);
    }
  }

  /** Returns the time of the next steps, if any are left. */
  async function runBackgroundTasks(): Promise<number | undefined> {
    let isMore = false;
    for (const task of deps.backgroundTasks) {
      const { webhook, more } = await task();
      if (webhook !== undefined) queues.refill(webhook);
      isMore ||= more;
    }
    return isMore ? clock.nowMs() + TASK_PAUSE_MS : undefined;
  }

  function call(queue: Queue, lane: Lane, delivery: WaitingDelivery): void {
    const { webhook } = queue;
    underWay.add(delivery.number);
    inFlight.begin(async (signal) => {
      const attempted = await deps.attempt(delivery, signal);
      if (!attempted) {
        // Aborted by `close` or `queueRestarted`: the call will be repeated.
        underWay.delete(delivery.number);
        return;
      }
      queue.isQuick = isQuick(attempted);
      if (!queue.isQuick) queue.ahead = [];
      outcomes.add({ webhook, delivery, attempted, queue, lane });
      gather();
    }, webhook);
  }

  /** Delays writing outcomes while batching saves writes. */
  function gather(): void {
    const isWorthwhile = outcomes.size() >= (inFlight.size() - FEW_CALLS) / 2;
    if (isWorthwhile && !schedule.isContinuing()) schedule.notify();
    else schedule.notifyWithin(GATHER_MS);
  }

  /** Sleeps until the next call or background task is due; outcomes notify the dispatcher themselves. */
  function sleep(): void {
    const nowMs = clock.nowMs();
    const nextMs = [tasksDueMs, due.nextMs(nowMs)].filter((atMs) => atMs !== undefined);
    schedule.notifyAfter(nextMs.length === 0 ? undefined : Math.max(0, Math.min(...nextMs) - nowMs));
  }

  return {
    notify: schedule.notify,
    queueChanged(webhook) {
      queues.reset(webhook);
      schedule.notify();
    },
    isUnderWay: (delivery) => underWay.has(delivery),
    queueRestarted(webhook) {
      inFlight.abort(webhook);
      queues.restart(webhook);
      schedule.notify();
    },
    async close() {
      await schedule.close();
      await inFlight.close(options.closeGraceMs);
      while (outcomes.size() > 0) await outcomes.write();
    },
  };
}
