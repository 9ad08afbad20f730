/**
 * Moves deliveries from the queues to their targets. Whatever happens is written by one turn at a time, and turns that
 * become due together are one: many answers share one write to the disk.
 */
import type { Logger } from "pino";
import { isReversal } from "../../events/catalogue.ts";
import type { Database } from "../../store/database.ts";
import type { DeliveryStore, Waiting } from "../../store/deliveries.ts";
import type { ReplayQueue } from "../../store/replay-queue.ts";
import type { WebhookStore } from "../../store/webhooks.ts";
import type { Clock } from "../clock.ts";
import type { Matched } from "../matching/matcher.ts";
import type { MakeAttempt } from "./attempt.ts";
import type { Ended } from "./outcome.ts";
import { createPlaces, isQuick } from "./places.ts";
import {
  createQueue,
  isIdle,
  LANES,
  type Lane,
  laneDueMs,
  type Queue,
  type Retries,
  runningOf,
} from "./queue.ts";

export type DispatcherOptions = {
  /** Calls under way at once, over all webhooks, the first one of each left out. */
  readonly maxConcurrent: number;
  /** First attempts under way at once in one webhook. */
  readonly maxConcurrentPerWebhook: number;
  /** How long `close` waits for answers before it hangs up. */
  readonly closeGraceMs: number;
};

export type DispatcherDeps = {
  database: Database;
  webhooks: Pick<WebhookStore, "ids" | "isStrict">;
  deliveries: Pick<DeliveryStore, "nextFirsts" | "nextRetry" | "nextRetryMs" | "isReverting">;
  replayQueue: Pick<ReplayQueue, "next">;
  match: () => Matched;
  /** Work that nobody waits for: a step of each is done when no event waits to be matched. */
  chores: readonly Chore[];
  /** Writes what an attempt brought; answers for how long the target is left alone. */
  writeOutcome: (ended: Ended) => number;
  attempt: MakeAttempt;
  /** Called after every turn: what has ended may be old enough to go. */
  retain: () => void;
  /** Called after every turn, with the error that holds everything up if there was one. */
  turned: (error?: unknown) => void;
  clock: Clock;
  logger: Logger;
};

/** Does a little; `webhook` is the one whose queue has changed, if one has. */
export type Chore = () => { readonly webhook?: number; readonly more: boolean };

export type Dispatcher = {
  /** Events were logged, or deliveries may be due: looks soon. The first call starts the dispatcher. */
  wake(): void;
  /** The webhook, or what waits for it, was changed by somebody else: forgets what was known of it. */
  look(webhook: number): void;
  close(): Promise<void>;
};

/** Pause after a turn that the database refused. */
const TROUBLE_PAUSE_MS = 1_000;
/** Pause between two steps of a chore: other writers come between, and this thread has time for others. */
const CHORE_PAUSE_MS = 5;

/** Outcomes are written together: when this share of the calls has ended, or so long after the first of them. */
const GATHERED_SHARE = 8;
const GATHER_MS = 2;

/** An attempt whose outcome is not written yet, with the place that it holds. */
type Unwritten = Ended & { readonly queue: Queue; readonly lane: Lane };

