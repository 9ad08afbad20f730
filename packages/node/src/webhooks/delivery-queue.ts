/**
 * The delivery queue: what the webhook service asks of the database to send, retry, replay, list and drop deliveries. Every
 * webhook has a queue of its own. Implementations are in folders of their own; one suite of tests holds for each of them
 * (`packages/node/test/webhooks/queue-port`).
 *
 * Deliveries are written by matching, in the transaction that moves the cursor of the event log: `intake.ts`.
 * Times are milliseconds since 1970. A change is on disk when its promise settles.
 *
 * Every call settles within `CALL_TIMEOUT_MS`, whatever holds the database up. A call that fails has changed nothing and holds
 * nothing; it may be made again. The dispatcher does so after a pause.
 */
import type {
  Attempt,
  DeliveryFilter,
  DeliveryMessage,
  DeliveryPage,
  DeliveryRange,
  DeliveryRecord,
  EndedFilter,
  LatestDeliveries,
  ReplayedDelivery,
  WaitingDelivery,
} from "./deliveries.ts";
import type { DeliveryRetention, OverfullQueue } from "./model/bounds.ts";
import type { Replay, ReplayProgress } from "./model/replay.ts";

/** Time in which every call has an answer or has failed. */
export const CALL_TIMEOUT_MS = 10_000;

export type DeliveryQueue = {
  /** Ids of all webhooks: each has a queue. */
  webhooks(): Promise<readonly number[]>;
  /** States of queues, in the order of the ids. Nothing is due in the queue of a webhook that was removed. */
  states(webhooks: readonly number[]): Promise<readonly QueueState[]>;
  /** The next deliveries behind a number that were never tried, by ascending number. None while the webhook is off. */
  nextFirst(webhook: number, after: number, limit: number): Promise<readonly WaitingDelivery[]>;
  /** The retry that is overdue the longest. None while the webhook is off. */
  nextRetry(webhook: number, nowMs: number): Promise<WaitingDelivery | undefined>;
  /** The first delivery of the replay lane behind a position. None while the webhook is off. */
  nextReplayed(webhook: number, after: number): Promise<ReplayedDelivery | undefined>;
  /**
   * Records what attempts have brought, all or none, in their order: the attempt in the log, the state of the delivery, and
   * what follows for the webhook. A delivery that was not recorded waits as before, and is the next one again.
   */
  record(outcomes: readonly AttemptOutcome[]): Promise<readonly RecordedOutcome[]>;
  /** Records a delivery that was attempted outside of the queue. Returns its number. */
  recordPing(ping: PingOutcome): Promise<number>;
  /** Finishes some of the deliveries that are no longer to be sent, and continues with queues that begin anew. */
  finishStep(atMs: number): Promise<FinishStep>;
  readonly log: DeliveryLogRows;
  readonly replays: ReplayRows;
  readonly retention: RetentionSteps;
};

/** What the database knows of a queue beside its first attempts. */
export type QueueState = {
  /** A delivery begins only after the one before was acknowledged or failed for good. */
  readonly isStrict: boolean;
  /** When the next retry is due; undefined: there is none, or the webhook is off. */
  readonly retryMs: number | undefined;
  /** Whether one of the retries is a retraction. */
  readonly hasRetraction: boolean;
};

/** An attempt that has ended, and what is to follow from it. */
export type AttemptOutcome = {
  readonly webhook: number;
  /** Number of the delivery. */
  readonly delivery: number;
  readonly attempt: Attempt;
  /** When the attempt ended. */
  readonly atMs: number;
  /**
   * URL that was called; absent: that of the webhook. An attempt at a target that the webhook no longer has is logged, and
   * decides nothing: its delivery waits for the present target.
   */
  readonly target?: string;
  /** Absent after a success. */
  readonly failure?: AttemptFailure;
};

export type AttemptFailure = {
  readonly reason: string;
  /** When the next attempt may begin; undefined: the delivery has failed for good. */
  readonly retryMs: number | undefined;
  /** Suspends the webhook with a reason, if it has done nothing but fail since before a time. */
  readonly suspension: { readonly reason: string; readonly ifFailingBeforeMs?: number };
};

export type RecordedOutcome = {
  /**
   * `false`: the delivery was cancelled or dropped meanwhile, or the webhook has another target. The attempt is in the log
   * if the delivery is, and nothing follows from it.
   */
  readonly isCurrent: boolean;
  /** Failures of the webhook in a row, with this one; 0 after a success. */
  readonly failures: number;
  /** Why the webhook was suspended, if it was. */
  readonly suspended?: string;
};

