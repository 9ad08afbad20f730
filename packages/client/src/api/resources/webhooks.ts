/** `/webhooks`: the register, the deliveries, replays and dry runs (webhooks.md; docs/guides/webhooks.md). */
import type { Answer, Integer } from "../answers.ts";
import { createCursorList, createList } from "../list.ts";
import { path } from "../request.ts";
import type { Send } from "../send.ts";

export type Condition = {
  /** A member of the content of the event, or a path to it such as `asset.nft.unik.tokenId`. */
  readonly key: string;
  readonly condition:
    | "between"
    | "not-between"
    | "contains"
    | "eq"
    | "ne"
    | "gt"
    | "gte"
    | "lt"
    | "lte"
    | "truthy"
    | "falsy"
    | "regexp";
  /** Absent for `truthy` and `falsy`. */
  readonly value?: unknown;
};

/** The number of a webhook, or the id (a UUID) that a webhook had on an old node, from which it was imported. */
export type WebhookId = number | string;

export type Webhook = {
  readonly id: number;
  /** A name that people gave it; absent if there is none. */
  readonly name?: string;
  /** Its event; the first of `events` if it was registered without `event`. */
  readonly event: string;
  readonly target: string;
  readonly enabled: boolean;
  readonly conditions: readonly Condition[];
  /** Further names, and patterns such as `transaction.*`. */
  readonly events?: readonly string[];
  /** `all`: every condition must hold. Absent: one condition suffices. */
  readonly match?: "all";
  /** Absent: parallel. */
  readonly order?: "strict";
  /** Number of blocks that must follow a block before its events are delivered; absent for none. */
  readonly confirmations?: number;
  /** Number of deliveries that wait; absent for none, and in the response to a registration. */
  readonly queued?: number;
  /** Present while recent attempts fail: the last one, or more than half of the last 5 minutes. */
  readonly failing?: Failing;
  /** The replay that is running, and its next block. */
  readonly replay?: { readonly fromHeight: number; readonly toHeight: number; readonly nextHeight: number };
  /** Nothing is sent until the webhook is updated, or a ping succeeds. `since` in milliseconds since 1970. */
  readonly suspended?: { readonly reason: string; readonly since: number };
};

/** `reason` of the last failure; `since`: the first of the failures in a row, milliseconds since 1970. */
export type Failing = { readonly reason?: string; readonly since?: number };

export type WebhookState = "active" | "failing" | "paused" | "suspended";

/** Number of webhooks in each state, and of all deliveries that wait. */
export type WebhookHealth = Readonly<Record<WebhookState, number>> & { readonly queued: number };

/** A webhook with the secret for verifying deliveries, which is returned only once. */
export type WebhookWithToken = Webhook & {
  /** 64 hexadecimal digits. */
  readonly token: string;
  /** The same 32 bytes in the form of Standard Webhooks: `whsec_` and their base64. */
  readonly secret: string;
  /** Time until which the former secret is valid: milliseconds since 1970. */
  readonly overlapUntil?: number;
};

export type WebhookChanges = {
  /** Name of at most 100 characters; `null` removes it. */
  readonly name?: string | null;
  /** In an update, `null` removes it: `events` remain. */
  readonly event?: string | null;
  /** `null` removes them. */
  readonly events?: readonly string[] | null;
  readonly target?: string;
  readonly enabled?: boolean;
  /** An empty list is always true. */
  readonly conditions?: readonly Condition[];
  readonly match?: "any" | "all";
  readonly order?: "parallel" | "strict";
  readonly confirmations?: number;
  /**
   * Treatment of queued deliveries: "keep" (default) sends them in order to the present target, "drop"
   * cancels them.
   */
  readonly queue?: "keep" | "drop";
};

/** `event` or `events` is needed. */
export type NewWebhook = Omit<WebhookChanges, "event"> &
  Required<Pick<WebhookChanges, "target">> & {
    readonly event?: string;
    /** True if the first delivery is a `ping`. */
    readonly ping?: boolean;
  };

/** Conditions that are probably a mistake, such as a member that no event has; absent without any. */
export type Warnings = { readonly warnings?: readonly string[] };

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
  readonly answer?: string;
  /** Code of the failure, if there was no response. */
  readonly error?: string;
};

