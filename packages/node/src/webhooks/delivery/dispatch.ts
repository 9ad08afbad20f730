/**
 * Moves deliveries from the queues to their targets: each run begins to record the outcomes of calls, matches new events, and
 * starts the calls that are due. Nothing waits for outcomes, but many commits would delay the next block (decision 20).
 */
import type { Logger } from "pino";
import type { Clock } from "../collaborators.ts";
import type { Matched } from "../matching/matcher.ts";
import type { WaitingDelivery } from "../model/deliveries.ts";
import type { DeliveryQueue } from "../storage/delivery-queue.ts";
import { Queues } from "./active-queues.ts";
import type { MakeAttempt } from "./attempt.ts";
import type { Consequences } from "./consequences.ts";
import { createDeliverySource } from "./delivery-source.ts";
import { createDueCalls, type DueCalls, type DueOptions, isQuick } from "./due.ts";
import type { HostRates } from "./host-rate-limit.ts";
import { createInFlight, createUnderWay, type InFlight, type UnderWay } from "./in-flight.ts";
import type { Lane, Queue } from "./lanes.ts";
import { CALL_MARGIN_MS, createOwnedWebhooks, type OwnedWebhooks } from "./owned-webhooks.ts";
import { longestDelayMs } from "./retry.ts";
import { Schedule } from "./schedule.ts";
import { type BackgroundTask, Sources } from "./sources.ts";
import { Outcomes, type Unwritten } from "./unwritten-outcomes.ts";

export type DispatcherOptions = DueOptions & {
  /** Time within which every call ends. A call starts only if this process owns its webhook for as long. */
  readonly callTimeoutMs: number;
  /** Pauses between attempts: see `nextAttemptAt`. */
  readonly retryPausesMs: readonly number[];
  /** Time that `close` waits for responses before it aborts the calls. */
  readonly closeGraceMs: number;
};

