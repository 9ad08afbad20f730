/**
 * Moves deliveries from the queues to their targets. Whatever happens is written by one turn at a time, and turns that
 * become due together are one: many answers share one write to the disk.
 */
import type { Logger } from "pino";
import type { Database } from "../../store/database.ts";
import type { DeliveryRetention, DeliveryStore, Waiting } from "../../store/deliveries.ts";
import type { WebhookStore } from "../../store/webhooks.ts";
import type { Matched } from "./match.ts";
import { headersOf } from "./message.ts";
import type { Attempt } from "./outcome.ts";
import type { DeliveryAnswer, Post } from "./post.ts";
import { createQueue, isIdle, LANES, type Lane, laneDueMs, type Queue } from "./queue.ts";

export type Clock = {
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Calls `work` later; the answer takes it back. */
  after(delayMs: number, work: () => void): () => void;
};

export type DispatcherOptions = {
  /** Calls under way at once, over all webhooks. */
  readonly maxConcurrent: number;
  /** Whether a failing delivery holds back the later ones of its webhook. */
  readonly strictOrder: boolean;
  readonly retention: DeliveryRetention;
  /** How long `close` waits for answers before it hangs up. */
  readonly closeGraceMs: number;
};

export type DispatcherDeps = {
  database: Database;
  webhooks: Pick<WebhookStore, "ids">;
  deliveries: Pick<DeliveryStore, "nextFirst" | "nextRetry" | "nextRetryMs" | "prune">;
  match: () => Matched;
  /** Writes what an attempt brought; answers for how long the target is left alone. */
  writeOutcome: (attempt: Attempt) => number;
  post: Post;
  clock: Clock;
  logger: Logger;
};

export type Dispatcher = {
  /** Events were logged, or deliveries may be due: looks soon. The first call starts the dispatcher. */
  wake(): void;
  close(): Promise<void>;
};

const PRUNE_EVERY_MS = 60_000;
/** Pause after a turn that the database refused. */
const TROUBLE_PAUSE_MS = 1_000;
const MAX_REASON_LENGTH = 200;

type Ended = Attempt & { readonly queue: Queue; readonly lane: Lane };

