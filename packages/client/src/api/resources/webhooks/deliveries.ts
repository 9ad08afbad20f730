/** Deliveries of webhooks, and pings: `/webhooks/{id}/deliveries` (docs/guides/webhooks.md). */

import { createCursorList } from "../../list.ts";
import { path } from "../../request.ts";
import type { ApiResponse, Integer } from "../../responses.ts";
import type { Send } from "../../send.ts";
import type { Failing, WebhookId, WebhookState } from "./register.ts";

/** An attempt at a target that is not registered. */
export type TriedTarget = DeliveryAttempt & { readonly accepted: boolean; readonly reason?: string };

export type DeliveryState = "pending" | "delivered" | "failed" | "cancelled";

/** A delivery with its outcome. Times are milliseconds since 1970. */
export type DeliveryRecord = {
  readonly id: number;
  /** Id that the receiver gets as `webhook-id`. */
  readonly messageId: string;
  readonly sequence?: number;
  readonly event: string;
  readonly height?: number;
  readonly blockId?: string;
  readonly state: DeliveryState;
  /** Reason why it is not delivered, or not yet. */
  readonly reason?: string;
  /** Its block was reverted since. */
  readonly undone?: true;
  /** `messageId` of the delivery that it retracts. */
  readonly reverts?: string;
  readonly createdAt: number;
  readonly nextAttemptAt?: number;
  readonly finishedAt?: number;
  readonly attempts: readonly DeliveryAttempt[];
  /** The body; only of a single delivery. */
  readonly body?: Readonly<Record<string, unknown>>;
};

export type DeliveryAttempt = {
  readonly startedAt: number;
  readonly durationMs: number;
  /** HTTP status, if there was a response. */
  readonly status?: number;
  /** Beginning of the response's body. */
  readonly response?: string;
  /** First 16 header fields of the response, each a line `name: value`, without cookies. */
  readonly responseHeaders?: string;
  /** Code of the failure, if there was no response. */
  readonly error?: string;
};

/** Summary of at most the newest 1,000 deliveries. Times are milliseconds since 1970. */
export type DeliverySummary = {
  readonly state: WebhookState;
  /** Number of all queued deliveries. */
  readonly queued: number;
  /** Attempts that ended within the last hour. */
  readonly lastHour: { readonly succeeded: number; readonly failed: number };
  readonly failing?: Failing;
  /** Deliveries that were counted; by state below. */
  readonly count: number;
  readonly delivered: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly pending: number;
  /** Creation time of the oldest counted delivery. */
  readonly since?: number;
  /** Creation time of the oldest delivery that is queued or retried. */
  readonly oldestWaitingAt?: number;
  /**
   * Deliveries that ended in each of the last 24 hours, the oldest hour first; `at` is the beginning of the
   * hour.
   */
  readonly hours: readonly { readonly at: number; readonly delivered: number; readonly failed: number }[];
};

export type DeliveryQuery = {
  readonly state?: DeliveryState;
  readonly event?: string;
  readonly height?: number;
  /** Range of creation times, milliseconds since 1970, both included. */
  readonly from?: number;
  readonly to?: number;
};

/** Deliveries that are sent. */
export type Retried = {
  readonly retried: number;
  /** Reason why pending deliveries stay in the queue: the webhook is paused. */
  readonly notSent?: string;
};

/** Default of `state`: "failed"; "all": pending, failed and cancelled deliveries. */
export type RetryFilter = Omit<DeliveryQuery, "state"> & { readonly state?: DeliveryState | "all" };

/** Ids of deliveries, or their `webhook-id`s. */
export type RetrySelection = { readonly deliveries: readonly (number | string)[] };

export const deliveries = (send: Send) => ({
  /** Sends a test delivery and returns its outcome. */
  ping: (id: WebhookId) =>
    send<ApiResponse<DeliveryRecord>>({ method: "POST", path: path`/webhooks/${id}/ping`, body: {} }),

  /**
   * Sends a ping to a target that is not registered. Its signature cannot be verified, because there is no
   * secret yet.
   *
   * @param body text to send instead of a ping, such as the edited body of a delivery
   */
  pingTarget: (target: string, body?: string) =>
    send<ApiResponse<TriedTarget>>({ method: "POST", path: "/webhooks/ping", body: { target, body } }),

  /** Newest first. */
  deliveries: (id: WebhookId, query?: DeliveryQuery) =>
    createCursorList<DeliveryRecord>(send, { path: path`/webhooks/${id}/deliveries`, query }),

  /** Gets a summary of the webhook's deliveries. */
  summary: (id: WebhookId) =>
    send<ApiResponse<DeliverySummary>>({ path: path`/webhooks/${id}/deliveries/summary` }),

  /** Gets a delivery by its id in the log, or by the `webhook-id` that the receiver got. */
  delivery: (id: WebhookId, delivery: number | string) =>
    send<ApiResponse<DeliveryRecord>>({ path: path`/webhooks/${id}/deliveries/${delivery}` }),

  /** Sends a delivery now, regardless of its state, with the same id and body. */
  retry: (id: WebhookId, delivery: number | string) =>
    send<Record<string, never>>({
      method: "POST",
      path: path`/webhooks/${id}/deliveries/${delivery}/retry`,
      body: {},
    }),

  /** Sends all failed deliveries again that were created since a time, milliseconds since 1970; all without it. */
  retryFailed: (id: WebhookId, options: { readonly since?: Integer } = {}) =>
    send<ApiResponse<Retried>>({
      method: "POST",
      path: path`/webhooks/${id}/deliveries/retry`,
      body: options,
    }),

  /** Sends the listed deliveries now, 500 at most, or all that match. Without a state, failed ones match. */
  retryAll: (id: WebhookId, filter: RetryFilter | RetrySelection = {}) =>
    send<ApiResponse<Retried>>({
      method: "POST",
      path: path`/webhooks/${id}/deliveries/retry`,
      body: filter,
    }),
});