export type DispatcherDeps = {
  deliveryQueue: DeliveryQueue;
  match: () => Promise<Matched>;
  backgroundTasks: readonly BackgroundTask[];
  consequences: Consequences;
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

export type Dispatcher = OwnedWebhooks & {
  /** Runs soon; call it after events were logged or deliveries became due. The first call starts the dispatcher. */
  notify(): void;
  /** Drops the cached queue of a webhook, after another component changed the webhook or its queue. */
  queueChanged(webhook: number): void;
  /** Returns whether a call of a delivery is running, or its outcome is not on disk yet. */
  isUnderWay(delivery: number): boolean;
  /** Restarts the queue of the webhook from its first delivery: running calls are aborted and repeated. */
  queueRestarted(webhook: number): void;
  /** Reads all queues again, because changes may have been missed. */
  changesMissed(): void;
  /** @param graceMs time for running calls, by default that of the options */
  close(graceMs?: number): Promise<void>;
};

/** Pause after a run that failed with an error of the database. */
const ERROR_PAUSE_MS = 1_000;

/** While more calls than this are running, outcomes are written in batches: of half the calls, or after some time. */
const FEW_CALLS = 16;
const GATHER_MS = 2;

type State = {
  readonly deps: DispatcherDeps;
  readonly queues: Queues;
  readonly due: DueCalls;
  readonly inFlight: InFlight;
  readonly outcomes: Outcomes;
  readonly schedule: Schedule;
  readonly underWay: UnderWay;
  readonly sources: Sources;
  /** Queues to read: all at the start; after an error, because the database may have executed a call that failed. */
  reload: "nothing" | "refill" | "rewind";
  /** Message of the last error; undefined after a success. */
  trouble: string | undefined;
};

export function createDispatcher(options: DispatcherOptions, deps: DispatcherDeps): Dispatcher {
  const state = createState(options, deps);
  const { queues, inFlight, outcomes, schedule, underWay } = state;
  const notify = () => {
    state.sources.wake();
    schedule.notify();
  };
  return {
    notify,
    queueChanged(webhook) {
      queues.reset(webhook);
      notify();
    },
    isUnderWay: underWay.has,
    queueRestarted(webhook) {
      inFlight.abort(webhook);
      queues.restart(webhook);
      notify();
    },
    changesMissed() {
      state.reload = "rewind";
      notify();
    },
    ...createOwnedWebhooks({
      ...state,
      notify,
      clock: deps.clock,
      finishMs: options.callTimeoutMs + CALL_MARGIN_MS,
    }),
    async close(graceMs = options.closeGraceMs) {
      await schedule.close();
      await inFlight.close(graceMs);
      await outcomes.writeAll();
    },
  };
}

function createState(options: DispatcherOptions, deps: DispatcherDeps): State {
  const { deliveryQueue, rates, clock, consequences, match, backgroundTasks } = deps;
  const latestMs = () => clock.steadyMs() + longestDelayMs(options.retryPausesMs);
  const queues = new Queues({ deliveryQueue, owns: deliveryQueue.ownership.owns, latestMs });
  const underWay = createUnderWay();
  const mayBegin = () => deliveryQueue.ownership.remainingMs() >= options.callTimeoutMs + CALL_MARGIN_MS;
  const deliverySource = createDeliverySource({
    ...{ deliveryQueue, mayBegin, isUnderWay: underWay.has, latestMs, rates },
  });
  const onSettled = ({ webhook, delivery, lane, attempted }: Unwritten) => {
    settled(state, webhook, delivery.number);
    // The webhook may be suspended, or its replay can continue.
    if (lane !== "first" || attempted.reason !== undefined) state.sources.wakeTasks();
  };
  const state: State = {
    deps,
    queues,
    due: createDueCalls(options, {
      queues,
      deliverySource,
      mayBegin,
      rates,
      begin: (queue, lane, delivery) => call(state, queue, lane, delivery),
    }),
    inFlight: createInFlight(clock),
    outcomes: new Outcomes({
      ...{ deliveryQueue, queues, consequences, clock, onSettled },
      onWriteEnded: () => state.schedule.notify(),
    }),
    schedule: new Schedule(clock, () => guarded(state, run)),
    underWay,
    sources: new Sources({ match, backgroundTasks, clock, onChange: (webhook) => queues.refill(webhook) }),
    reload: "refill",
    trouble: undefined,
  };
  return state;
}

/** Runs the work; after a database error, pauses before the next run. */
async function guarded(state: State, work: (state: State) => Promise<void>): Promise<void> {
  const { runEnded, logger } = state.deps;
  try {
    await work(state);
    runEnded();
    if (state.trouble !== undefined) logger.info("webhook deliveries run again");
    state.trouble = undefined;
  } catch (error) {
    runEnded(error);
    const { message } = error as Error;
    if (message !== state.trouble)
      logger.error(
        { err: error },
        `failed to run webhook deliveries; retrying every ${ERROR_PAUSE_MS / 1_000} s`,
      );
    state.trouble = message;
    if (state.reload === "nothing") state.reload = "refill";
    state.sources.wake();
    state.schedule.pause(ERROR_PAUSE_MS);
  }
}

async function run(state: State): Promise<void> {
  const { deps, outcomes, sources, schedule } = state;
  await outcomes.write();
  const isMore = await sources.run();
  await reload(state);
  deps.retain();
  await beginCalls(state);
  if (isMore) schedule.notify();
}

async function reload(state: State): Promise<void> {
  const { deps, queues, reload } = state;
  if (reload === "nothing") return;
  state.reload = "nothing";
  try {
    for (const webhook of await deps.deliveryQueue.webhooks()) queues[reload](webhook);
  } catch (error) {
    state.reload = reload;
    throw error;
  }
}

/** Starts calls that are due, then sleeps; a notification continues the work in the next run. */
async function beginCalls(state: State): Promise<void> {
  const { deps, due, outcomes, schedule } = state;
  if (await due.begin(deps.clock.steadyMs())) schedule.continueWith(() => guarded(state, beginCalls));
  else if (outcomes.waiting() > 0) gather(state);
  else sleep(state);
}

function call(state: State, queue: Queue, lane: Lane, delivery: WaitingDelivery): void {
  const { deps, queues, underWay, inFlight, outcomes, schedule } = state;
  const { webhook } = queue;
  underWay.begin(webhook, delivery.number);
  inFlight.begin(async (signal) => {
    const epoch = deps.deliveryQueue.ownership.epochOf(webhook);
    const attempted = await deps.attempt({ ...delivery, epoch, isStrict: queue.isStrict }, signal);
    if (!attempted || !queues.has(webhook)) {
      // Aborted by `close`, `queueRestarted` or `lost`: the call will be repeated.
      settled(state, webhook, delivery.number);
      schedule.notify();
      return;
    }
    queue.isQuick = isQuick(attempted);
    if (!queue.isQuick) queue.ahead = [];
    outcomes.add({ webhook, delivery, attempted, queue, lane });
    gather(state);
  }, webhook);
}

/** Continues lanes that wait for the end of the call. */
function settled({ underWay, queues }: State, webhook: number, delivery: number): void {
  underWay.end(delivery);
  queues.release(webhook);
}

/** Delays writing outcomes while batching saves writes. The end of a write notifies the dispatcher itself. */
function gather({ outcomes, inFlight, schedule }: State): void {
  if (outcomes.isWriting()) return;
  const isWorthwhile = outcomes.waiting() >= (inFlight.size() - FEW_CALLS) / 2;
  if (isWorthwhile && !schedule.isContinuing()) schedule.notify();
  else schedule.notifyWithin(GATHER_MS);
}

/** Sleeps until the next call or background task is due; outcomes notify the dispatcher themselves. */
function sleep({ deps, due, schedule, sources }: State): void {
  const nowMs = deps.clock.steadyMs();
  const nextMs = [sources.nextMs(), due.nextMs(nowMs)].filter((atMs) => atMs !== undefined);
  schedule.notifyAfter(nextMs.length === 0 ? undefined : Math.max(0, Math.min(...nextMs) - nowMs));
}