/** Summary of at most the newest 1,000 deliveries. Times are milliseconds since 1970. */
export type DeliverySummary = {
  /** Id of the webhook. */
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

/** Default of `state`: "failed"; "all": pending, failed and cancelled deliveries. */
export type RetryFilter = Omit<DeliveryQuery, "state"> & { readonly state?: DeliveryState | "all" };

/** Ids of deliveries, or their `webhook-id`s. */
export type RetrySelection = { readonly deliveries: readonly (number | string)[] };

/** Deliveries of the past events of a range of blocks. Times are milliseconds since 1970. */
export type Replay = {
  readonly fromHeight: number;
  /** Included. */
  readonly toHeight: number;
  /** The next block; above the last when all are done. */
  readonly nextHeight: number;
  /** Events that were put into the queue so far. */
  readonly events: number;
  /** Deliveries of the replay without a final outcome. */
  readonly waiting: number;
  readonly state: "running" | "finished" | "cancelled";
  /** Reason of the cancellation. */
  readonly reason?: string;
  readonly startedAt: number;
  readonly finishedAt?: number;
};

export type DryRun = {
  /** The blocks that were checked. */
  readonly fromHeight: number;
  readonly toHeight: number;
  readonly fired: TriedEvents;
  readonly notFired: TriedEvents;
  /** Names of events that cannot be derived from stored blocks. */
  readonly notRemembered: readonly string[];
  /** Present if nothing matched: the reason, and what to try next. */
  readonly note?: string;
};

/** All matching events are counted; the newest are shown. */
export type TriedEvents = { readonly count: number; readonly events: readonly TriedEvent[] };

export type TriedEvent = {
  readonly event: string;
  readonly height?: number;
  readonly blockId?: string;
  readonly data: unknown;
  readonly conditions: readonly (Condition & {
    readonly holds: boolean;
    readonly found: readonly unknown[];
  })[];
};

/** Every request needs the webhook token of the node; that is not the token of a webhook. */
export function webhooks(send: Send) {
  return {
    list: () => createList<Webhook>(send, { path: "/webhooks" }, { hasNoCursors: true }),

    /** Gets the state of all webhooks. */
    health: () => send<Answer<WebhookHealth>>({ path: "/webhooks/health" }),

    get: (id: WebhookId) => send<Answer<Webhook>>({ path: path`/webhooks/${id}` }),

    /** Creates a webhook. Only this response contains its secret. */
    create: (webhook: NewWebhook) =>
      send<Answer<WebhookWithToken> & Warnings>({ method: "POST", path: "/webhooks", body: webhook }),

    /** Omitted members keep their value; deliveries that wait stay in the queue, unless `queue` is "drop". */
    update: (id: WebhookId, changes: WebhookChanges) =>
      send<Warnings>({ method: "PUT", path: path`/webhooks/${id}`, body: changes }),

    remove: (id: WebhookId) => send<Record<string, never>>({ method: "DELETE", path: path`/webhooks/${id}` }),

    /** Replaces the secret. For `overlapSeconds` (default: a day) deliveries carry signatures of both. */
    rotate: (id: WebhookId, options: { readonly overlapSeconds?: number } = {}) =>
      send<Answer<WebhookWithToken>>({ method: "POST", path: path`/webhooks/${id}/rotate`, body: options }),

    /** Sends a test delivery and returns its outcome. */
    ping: (id: WebhookId) =>
      send<Answer<DeliveryRecord>>({ method: "POST", path: path`/webhooks/${id}/ping`, body: {} }),

    /**
     * Sends a ping to a target that is not registered. Its signature cannot be verified, because there is no
     * secret yet.
     */
    pingTarget: (target: string) =>
      send<Answer<TriedTarget>>({ method: "POST", path: "/webhooks/ping", body: { target } }),

    /** Newest first. */
    deliveries: (id: WebhookId, query?: DeliveryQuery) =>
      createCursorList<DeliveryRecord>(send, { path: path`/webhooks/${id}/deliveries`, query }),

    /** Gets a summary of the webhook's deliveries. */
    summary: (id: WebhookId) =>
      send<Answer<DeliverySummary>>({ path: path`/webhooks/${id}/deliveries/summary` }),

    /** Gets a delivery by its id in the log, or by the `webhook-id` that the receiver got. */
    delivery: (id: WebhookId, delivery: number | string) =>
      send<Answer<DeliveryRecord>>({ path: path`/webhooks/${id}/deliveries/${delivery}` }),

    /** Sends a delivery now, regardless of its state, with the same id and body. */
    retry: (id: WebhookId, delivery: number | string) =>
      send<Record<string, never>>({
        method: "POST",
        path: path`/webhooks/${id}/deliveries/${delivery}/retry`,
        body: {},
      }),

    /** Sends all failed deliveries again that were created since a time, milliseconds since 1970; all without it. */
    retryFailed: (id: WebhookId, options: { readonly since?: Integer } = {}) =>
      send<Answer<{ readonly retried: number }>>({
        method: "POST",
        path: path`/webhooks/${id}/deliveries/retry`,
        body: options,
      }),

    /** Sends the listed deliveries now, 500 at most, or all that match. Without a state, failed ones match. */
    retryAll: (id: WebhookId, filter: RetryFilter | RetrySelection = {}) =>
      send<Answer<{ readonly retried: number }>>({
        method: "POST",
        path: path`/webhooks/${id}/deliveries/retry`,
        body: filter,
      }),

    /** Delivers the events of a range of blocks again, both ends included, with the ids that they had or would have had. */
    replay: (id: WebhookId, range: { readonly fromHeight: number; readonly toHeight: number }) =>
      send<Answer<Replay>>({ method: "POST", path: path`/webhooks/${id}/replay`, body: range }),

    /** The last replay and its progress. */
    getReplay: (id: WebhookId) => send<Answer<Replay>>({ path: path`/webhooks/${id}/replay` }),

    /** Cancels the replay: its waiting deliveries are dropped. */
    cancelReplay: (id: WebhookId) =>
      send<Record<string, never>>({ method: "DELETE", path: path`/webhooks/${id}/replay` }),

    /**
     * Returns the events of the last `blocks` that a webhook would have received, and why it would not have
     * received others. Registers nothing.
     */
    test: (webhook: Omit<WebhookChanges, "target" | "enabled" | "queue"> & { readonly blocks?: number }) =>
      send<Answer<DryRun>>({ method: "POST", path: "/webhooks/test", body: webhook, isSafe: true }),
  };
}
