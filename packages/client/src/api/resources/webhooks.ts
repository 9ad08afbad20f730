/** `/webhooks`: the register, the deliveries, and what can be tried (webhooks.md; docs/guides/webhooks.md). */
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

export type Webhook = {
  readonly id: number;
  /** Its event; the first of `events` where it was registered with those alone. */
  readonly event: string;
  readonly target: string;
  readonly enabled: boolean;
  readonly conditions: readonly Condition[];
  /** Further names, and patterns such as `transaction.*`. */
  readonly events?: readonly string[];
  /** Absent: one condition suffices. */
  readonly match?: "all";
  /** Absent: parallel. */
  readonly order?: "strict";
  /** Number of blocks that must follow a block before its events are delivered; absent for none. */
  readonly confirmations?: number;
  /** The replay that is running, and its next block. */
  readonly replay?: { readonly fromHeight: number; readonly toHeight: number; readonly nextHeight: number };
  /** Nothing is sent until the webhook is updated, or a ping succeeds. `since` in milliseconds since 1970. */
  readonly suspended?: { readonly reason: string; readonly since: number };
};

/** With the secret by which deliveries are verified: it is shown once. */
export type WebhookWithToken = Webhook & {
  /** 64 hexadecimal digits. */
  readonly token: string;
  /** The same 32 bytes as libraries of Standard Webhooks take them: `whsec_` and their base64. */
  readonly secret: string;
  /** Until when the secret before is honoured, milliseconds since 1970. */
  readonly overlapUntil?: number;
};

export type WebhookChanges = {
  readonly event?: string;
  /** `null` takes them away. */
  readonly events?: readonly string[] | null;
  readonly target?: string;
  readonly enabled?: boolean;
  /** At least one. */
  readonly conditions?: readonly Condition[];
  readonly match?: "any" | "all";
  readonly order?: "parallel" | "strict";
  readonly confirmations?: number;
};

/** `event` or `events` is needed. */
export type NewWebhook = WebhookChanges &
  Required<Pick<WebhookChanges, "target" | "conditions">> & {
    /** Whether the target is sent a `ping` before anything else. */
    readonly ping?: boolean;
  };

export type DeliveryState = "pending" | "delivered" | "failed" | "cancelled";

/** A delivery with what became of it. Times are milliseconds since 1970. */
export type DeliveryRecord = {
  readonly id: number;
  /** What the receiver sees as `webhook-id`. */
  readonly messageId: string;
  readonly sequence?: number;
  readonly event: string;
  readonly height?: number;
  readonly blockId?: string;
  readonly state: DeliveryState;
  /** Why it is not delivered (yet). */
  readonly reason?: string;
  /** Its block was reverted since. */
  readonly undone?: true;
  /** `messageId` of the delivery that it retracts. */
  readonly reverts?: string;
  readonly createdAt: number;
  readonly nextAttemptAt?: number;
  readonly finishedAt?: number;
  readonly attempts: readonly DeliveryAttempt[];
  /** What was sent; where a single delivery is asked for. */
  readonly body?: Readonly<Record<string, unknown>>;
};

export type DeliveryAttempt = {
  readonly startedAt: number;
  readonly durationMs: number;
  /** Of HTTP, where there was an answer. */
  readonly status?: number;
  /** The beginning of it. */
  readonly answer?: string;
  /** Code of the failure, where there was none. */
  readonly error?: string;
};

export type DeliveryQuery = {
  readonly state?: DeliveryState;
  readonly event?: string;
  readonly height?: number;
  /** Of the creation, milliseconds since 1970, both included. */
  readonly from?: number;
  readonly to?: number;
};

/** Deliveries of the past events of a range of blocks. Times are milliseconds since 1970. */
export type Replay = {
  readonly fromHeight: number;
  /** Included. */
  readonly toHeight: number;
  /** The next block; above the last when all are done. */
  readonly nextHeight: number;
  /** Events that were put into the queue so far. */
  readonly events: number;
  /** Deliveries of it that have not arrived yet. */
  readonly waiting: number;
  readonly state: "running" | "finished" | "cancelled";
  /** Why it was cancelled. */
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
};

/** All of them are counted; the newest are shown. */
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

/** Every request needs the webhook token of the node, which is not that of a webhook. */
export function webhooks(send: Send) {
  return {
    list: () => createList<Webhook>(send, { path: "/webhooks" }, { hasNoCursors: true }),

    get: (id: number) => send<Answer<Webhook>>({ path: path`/webhooks/${id}` }),

    /** The answer has the secret of the webhook: it is shown here and never again. */
    create: (webhook: NewWebhook) =>
      send<Answer<WebhookWithToken>>({ method: "POST", path: "/webhooks", body: webhook }),

    /** Members that are left out keep their value; what waited for a retry is dropped. */
    update: (id: number, changes: WebhookChanges) =>
      send<Record<string, never>>({ method: "PUT", path: path`/webhooks/${id}`, body: changes }),

    remove: (id: number) => send<Record<string, never>>({ method: "DELETE", path: path`/webhooks/${id}` }),

    /** Makes another secret. For `overlapSeconds` (a day unless given) deliveries verify with either. */
    rotate: (id: number, options: { readonly overlapSeconds?: number } = {}) =>
      send<Answer<WebhookWithToken>>({ method: "POST", path: path`/webhooks/${id}/rotate`, body: options }),

    /** Sends a test delivery, and answers with its outcome. */
    ping: (id: number) =>
      send<Answer<DeliveryRecord>>({ method: "POST", path: path`/webhooks/${id}/ping`, body: {} }),

    /** Newest first. */
    deliveries: (id: number, query?: DeliveryQuery) =>
      createCursorList<DeliveryRecord>(send, { path: path`/webhooks/${id}/deliveries`, query }),

    /** By its id in the log, or by the `webhook-id` that the receiver saw. */
    delivery: (id: number, delivery: number | string) =>
      send<Answer<DeliveryRecord>>({ path: path`/webhooks/${id}/deliveries/${delivery}` }),

    /** Sends one again, with the same id and body. */
    retry: (id: number, delivery: number | string) =>
      send<Record<string, never>>({
        method: "POST",
        path: path`/webhooks/${id}/deliveries/${delivery}/retry`,
        body: {},
      }),

    /** Sends every failed one again that was made since a time, milliseconds since 1970: 0 for all of them. */
    retryFailed: (id: number, options: { readonly since: Integer }) =>
      send<Answer<{ readonly retried: number }>>({
        method: "POST",
        path: path`/webhooks/${id}/deliveries/retry`,
        body: options,
      }),

    /** Delivers the events of a range of blocks again, both ends included, with the ids that they had or would have had. */
    replay: (id: number, range: { readonly fromHeight: number; readonly toHeight: number }) =>
      send<Answer<Replay>>({ method: "POST", path: path`/webhooks/${id}/replay`, body: range }),

    /** How far the last replay has come. */
    getReplay: (id: number) => send<Answer<Replay>>({ path: path`/webhooks/${id}/replay` }),

    /** What was not sent yet is not sent. */
    cancelReplay: (id: number) =>
      send<Record<string, never>>({ method: "DELETE", path: path`/webhooks/${id}/replay` }),

    /** What a webhook would have received of the last `blocks`, and why not of the rest. Nothing is registered. */
    test: (webhook: Omit<WebhookChanges, "target" | "enabled"> & { readonly blocks?: number }) =>
      send<Answer<DryRun>>({ method: "POST", path: "/webhooks/test", body: webhook, isSafe: true }),
  };
}
