/** Deliveries of webhooks as plain values. Times are milliseconds since 1970. */
import type { Content } from "../../subscriptions/content.ts";
import type { Secrets } from "./webhook.ts";

export type DeliveryState = "pending" | "delivered" | "failed" | "cancelled";

/** Content of a delivery, and the time of its event; without it, as of a ping, the time of the delivery counts. */
export type TimedContent = Content & { readonly timeMs?: number | undefined };

export type NewDelivery = {
  readonly webhook: number;
  /** Value of the webhook-id header; never changes. */
  readonly id: string;
  /** Number of the delivery within its webhook; absent for pings. */
  readonly sequence?: number;
  /** Name of the event in the subscription. */
  readonly event: string;
  /** Height of the block that caused the event. */
  readonly height?: number;
  readonly blockId?: string;
  /** True if the delivery has a fact of the block, which must be retracted when the block is reverted. */
  readonly isRetractable?: boolean;
  /** Id of the retracted delivery. */
  readonly reverts?: string;
  /** Position in the replay lane, if the delivery belongs to a replay. */
  readonly replay?: number;
  readonly content: number;
};

/** Fields that determine the body of a message, independent of the time of sending. */
export type DeliveryMessage = Pick<
  NewDelivery,
  "webhook" | "id" | "sequence" | "event" | "height" | "blockId" | "reverts"
> & {
  /** Time of the block that caused the event; of other events, the time at which they were logged, or of the ping. */
  readonly timeMs: number;
  readonly content: Content;
};

/** A pending delivery of an active webhook, with the webhook's current target and secrets. */
export type WaitingDelivery = {
  /** Increases with every delivery of the node. */
  readonly number: number;
  readonly message: DeliveryMessage;
  /** Attempts since the delivery was put into the queue. */
  readonly attempts: number;
  readonly target: string;
  readonly secrets: Secrets;
  /** Number of blocks above the block of a fact that the proof in the body may contain; absent: no proof. */
  readonly proofDepth?: number;
};

/** A pending delivery in the replay lane. */
export type ReplayedDelivery = WaitingDelivery & {
  readonly position: number;
  /** Earliest time of the next attempt; absent before the first attempt. */
  readonly nextAttemptMs?: number;
};

/** A call with its response, or the code of the error. */
export type Attempt = {
  readonly startedMs: number;
  readonly durationMs: number;
  readonly status?: number;
  /** Beginning of the response body, as text. */
  readonly response?: string;
  /** First header fields of the response, each a line `name: value`. */
  readonly responseHeaders?: string;
  readonly error?: string;
};

/** A finished attempt and its consequences. */
export type AttemptOutcome = {
  readonly webhook: number;
  readonly delivery: number;
  readonly attempt: Attempt;
  readonly atMs: number;
  /**
   * Called URL; absent: the URL of the webhook. An attempt at a former target of the webhook is logged without
   * consequences: its delivery waits for the current target.
   */
  readonly target?: string;
  readonly failure?: AttemptFailure;
};

export type AttemptFailure = {
  readonly reason: string;
  /** Earliest time of the next attempt; undefined if the delivery has finally failed. */
  readonly retryAtMs: number | undefined;
  /**
   * Suspends the webhook with a reason, if it has only failed since before `ifFailingBeforeMs`, and at least `minFailures`
   * times. Absent: at once.
   */
  readonly suspension: {
    readonly reason: string;
    readonly ifFailingBeforeMs?: number;
    readonly minFailures?: number;
  };
};

export type RecordedOutcome = {
  /**
   * `false` if the delivery was cancelled or dropped meanwhile, or the webhook has another target. The attempt is in the log
   * if the delivery is, but has no consequences.
   */
  readonly isCurrent: boolean;
  /** Consecutive failures of the webhook, including this one; 0 after a success. */
  readonly failures: number;
  readonly suspended?: string;
};

/** A delivered fact of a block. */
export type DeliveredFact = Pick<NewDelivery, "webhook" | "id" | "event" | "content"> &
  Required<Pick<NewDelivery, "height" | "blockId">> & {
    readonly number: number;
    /** True if the webhook exists, and its current target may have received the fact or will receive it. */
    readonly hasSameTarget: boolean;
  };

/** A delivery with its attempts, as the delivery log lists it. */
export type DeliveryRecord = Pick<
  NewDelivery,
  "id" | "sequence" | "event" | "height" | "blockId" | "reverts"
> & {
  /** Increases with every delivery of the node. */
  readonly number: number;
  readonly state: DeliveryState;
  /** Reason why the delivery is not delivered (yet). */
  readonly reason?: string;
  /** True if the fact was retracted because its block was reverted. */
  readonly isUndone?: true;
  readonly createdMs: number;
  /** Time of the next attempt of a pending retry. */
  readonly nextAttemptMs?: number;
  readonly finishedMs?: number;
  /** Attempts in chronological order. */
  readonly attempts: readonly Attempt[];
};

/** Filter of records; absent members match every record. */
export type DeliveryFilter = {
  readonly state?: DeliveryState;
  readonly event?: string;
  readonly height?: number;
  /** Bounds on the creation time, both included. */
  readonly fromMs?: number;
  readonly toMs?: number;
};

/** Filter of finished deliveries, for sending them again. */
export type EndedFilter = Omit<DeliveryFilter, "state"> & {
  readonly state: Exclude<DeliveryState, "pending">;
};

/** Records with a smaller number than `before`, newest first. */
export type DeliveryRange = { readonly before?: number; readonly limit: number };

export type LatestDelivery = Pick<DeliveryRecord, "state" | "createdMs" | "finishedMs">;

export type LatestDeliveries = {
  readonly deliveries: readonly LatestDelivery[];
  /** Creation time of the oldest pending delivery or retry of the whole queue, without replays. */
  readonly oldestWaitingMs?: number;
};

export type DeliveryPage = {
  /** Matching records; fewer than the limit if too many other rows had to be read. */
  readonly records: readonly DeliveryRecord[];
  /** `before` of the next page; absent after the last one. */
  readonly next?: number;
};

/** Bounds on stored deliveries; pending deliveries are never dropped, only failed. */
export type DeliveryRetention = {
  /** Time for which a finished delivery is stored. */
  readonly maxAgeMs: number;
  /** Time for which a failed delivery is stored, which can still be sent again. */
  readonly maxFailedAgeMs: number;
  /** Maximum number of deliveries of all webhooks; beyond it, the oldest finished ones are dropped. */
  readonly maxDeliveries: number;
  /** Maximum number of pending first attempts of one webhook; beyond it, the oldest fail. */
  readonly maxWaiting: number;
  /** Depth in blocks to which facts are stored regardless of other bounds, because they may be retracted. */
  readonly keptBlocks: number;
};

/** A queue that exceeds the maximum of pending first attempts by `surplus`. */
export type OverfullQueue = { readonly webhook: number; readonly surplus: number };

/** The end of a queue's pending deliveries without sending them: `cancelled` when they are obsolete, `failed` when they can be sent again later. */
export type Finish = {
  readonly state: "failed" | "cancelled";
  readonly reason: string;
  /**
   * True to finish retractions too. Otherwise they stay pending: a target that received a fact must receive its retraction.
   */
  readonly withRetractions?: boolean;
  /** True to drop the facts that wait for confirmations, too: the log has no rows of them from which they could be sent again. */
  readonly withUnconfirmed?: boolean;
};

/** Reason of a cancelled delivery: the block of the fact was reverted, and its receiver gets the retraction instead. */
export const REVERTED_REASON = "its block was undone";
