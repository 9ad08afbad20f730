/**
 * Moves deliveries from the queues to their targets. Whatever happens is written by one turn at a time, and turns that
 * become due together are one: many answers share one write to the disk.
 */
import type { Logger } from "pino";
import type { Database } from "../../store/engine/database.ts";
import type { Waiting } from "../../store/webhooks/deliveries.ts";
import type { WebhookStore } from "../../store/webhooks/webhooks.ts";
import type { Clock } from "../clock.ts";
import type { Matched } from "../matching/matcher.ts";
import type { MakeAttempt } from "./attempt.ts";
import type { Ended } from "./outcome.ts";
import { createPlaces, isQuick } from "./places.ts";
import { createQueue, isIdle, LANES, type Lane, laneDueMs, type Queue, runningOf } from "./queue.ts";
import type { Take } from "./take.ts";

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
  take: Take;
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

/** While more than a few calls are under way, outcomes are written together: those of half of them, or of some time. */
const FEW_CALLS = 16;
const GATHER_MS = 2;
/**
 * Calls that are begun in one go. Between two goes answers are read: where targets answer at once, few connections carry
 * many deliveries, and each is cheaper by a third for it.
 */
const CALLS_AT_ONCE = 32;

/** Outcomes that are written in one turn: where a thousand targets hang, their time is up in the same moment. */
const OUTCOMES_AT_ONCE = 250;

/** An attempt whose outcome is not written yet, with the place that it holds. */
type Unwritten = Ended & { readonly queue: Queue; readonly lane: Lane };

export function createDispatcher(options: DispatcherOptions, deps: DispatcherDeps): Dispatcher {
  const { database, take, clock, logger } = deps;
  const abort = new AbortController();
  /** By webhook; those called last come last. */
  const queues = new Map<number, Queue>();
  const calls = new Set<Promise<void>>();
  let unwritten: Unwritten[] = [];
  let isStarted = false;
  let isClosing = false;
  let isScheduled = false;
  /** Further calls are due, and begun soon. */
  let isCalling = false;
  /** When the next steps of the chores follow, if there are some. */
  let choresMs: number | undefined;
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
    careful(() => {
      if (!isStarted) start();
      const matched = write();
      for (const webhook of matched.webhooks) refill(webhook);
      deps.retain();
      choresMs = matched.more ? undefined : doChores();
      callSome();
      if (matched.more) wake();
    });
  }

  /** Begins calls that are due, and then waits for what follows. The next turn does it if one comes before. */
  function callSome(): void {
    if (call()) {
      isCalling = true;
      setImmediate(() => {
        isCalling = false;
        if (!isScheduled && !isClosing) careful(callSome);
      });
    } else if (unwritten.length > 0) gather();
    else sleep();
  }

  /** Runs a part of a turn; an error of the database is not the end of it all. */
  function careful(work: () => void): void {
    try {
      work();
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

  /** Answers when the next steps are to follow, if there are some. */
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
   * Nothing in memory changes before it is on the disk. For outcomes nobody has to wait, but what many commits leave to
   * the disk is what the next block waits for (decision 21).
   */
  function write(): Matched {
    const attempts = unwritten.slice(0, OUTCOMES_AT_ONCE);
    const settled = attempts.length > 0 ? database.transaction(() => attempts.map(settle)) : [];
    unwritten = unwritten.slice(attempts.length);
    for (const { queue, lane, heldUntilMs, concernsRetries } of settled) {
      queue.running[lane]--;
      queue.heldUntilMs = heldUntilMs;
      if (runningOf(queue) === 0) queue.isBarred = false;
      if (lane === "replay") Object.assign(queue, { hasReplay: true, replayMs: 0 });
      // After a failure its webhook may be suspended.
      if (concernsRetries) Object.assign(queue, { ahead: [], ...take.retriesOf(queue.webhook) });
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

  /**
   * Begins calls that are due, as long as there is room: one of each queue, then the next one of each. `true`: there may
   * be more of them.
   */
  function call(): boolean {
    const nowMs = clock.nowMs();
    const places = createPlaces(queues.values(), options.maxConcurrent);
    let more = true;
    let begun = 0;
    while (more) {
      more = false;
      for (const queue of [...queues.values()]) {
        if (begun >= CALLS_AT_ONCE) return true;
        for (const lane of LANES) {
          const isNext = places.isFree(queue, lane) && isDue(queue, lane, nowMs);
          const delivery = isNext ? take.next(queue, lane, nowMs) : undefined;
          if (delivery) {
            places.take(queue);
            begin(queue, lane, delivery);
            begun++;
          }
          more ||= delivery !== undefined;
        }
        if (isIdle(queue, nowMs)) queues.delete(queue.webhook);
      }
    }
    return false;
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

  async function send(queue: Queue, lane: Lane, delivery: Waiting): Promise<void> {
    const attempted = await deps.attempt(delivery, abort.signal);
    // Hung up by `close`: it is made again after the next start.
    if (!attempted) return;
    queue.isQuick = isQuick(attempted);
    if (!queue.isQuick) queue.ahead = [];
    unwritten.push({ webhook: queue.webhook, delivery, attempted, queue, lane });
    gather();
  }

  /** Outcomes wait for each other, as long as that is worth it. */
  function gather(): void {
    if (!isCalling && unwritten.length >= (calls.size - FEW_CALLS) / 2) wake();
    else cancelGathering ??= clock.after(GATHER_MS, wake);
  }

  /** Until the next call is due, or something else; answers wake the dispatcher themselves. */
  function sleep(): void {
    cancelTimer();
    const places = createPlaces(queues.values(), options.maxConcurrent);
    const due = [...queues.values()].flatMap((queue) =>
      LANES.filter((lane) => places.isFree(queue, lane)).map(
        (lane) => dueMsOf(queue, lane) ?? Number.POSITIVE_INFINITY,
      ),
    );
    const nextMs = Math.min(choresMs ?? Number.POSITIVE_INFINITY, ...due);
    if (nextMs !== Number.POSITIVE_INFINITY) {
      cancelTimer = clock.after(Math.max(0, nextMs - clock.nowMs()), wake);
    }
  }

  function queueOf(webhook: number): Queue {
    const known = queues.get(webhook);
    if (known) return known;
    const queue = createQueue(webhook, deps.webhooks.isStrict(webhook), take.retriesOf(webhook));
    queues.set(webhook, queue);
    return queue;
  }

  /** Deliveries came into the queue, or left it. */
  function refill(webhook: number): Queue {
    const queue = queueOf(webhook);
    queue.hasFirst = true;
    queue.hasReplay = true;
    queue.replayMs = 0;
    return Object.assign(queue, take.retriesOf(webhook));
  }

  return {
    wake,
    look(webhook) {
      const queue = refill(webhook);
      queue.ahead = [];
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
      while (unwritten.length > 0) write();
    },
  };
}
