/** The register of webhooks: `/webhooks` (webhooks.md 1). */

import { ApiError } from "../../error.ts";
import { createList } from "../../list.ts";
import { nameOf, path } from "../../request.ts";
import type { ApiResponse } from "../../responses.ts";
import type { Send } from "../../send.ts";

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
  /** Display name, if any. */
  readonly name?: string;
  /** Its event; the first of `events` if it was registered without `event`. */
  readonly event: string;
  /** URL, or subject of a NATS server: `nats://HOST:PORT/SUBJECT`. */
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
  /** Deliveries contain a proof of their fact: `verifyDelivery` of @uniknode/client/proofs verifies it. */
  readonly proof?: true;
  /** Number of queued deliveries; absent if there are none, and in the response to a registration. */
  readonly queued?: number;
  /** Present while recent attempts fail: the last one, or more than half of the last 5 minutes. */
  readonly failing?: Failing;
  /** The replay that is running, and its next block. */
  readonly replay?: { readonly fromHeight: number; readonly toHeight: number; readonly nextHeight: number };
  /** Nothing is sent until the webhook is updated, or a ping succeeds. `since` in milliseconds since 1970. */
  readonly suspended?: { readonly reason: string; readonly since: number };
};

/**
 * `reason` of the last failure; `since`: the first of the failures in a row; `nextAttemptAt`: the earliest time of the next retry. Times
 * are milliseconds since 1970.
 */
export type Failing = {
  readonly reason?: string;
  readonly since?: number;
  readonly nextAttemptAt?: number;
};

export type WebhookState = "active" | "failing" | "paused" | "suspended";

/** `search`: part of the name, the target or the names of the events, in upper or lower case. */
export type WebhookQuery = {
  readonly state?: WebhookState;
  readonly search?: string;
  readonly orderBy?: WebhookOrder;
};

/** Order of a list; webhooks without a value are last. Default: `id:asc`. */
export type WebhookOrder = `${"id" | "name" | "target" | "failing.since"}:${"asc" | "desc"}`;

/** Number of webhooks in each state, and of all queued deliveries. */
export type WebhookHealth = Readonly<Record<WebhookState, number>> & { readonly queued: number };

/** A webhook with the secret for verifying deliveries, which is returned only once. */
export type WebhookWithToken = Webhook & {
  /** 64 hexadecimal digits. */
  readonly token: string;
  /** The same 32 bytes in the form of Standard Webhooks: `whsec_` and their base64. The client derives it from the token. */
  readonly secret: string;
  /** Time until which the former secret is valid: milliseconds since 1970. */
  readonly overlapUntil?: number;
};

export type WebhookChanges = {
  /** Name of at most 100 characters; `null` removes it. */
  readonly name?: string | null;
  /** Single event; in an update, `null` removes it and `events` remain. */
  readonly event?: string | null;
  /** `null` removes them. */
  readonly events?: readonly string[] | null;
  /** URL, or subject of a NATS server: `nats://HOST:PORT/SUBJECT`. */
  readonly target?: string;
  readonly enabled?: boolean;
  /** At least one; `EVERY_EVENT` is always true. */
  readonly conditions?: readonly Condition[];
  readonly match?: "any" | "all";
  readonly order?: "parallel" | "strict";
  readonly confirmations?: number;
  /** True to add a proof to each delivery. */
  readonly proof?: boolean;
  /**
   * Treatment of queued deliveries: "keep" (default) sends them in order to the present target, "drop"
   * cancels them.
   */
  readonly queue?: "keep" | "drop";
};

/** `event` or `events` is needed. */
export type NewWebhook = Omit<WebhookChanges, "event"> &
  Required<Pick<WebhookChanges, "target" | "conditions">> & {
    readonly event?: string;
    /** True if the first delivery is a `ping`. */
    readonly ping?: boolean;
  };

/** Conditions that are probably a mistake, such as a member that no event has; absent without any. A response has them in a header. */
export type Warnings = { readonly warnings?: readonly string[] };

/** Returns a token as libraries for Standard Webhooks expect it; undefined unless it is 64 hexadecimal digits. */
const standardSecret = (token: unknown): string | undefined =>
  typeof token === "string" && /^[0-9a-f]{64}$/.test(token)
    ? `whsec_${btoa(token.replace(/../g, (digits) => String.fromCharCode(Number.parseInt(digits, 16))))}`
    : undefined;

/** Adds the members of a webhook that the interface document does not have. */
const HEALTH = { health: true };

export const register = (send: Send) => ({
  /** Lists webhooks by ascending id. */
  list: (query: WebhookQuery = {}) =>
    createList<Webhook>(send, { path: "/webhooks", query: { ...HEALTH, ...query } }, { hasNoCursors: true }),

  /** Gets the state of all webhooks. */
  health: () => send<ApiResponse<WebhookHealth>>({ path: "/webhooks/health" }),

  get: (id: WebhookId) => send<ApiResponse<Webhook>>({ path: path`/webhooks/${id}`, query: HEALTH }),

  /** Creates a webhook. Only this response contains its secret. */
  create: async (webhook: NewWebhook): Promise<ApiResponse<WebhookWithToken> & Warnings> => {
    const request = { method: "POST", path: "/webhooks", body: webhook } as const;
    const body = await send<ApiResponse<Omit<WebhookWithToken, "secret">> & Warnings>(request);
    const secret = standardSecret(body.data?.token);
    if (secret === undefined)
      throw new ApiError({ code: "API_RESPONSE_INVALID", status: 201, body }, nameOf(request));
    return { ...body, data: { ...body.data, secret } };
  },

  /** Omitted members keep their value; queued deliveries stay in the queue, unless `queue` is "drop". */
  update: (id: WebhookId, changes: WebhookChanges) =>
    send<Warnings>({ method: "PUT", path: path`/webhooks/${id}`, body: changes }),

  remove: (id: WebhookId) => send<Record<string, never>>({ method: "DELETE", path: path`/webhooks/${id}` }),

  /** Replaces the secret. For `overlapSeconds` (default: a day) deliveries carry signatures of both. */
  rotate: (id: WebhookId, options: { readonly overlapSeconds?: number } = {}) =>
    send<ApiResponse<WebhookWithToken>>({
      method: "POST",
      path: path`/webhooks/${id}/rotate`,
      body: options,
    }),
});