export type PingOutcome = {
  readonly webhook: number;
  /** Of the message. */
  readonly id: string;
  readonly createdMs: number;
  /** JSON. */
  readonly dataText: string;
  readonly attempt: Attempt;
  readonly finishedMs: number;
  /** Why it failed; absent after a success. */
  readonly failure?: string;
};

/** `webhook`: the one of which nothing is left to finish; `more`: there may be further steps. */
export type FinishStep = { readonly webhook?: number; readonly more: boolean };

/** The past of deliveries, and how they are sent again, or sooner. */
export type DeliveryLogRows = {
  /** Newest first, those with smaller numbers than `before`. */
  page(webhook: number, filter: DeliveryFilter, range: DeliveryRange): Promise<DeliveryPage>;
  /** `key`: a number, or an id: the newest delivery that has it. */
  find(webhook: number, key: number | string): Promise<DeliveryRecord | undefined>;
  /** As many as the limit, without pings. */
  latest(webhook: number, limit: number): Promise<LatestDeliveries>;
  /** What is sent. */
  message(number: number): Promise<DeliveryMessage | undefined>;
  /**
   * Puts a finished delivery into the queue again, as a retry that is due. `false` if it waits there already, or was
   * retracted.
   */
  requeue(number: number, atMs: number): Promise<boolean>;
  /**
   * The same for those that match among the next `limit` behind a number, from the oldest on, all of them or all that
   * failed; without pings.
   */
  requeueMatching(
    webhook: number,
    filter: EndedFilter,
    range: { readonly after: number; readonly limit: number },
    atMs: number,
  ): Promise<Requeued>;
  /**
   * Sends deliveries now, each with the whole schedule of retries: one that has ended is put into the queue again, one that
   * waits is due at once; in strict order the first one that waits is, so that the delivery follows in its turn. Returns the
   * number of deliveries; those that were retracted are left out.
   */
  sendNow(webhook: number, numbers: readonly number[], atMs: number): Promise<number>;
  /** Makes those that wait and match due, in one of the lanes, among the next `limit` behind a number. First attempts keep their order. */
  expediteMatching(
    webhook: number,
    lane: "first" | "retry" | "replay",
    filter: Omit<DeliveryFilter, "state">,
    range: { readonly after: number; readonly limit: number },
    atMs: number,
  ): Promise<Requeued>;
};

export type Requeued = {
  /** How many were put into the queue. */
  readonly count: number;
  /** The last number that was read; absent when there are no further ones. */
  readonly last?: number;
};

/** Replays: one for each webhook, the last one. */
export type ReplayRows = {
  /** Replaces the last one of the webhook, unless that is running: `false` then. */
  start(webhook: number, range: { fromHeight: number; toHeight: number }, atMs: number): Promise<boolean>;
  /** The last one of the webhook, and how many of its deliveries wait. */
  find(webhook: number): Promise<ReplayProgress | undefined>;
  /**
   * The next running one with something to do, by ascending webhook, those after `after` first: blocks to read while no
   * more than `maxWaiting` of its deliveries wait, or its end when none waits any more. None of a webhook that is off.
   */
  next(after: number, maxWaiting: number): Promise<Replay | undefined>;
  /** All of its events were delivered, or have failed. */
  finish(webhook: number, atMs: number): Promise<void>;
  /** Cancels a replay that is running, and the deliveries of it that wait. */
  cancel(webhook: number, atMs: number): Promise<void>;
};

/** Steps that keep the deliveries within their bounds: each a short transaction. */
export type RetentionSteps = {
  /**
   * Drops what is too old among the next deliveries behind a number. Returns the last number that was read, and undefined
   * when all deliveries behind it are too young.
   */
  dropBehind(after: number, retention: DeliveryRetention, nowMs: number): Promise<number | undefined>;
  /** The next queue behind a webhook that is too long. */
  nextOverfull(after: number, maxWaiting: number): Promise<OverfullQueue | undefined>;
  /** Fails the oldest deliveries of a queue that is too long. Returns how many: fewer than the surplus if one step is too short. */
  failSurplus(queue: OverfullQueue, nowMs: number): Promise<number>;
  /** Drops some deliveries of removed webhooks. `false`: there are none. */
  dropRemoved(): Promise<boolean>;
};
