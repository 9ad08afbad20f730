/**
 * Moves deliveries from the queues to their targets: each run begins to record the outcomes of calls, matches new events, and
 * starts the calls that are due. Nothing waits for outcomes, but many commits would delay the next block (decision 20).
 */
import type { Logger } from "pino";
import type { Clock } from "../collaborators.ts";
import type { Matched } from "../matching/matcher.ts";
import type { WaitingDelivery } from "../model/deliveries.ts";
import type { WebhookOptions } from "../options.ts";
import type { DeliveryQueue } from "../storage/delivery-queue.ts";
import type { Lane } from "../storage/lanes.ts";
import { type Queue, Queues } from "./active-queues.ts";
import type { MakeAttempt } from "./attempt.ts";
import type { Consequences } from "./consequences.ts";
import { DeliverySource } from "./delivery-source.ts";
import { DueCalls, type DueOptions, isQuick } from "./due.ts";
import { longestDelayMs } from "./retry.ts";
import { Schedule } from "./schedule.ts";
import { type BackgroundTask, Sources } from "./sources.ts";
import { InFlight, Outcomes, UnderWay } from "./under-way.ts";

type DispatcherOptions = DueOptions &
  Pick<WebhookOptions, "callTimeoutMs" | "retryPausesMs" | "closeGraceMs">;

type DispatcherDeps = {
  deliveryQueue: DeliveryQueue;
  match: () => Promise<Matched>;
  backgroundTasks: readonly BackgroundTask[];
  consequences: Consequences;
  attempt: MakeAttempt;
  /** Called after every run, because finished deliveries may be old enough to be dropped. */
  retain: () => void;
  /** Called after every run, with the error of the database if there was one. */
  runEnded: (error?: unknown) => void;
  clock: Clock;
  logger: Logger;
};

/** Pause after a run that failed with an error of the database. */
const ERROR_PAUSE_MS = 1_000;

/** While more calls than this are running, outcomes are written in batches: of half the calls, or after some time. */
const FEW_CALLS = 16;
const GATHER_MS = 2;

/** Time to start a call and to record its outcome, in addition to its timeout. */
export const CALL_MARGIN_MS = 1_000;