export function createDispatcher(options: DispatcherOptions, deps: DispatcherDeps): Dispatcher {
  const { database, deliveries, clock, logger } = deps;
  const abort = new AbortController();
  /** By webhook; those called last come last. */
  const queues = new Map<number, Queue>();
  const calls = new Set<Promise<void>>();
  /** Attempts whose outcome is not written yet. */
  let ended: Ended[] = [];
  let isStarted = false;
  let isClosing = false;
  let isScheduled = false;
  let prunedMs = 0;
  let cancelTimer = () => {};

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
    try {
      if (!isStarted) start();
      const matched = write();
      for (const webhook of matched.webhooks) queueOf(webhook).hasFirst = true;
      prune();
      call();
      if (matched.more) wake();
      else sleep();
    } catch (error) {
      logger.error({ err: error }, "webhook deliveries are held up");
      cancelTimer = clock.after(TROUBLE_PAUSE_MS, wake);
    }
  }

  /** Takes up what an earlier process left. */
  function start(): void {
    for (const webhook of deps.webhooks.ids()) queueOf(webhook);
    isStarted = true;
  }

  /** Outcomes and new deliveries go to the disk together; nothing in memory changes before they are there. */
  function write(): Matched {
    const attempts = ended;
    const work = () => ({ settled: attempts.map(settle), matched: deps.match() });
    const { settled, matched } = attempts.length > 0 ? database.transaction(work) : work();
    ended = ended.slice(attempts.length);
    for (const { queue, lane, ...state } of settled) {
      queue.running.delete(lane);
      Object.assign(queue, state);
    }
    return matched;
  }

  /** Writes the outcome; the answer is how the queue stands then. */
  function settle({ queue, lane, ...attempt }: Ended) {
    const pauseMs = deps.writeOutcome(attempt);
    const heldUntilMs = pauseMs > 0 ? clock.nowMs() + pauseMs : 0;
    return { queue, lane, heldUntilMs, retryMs: deliveries.nextRetryMs(attempt.webhook) };
  }

  function prune(): void {
    const nowMs = clock.nowMs();
    if (nowMs - prunedMs < PRUNE_EVERY_MS) return;
    prunedMs = nowMs;
    deliveries.prune(options.retention, nowMs);
  }

  /** Starts every call that is due, as long as there is room. */
  function call(): void {
    const nowMs = clock.nowMs();
    for (const queue of [...queues.values()]) {
      for (const lane of LANES) {
        if (calls.size >= options.maxConcurrent) return;
        const dueMs = laneDueMs(queue, lane, options.strictOrder);
        if (dueMs === undefined || dueMs > nowMs) continue;
        const delivery = take(queue, lane, nowMs);
        if (delivery) begin(queue, lane, delivery);
      }
      if (isIdle(queue, nowMs)) queues.delete(queue.webhook);
    }
  }

  function begin(queue: Queue, lane: Lane, delivery: Waiting): void {
    queue.running.add(lane);
    // To the end: with many webhooks due, each has its turn.
    queues.delete(queue.webhook);
    queues.set(queue.webhook, queue);
    const attempt = send(queue, lane, delivery).finally(() => calls.delete(attempt));
    calls.add(attempt);
  }

  function take(queue: Queue, lane: Lane, nowMs: number): Waiting | undefined {
    const { webhook } = queue;
    const delivery = lane === "first" ? deliveries.nextFirst(webhook) : deliveries.nextRetry(webhook, nowMs);
    if (!delivery && lane === "first") queue.hasFirst = false;
    // Cancelled meanwhile: perhaps a later one is left.
    if (!delivery && lane === "retry") queue.retryMs = deliveries.nextRetryMs(webhook);
    return delivery;
  }

  async function send(queue: Queue, lane: Lane, delivery: Waiting): Promise<void> {
    const { target, body } = delivery;
    const headers = headersOf(delivery, clock.nowMs());
    let result: DeliveryAnswer | { reason: string };
    try {
      result = await deps.post({ target, headers, body }, abort.signal);
    } catch (error) {
      // Hung up by `close`: nobody knows, so it is sent again after the next start.
      if (abort.signal.aborted) return;
      result = { reason: reasonOf(error) };
    }
    ended.push({ webhook: queue.webhook, delivery, atMs: clock.nowMs(), result, queue, lane });
    wake();
  }

  /** Until the next call is due; answers wake the dispatcher themselves. */
  function sleep(): void {
    if (calls.size >= options.maxConcurrent) return;
    const due = [...queues.values()].flatMap((queue) =>
      LANES.map((lane) => laneDueMs(queue, lane, options.strictOrder) ?? Number.POSITIVE_INFINITY),
    );
    const nextMs = Math.min(Number.POSITIVE_INFINITY, ...due);
    if (nextMs !== Number.POSITIVE_INFINITY) {
      cancelTimer = clock.after(Math.max(0, nextMs - clock.nowMs()), wake);
    }
  }

  function queueOf(webhook: number): Queue {
    const known = queues.get(webhook);
    if (known) return known;
    const queue = createQueue(webhook, deliveries.nextRetryMs(webhook));
    queues.set(webhook, queue);
    return queue;
  }

  return {
    wake,
    async close() {
      isClosing = true;
      cancelTimer();
      const answered = Promise.all(calls);
      const grace = Promise.withResolvers<void>();
      const cancelGrace = clock.after(options.closeGraceMs, grace.resolve);
      await Promise.race([answered, grace.promise]);
      cancelGrace();
      abort.abort();
      await answered;
      if (ended.length > 0) write();
    },
  };
}

/** A line for the delivery log, with the code of the error if it has one. */
function reasonOf(error: unknown): string {
  const { code, name, message } = error as Error & { code?: unknown };
  const word = typeof code === "string" ? code : name;
  return message === "" ? word : `${word}: ${message.slice(0, MAX_REASON_LENGTH)}`;
}