export function createDispatcher(options: DispatcherOptions, deps: DispatcherDeps): Dispatcher {
  const { database, deliveries, clock, logger } = deps;
  const abort = new AbortController();
  /** By webhook; those called last come last. */
  const queues = new Map<number, Queue>();
  const calls = new Set<Promise<void>>();
  /** First attempts that were read in one go, for the turn that begins calls. */
  const ahead = new Map<Queue, Waiting[]>();
  let unwritten: Unwritten[] = [];
  let isStarted = false;
  let isClosing = false;
  let isScheduled = false;
  let cancelTimer = () => {};
  let cancelGathering: (() => void) | undefined;

  function wake(): void {
    if (isScheduled || isClosing) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      if (!isClosing) turn();
    });
  }

  function turn(): void {
    cancelTimer();
    cancelGathering?.();
    cancelGathering = undefined;
    try {
      if (!isStarted) start();
      const matched = write();
      for (const webhook of matched.webhooks) refill(webhook);
      deps.retain();
      const choreMs = matched.more ? undefined : doChores();
      call();
      if (matched.more) wake();
      else sleep(choreMs);
      deps.turned();
    } catch (error) {
      deps.turned(error);
      logger.error({ err: error }, "webhook deliveries are held up");
      pause();
    }
  }

  /** Whatever happens meanwhile waits for the next turn. */
  function pause(): void {
    isScheduled = true;
    cancelTimer = clock.after(TROUBLE_PAUSE_MS, () => {
      isScheduled = false;
      wake();
    });
  }

  /** When the next steps are to follow, if there are some. */
  function doChores(): number | undefined {
    const done = deps.chores.map((chore) => chore());
    for (const { webhook } of done) if (webhook !== undefined) refill(webhook);
    return done.some(({ more }) => more) ? clock.nowMs() + CHORE_PAUSE_MS : undefined;
  }

  /** Takes up what an earlier process left. */
  function start(): void {
    for (const webhook of deps.webhooks.ids()) queueOf(webhook);
    isStarted = true;
  }

  /**
   * Nothing in memory changes before it is in the database. A new delivery is on the disk before it is sent; for an
   * outcome nobody waits: if the loss of power takes it back, the delivery comes again, with the same id.
   */
  function write(): Matched {
    const attempts = unwritten;
    const settled =
      attempts.length > 0 ? database.transaction(() => attempts.map(settle), "process death") : [];
    unwritten = unwritten.slice(attempts.length);
    for (const { queue, lane, heldUntilMs, concernsRetries } of settled) {
      queue.running[lane]--;
      queue.heldUntilMs = heldUntilMs;
      if (runningOf(queue) === 0) queue.isBarred = false;
      if (lane === "replay") Object.assign(queue, { hasReplay: true, replayMs: 0 });
      if (concernsRetries) Object.assign(queue, retriesOf(queue.webhook));
    }
    return deps.match();
  }

  /** Writes the outcome; the answer is how the queue stands then. */
  function settle({ queue, lane, ...ended }: Unwritten) {
    const pauseMs = deps.writeOutcome(ended);
    const heldUntilMs = pauseMs > 0 ? clock.nowMs() + pauseMs : 0;
    const concernsRetries = lane !== "first" || ended.attempted.reason !== undefined;
    return { queue, lane, heldUntilMs, concernsRetries };
  }

  /** Begins every call that is due, as long as there is room: one of each queue, then the next one of each. */
  function call(): void {
    const nowMs = clock.nowMs();
    const places = createPlaces(queues.values(), options.maxConcurrent);
    let more = true;
    ahead.clear();
    while (more) {
      more = false;
      for (const queue of [...queues.values()]) {
        for (const lane of LANES) {
          const isNext = places.isFree(queue, lane) && isDue(queue, lane, nowMs);
          const delivery = isNext ? take(queue, lane, nowMs) : undefined;
          if (delivery) {
            places.take(queue);
            begin(queue, lane, delivery);
          }
          more ||= delivery !== undefined;
        }
        if (isIdle(queue, nowMs)) queues.delete(queue.webhook);
      }
    }
  }

  function isDue(queue: Queue, lane: Lane, nowMs: number): boolean {
    const dueMs = dueMsOf(queue, lane);
    return dueMs !== undefined && dueMs <= nowMs;
  }

  const dueMsOf = (queue: Queue, lane: Lane) => laneDueMs(queue, lane, options.maxConcurrentPerWebhook);

  function begin(queue: Queue, lane: Lane, delivery: Waiting): void {
    queue.running[lane]++;
    // To the end: with many webhooks due, each has its turn.
    queues.delete(queue.webhook);
    queues.set(queue.webhook, queue);
    const attempt = send(queue, lane, delivery).finally(() => calls.delete(attempt));
    calls.add(attempt);
  }

  function take(queue: Queue, lane: Lane, nowMs: number): Waiting | undefined {
    const { webhook } = queue;
    if (lane === "first") return takeFirst(queue);
    if (lane === "replay") return takeReplay(queue, nowMs);
    const delivery = deliveries.nextRetry(webhook, nowMs);
    // Cancelled meanwhile: perhaps a later one is left.
    if (!delivery) Object.assign(queue, retriesOf(webhook));
    return delivery;
  }

  function takeFirst(queue: Queue): Waiting | undefined {
    const waiting = ahead.get(queue) ?? [];
    if (waiting.length === 0) waiting.push(...readAhead(queue));
    ahead.set(queue, waiting);
    const [delivery] = waiting;
    if (!delivery) {
      queue.hasFirst = false;
      return undefined;
    }
    if (isReversal(delivery.event)) {
      queue.isBarred = true;
      if (runningOf(queue) > 0) return undefined;
    }
    waiting.shift();
    queue.taken = delivery.number;
    return delivery;
  }

  /** As many as may begin now. */
  function readAhead({ webhook, taken, running, isStrict }: Queue): Waiting[] {
    const limit = isStrict ? 1 : options.maxConcurrentPerWebhook - running.first;
    return deliveries.nextFirsts(webhook, taken, limit);
  }

  function takeReplay(queue: Queue, nowMs: number): Waiting | undefined {
    // What is behind those under way. In strict order, one that failed is the next again.
    const after = queue.running.replay === 0 ? 0 : queue.replayed;
    const delivery = deps.replayQueue.next(queue.webhook, after);
    queue.hasReplay = delivery !== undefined;
    queue.replayMs = delivery?.nextAttemptMs ?? 0;
    if (!delivery || queue.replayMs > nowMs) return undefined;
    queue.replayed = delivery.place;
    return delivery;
  }

  async function send(queue: Queue, lane: Lane, delivery: Waiting): Promise<void> {
    const attempted = await deps.attempt(delivery, abort.signal);
    // Hung up by `close`: it is made again after the next start.
    if (!attempted) return;
    queue.isQuick = isQuick(attempted);
    unwritten.push({ webhook: queue.webhook, delivery, attempted, queue, lane });
    if (unwritten.length >= calls.size / GATHERED_SHARE) wake();
    else cancelGathering ??= clock.after(GATHER_MS, wake);
  }

  /** Until the next call is due, or something else; answers wake the dispatcher themselves. */
  function sleep(otherMs = Number.POSITIVE_INFINITY): void {
    const places = createPlaces(queues.values(), options.maxConcurrent);
    const due = [...queues.values()].flatMap((queue) =>
      LANES.filter((lane) => places.isFree(queue, lane)).map(
        (lane) => dueMsOf(queue, lane) ?? Number.POSITIVE_INFINITY,
      ),
    );
    const nextMs = Math.min(otherMs, ...due);
    if (nextMs !== Number.POSITIVE_INFINITY) {
      cancelTimer = clock.after(Math.max(0, nextMs - clock.nowMs()), wake);
    }
  }

  function queueOf(webhook: number): Queue {
    const known = queues.get(webhook);
    if (known) return known;
    const queue = createQueue(webhook, deps.webhooks.isStrict(webhook), retriesOf(webhook));
    queues.set(webhook, queue);
    return queue;
  }

  /** Deliveries came into the queue, or left it. */
  function refill(webhook: number): Queue {
    const queue = queueOf(webhook);
    queue.hasFirst = true;
    queue.hasReplay = true;
    queue.replayMs = 0;
    return Object.assign(queue, retriesOf(webhook));
  }

  const retriesOf = (webhook: number): Retries => ({
    retryMs: deliveries.nextRetryMs(webhook),
    isReverting: deliveries.isReverting(webhook),
  });

  return {
    wake,
    look(webhook) {
      const queue = refill(webhook);
      queue.isStrict = deps.webhooks.isStrict(webhook);
      queue.heldUntilMs = 0;
      wake();
    },
    async close() {
      isClosing = true;
      cancelTimer();
      cancelGathering?.();
      const answered = Promise.all(calls);
      const grace = Promise.withResolvers<void>();
      const cancelGrace = clock.after(options.closeGraceMs, grace.resolve);
      await Promise.race([answered, grace.promise]);
      cancelGrace();
      abort.abort();
      await answered;
      if (unwritten.length > 0) write();
    },
  };
}