export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #deps: DispatcherDeps;
  readonly #queues: Queues;
  readonly #due: DueCalls;
  readonly #inFlight: InFlight;
  readonly #outcomes: Outcomes;
  readonly #schedule: Schedule;
  readonly #underWay = new UnderWay();
  readonly #sources: Sources;
  /** Time within which a call ends and its outcome is on disk. */
  readonly #finishMs: number;
  /** Queues to read: all at the start; after an error, because the database may have executed a call that failed. */
  #reload: "nothing" | "refill" | "rewind" = "refill";
  /** Message of the last error; undefined after a success. */
  #trouble: string | undefined;

  constructor(options: DispatcherOptions, deps: DispatcherDeps) {
    const { deliveryQueue, clock, consequences, match, backgroundTasks } = deps;
    const { ownership } = deliveryQueue;
    this.#options = options;
    this.#deps = deps;
    this.#finishMs = options.callTimeoutMs + CALL_MARGIN_MS;
    const latestMs = () => clock.steadyMs() + longestDelayMs(options.retryPausesMs);
    const mayBegin = () => ownership.remainingMs() >= this.#finishMs;
    const isUnderWay = (delivery: number) => this.#underWay.has(delivery);
    const queues = new Queues({ deliveryQueue, owns: (webhook) => ownership.owns(webhook), latestMs });
    this.#queues = queues;
    this.#due = new DueCalls(options, {
      ...{ queues, mayBegin },
      deliverySource: new DeliverySource({ deliveryQueue, mayBegin, isUnderWay, latestMs }),
      begin: (queue, lane, delivery) => this.#call(queue, lane, delivery),
    });
    this.#inFlight = new InFlight(clock);
    this.#outcomes = new Outcomes({
      ...{ deliveryQueue, queues, consequences, clock },
      onSettled: ({ webhook, delivery, lane, attempted }) => {
        this.#settled(webhook, delivery.number);
        // The webhook may be suspended, or its replay can continue.
        if (lane !== "first" || attempted.reason !== undefined) this.#sources.wakeTasks();
      },
      onWriteEnded: () => this.#schedule.notify(),
    });
    this.#schedule = new Schedule(clock, () => this.#guarded(() => this.#run()));
    this.#sources = new Sources({
      ...{ match, backgroundTasks, clock },
      onChange: (webhook) => queues.refill(webhook),
    });
  }

  /** Runs soon; call it after events were logged or deliveries became due. The first call starts the dispatcher. */
  notify(): void {
    this.#sources.wake();
    this.#schedule.notify();
  }

  /** Drops the cached queue of a webhook, after another component changed the webhook or its queue. */
  queueChanged(webhook: number): void {
    this.#queues.reset(webhook);
    this.notify();
  }

  /** Returns whether a call of a delivery is running, or its outcome is not on disk yet. */
  isUnderWay(delivery: number): boolean {
    return this.#underWay.has(delivery);
  }

  /** Restarts the queue of the webhook from its first delivery: running calls are aborted and repeated. */
  queueRestarted(webhook: number): void {
    this.#inFlight.abort(webhook);
    this.#queues.restart(webhook);
    this.notify();
  }

  /** Reads all queues again, because changes may have been missed. */
  changesMissed(): void {
    this.#reload = "rewind";
    this.notify();
  }

  /** Reads the queues of webhooks that this process owns from now on. */
  gained(webhooks: readonly number[]): void {
    for (const webhook of webhooks) this.#queues.restart(webhook);
    if (webhooks.length > 0) this.notify();
  }

  /** Aborts the calls of webhooks that another process owns, and drops all that is in memory about them. */
  lost(webhooks: readonly number[]): void {
    for (const webhook of webhooks) {
      this.#queues.remove(webhook);
      this.#inFlight.abort(webhook);
    }
    this.#outcomes.drop(new Set(webhooks));
  }

  /** Settles when every outcome of the webhooks is on disk, or after the timeout of a call. */
  async finishCalls(webhooks: readonly number[]): Promise<void> {
    const timeout = Promise.withResolvers<void>();
    const cancel = this.#deps.clock.after(this.#finishMs, timeout.resolve);
    await Promise.race([this.#underWay.ended(webhooks), timeout.promise]);
    cancel();
  }

  /** @param graceMs time for running calls, by default that of the options */
  async close(graceMs = this.#options.closeGraceMs): Promise<void> {
    await this.#schedule.close();
    await this.#inFlight.close(graceMs);
    await this.#outcomes.writeAll();
  }

  /** Runs the work; after a database error, pauses before the next run. */
  async #guarded(work: () => Promise<void>): Promise<void> {
    const { runEnded, logger } = this.#deps;
    try {
      await work();
      runEnded();
      if (this.#trouble !== undefined) logger.info("webhook deliveries run again");
      this.#trouble = undefined;
    } catch (error) {
      runEnded(error);
      const { message } = error as Error;
      if (message !== this.#trouble)
        logger.error(
          { err: error },
          `failed to run webhook deliveries; retrying every ${ERROR_PAUSE_MS / 1_000} s`,
        );
      this.#trouble = message;
      if (this.#reload === "nothing") this.#reload = "refill";
      this.#sources.wake();
      this.#schedule.pause(ERROR_PAUSE_MS);
    }
  }

  async #run(): Promise<void> {
    await this.#outcomes.write();
    const isMore = await this.#sources.run();
    await this.#readQueues();
    this.#deps.retain();
    await this.#beginCalls();
    if (isMore) this.#schedule.notify();
  }

  async #readQueues(): Promise<void> {
    const reload = this.#reload;
    if (reload === "nothing") return;
    this.#reload = "nothing";
    try {
      for (const webhook of await this.#deps.deliveryQueue.webhooks()) this.#queues[reload](webhook);
    } catch (error) {
      this.#reload = reload;
      throw error;
    }
  }

  /** Starts calls that are due, then sleeps; a notification continues the work in the next run. */
  async #beginCalls(): Promise<void> {
    if (await this.#due.begin(this.#deps.clock.steadyMs()))
      this.#schedule.continueWith(() => this.#guarded(() => this.#beginCalls()));
    else if (this.#outcomes.waiting() > 0) this.#gather();
    else this.#sleep();
  }

  #call(queue: Queue, lane: Lane, delivery: WaitingDelivery): void {
    const { attempt, deliveryQueue } = this.#deps;
    const { webhook } = queue;
    this.#underWay.begin(webhook, delivery.number);
    this.#inFlight.begin(webhook, async (signal) => {
      const epoch = deliveryQueue.ownership.epochOf(webhook);
      const attempted = await attempt({ ...delivery, epoch, isStrict: queue.isStrict }, signal);
      if (!attempted || !this.#queues.has(webhook)) {
        // Aborted by `close`, `queueRestarted` or `lost`: the call will be repeated.
        this.#settled(webhook, delivery.number);
        this.#schedule.notify();
        return;
      }
      queue.isQuick = isQuick(attempted);
      if (!queue.isQuick) queue.ahead = [];
      this.#outcomes.add({ webhook, delivery, attempted, queue, lane });
      this.#gather();
    });
  }

  /** Continues lanes that wait for the end of the call. */
  #settled(webhook: number, delivery: number): void {
    this.#underWay.end(delivery);
    this.#queues.release(webhook);
  }

  /** Delays writing outcomes while batching saves writes. The end of a write notifies the dispatcher itself. */
  #gather(): void {
    if (this.#outcomes.isWriting()) return;
    const isWorthwhile = this.#outcomes.waiting() >= (this.#inFlight.size() - FEW_CALLS) / 2;
    if (isWorthwhile && !this.#schedule.isContinuing()) this.#schedule.notify();
    else this.#schedule.notifyWithin(GATHER_MS);
  }

  /** Sleeps until the next call or background task is due; outcomes notify the dispatcher themselves. */
  #sleep(): void {
    const nowMs = this.#deps.clock.steadyMs();
    const nextMs = [this.#sources.nextMs(), this.#due.nextMs()].filter((atMs) => atMs !== undefined);
    this.#schedule.notifyAfter(nextMs.length === 0 ? undefined : Math.max(0, Math.min(...nextMs) - nowMs));
  }
}
