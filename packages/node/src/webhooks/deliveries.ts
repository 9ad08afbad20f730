/** Deliveries of webhooks as plain values. Times are milliseconds since 1970. */
import type { Content } from "../subscriptions/content.ts";
import type { Secrets } from "./webhook.ts";

export type DeliveryState = "pending" | "delivered" | "failed" | "cancelled";

/** A delivery that is put into a queue. */
export type NewDelivery = {
  readonly webhook: number;
  /** Of the webhook-id header; the same for ever. */
  readonly id: string;
  /** Among those of the webhook; a ping has none. */
  readonly sequence?: number;
  /** Name of the event in the subscription. */
  readonly event: string;
  /** Of the block that caused the event. */
  readonly height?: number;
  readonly blockId?: string;
  /** It has a fact of the block, to be retracted when the block is reverted. */
  readonly isRetractable?: boolean;
  /** Id of the delivery that it retracts. */
  readonly reverts?: string;
  /** Position in the replay lane, if it belongs there. */
  readonly replay?: number;
  /** Number of its content. */
  readonly content: number;
};

/** All that the body of a message is made of, whenever it is sent. */
export type DeliveryMessage = Pick<
  NewDelivery,
  "webhook" | "id" | "sequence" | "event" | "height" | "blockId" | "reverts"
> & {
  /** When the delivery was put into the queue. */
  readonly createdMs: number;
  readonly content: Content;
};

/** A delivery that waits for a webhook that is on, with the present target and secrets of the webhook. */
export type WaitingDelivery = {
  /** Grows with every delivery of the node. */
  readonly number: number;
  readonly message: DeliveryMessage;
  /** Attempts since the delivery was put into the queue. */
  readonly attempts: number;
  readonly target: string;
  readonly secrets: Secrets;
};

/** A delivery that waits in the replay lane. */
export type ReplayedDelivery = WaitingDelivery & {
  /** In the lane. */
  readonly position: number;
  /** When it may be sent; absent if it was not tried yet. */
  readonly nextAttemptMs?: number;
};

/** One call: an answer, or the code of the reason why there is none. */
export type Attempt = {
  readonly startedMs: number;
  readonly durationMs: number;
  /** Of the answer. */
  readonly status?: number;
  /** The beginning of the answer's body, as text. */
  readonly answer?: string;
  readonly error?: string;
};

/** A delivery of a fact of a block. */
export type DeliveredFact = {
  readonly number: number;
  readonly webhook: number;
  readonly id: string;
  /** Name of the event in the subscription. */
  readonly event: string;
  readonly height: number;
  readonly blockId: string;
  /** Number of its content. */
  readonly content: number;
  /** The webhook exists, and its present target may have received the fact, or will receive it. */
  readonly hasSameTarget: boolean;
};

/** A delivery with its past, as the log of deliveries lists it. */
export type DeliveryRecord = {
  /** Grows with every delivery of the node. */
  readonly number: number;
  readonly id: string;
  /** Among those of the webhook; a ping has none. */
  readonly sequence?: number;
  readonly event: string;
  readonly height?: number;
  readonly blockId?: string;
  readonly state: DeliveryState;
  /** Why it is not delivered (yet). */
  readonly reason?: string;
  /** Its fact was retracted: the block was reverted. */
  readonly isUndone?: true;
  /** Id of the delivery that it retracts. */
  readonly reverts?: string;
  readonly createdMs: number;
  /** Of a retry that waits. */
  readonly nextAttemptMs?: number;
  readonly finishedMs?: number;
  /** In their order. */
  readonly attempts: readonly Attempt[];
};

/** What a record must be like; absent members admit everything. */
export type DeliveryFilter = {
  readonly state?: DeliveryState;
  readonly event?: string;
  readonly height?: number;
  /** Of the creation, both ends included. */
  readonly fromMs?: number;
  readonly toMs?: number;
};

/** The same for deliveries that are sent again: those that have ended. */
export type EndedFilter = Omit<DeliveryFilter, "state"> & {
  readonly state: Exclude<DeliveryState, "pending">;
};

/** Records with a smaller number than `before`, newest first. */
export type DeliveryRange = { readonly before?: number; readonly limit: number };

/** How one of the newest deliveries stands. */
export type LatestDelivery = {
  readonly state: DeliveryState;
  readonly createdMs: number;
  readonly finishedMs?: number;
};

export type LatestDeliveries = {
  /** Newest first. */
  readonly deliveries: readonly LatestDelivery[];
  /** When the oldest of the whole queue was made that waits or is retried; those of a replay do not count. */
  readonly oldestWaitingMs?: number;
};

export type DeliveryPage = {
  /** Fewer than the limit when too many others had to be read on the way. */
  readonly records: readonly DeliveryRecord[];
  /** `before` of the next page; absent after the last one. */
  readonly next?: number;
};
