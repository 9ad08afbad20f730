/** Replays of past events, and dry runs: `/webhooks/{id}/replay` and `/webhooks/test` (docs/guides/webhooks.md). */

import { path } from "../../request.ts";
import type { ApiResponse } from "../../responses.ts";
import type { Send } from "../../send.ts";
import type { Condition, NewWebhook, Warnings, WebhookChanges, WebhookId } from "./register.ts";

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
} & Warnings;

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

export const replays = (send: Send) => ({
  /** Delivers the events of a range of blocks again, both ends included, with the ids that they had or would have had. */
  replay: (id: WebhookId, range: { readonly fromHeight: number; readonly toHeight: number }) =>
    send<ApiResponse<Replay>>({ method: "POST", path: path`/webhooks/${id}/replay`, body: range }),

  /** The last replay and its progress. */
  getReplay: (id: WebhookId) => send<ApiResponse<Replay>>({ path: path`/webhooks/${id}/replay` }),

  /** Cancels the replay: its waiting deliveries are dropped. */
  cancelReplay: (id: WebhookId) =>
    send<Record<string, never>>({ method: "DELETE", path: path`/webhooks/${id}/replay` }),

  /**
   * Returns the events of the last `blocks` that a webhook would have received, and why it would not have
   * received others. Registers nothing.
   */
  test: (
    webhook: Omit<WebhookChanges, "target" | "enabled" | "queue"> &
      Pick<NewWebhook, "conditions"> & { readonly blocks?: number },
  ) => send<ApiResponse<DryRun>>({ method: "POST", path: "/webhooks/test", body: webhook, isSafe: true }),
});
