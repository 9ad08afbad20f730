/** A message that asks a target whether it is there; it stands in the log like all others. */
import { randomBytes } from "node:crypto";
import type { Database } from "../../store/engine/database.ts";
import type { ContentStore } from "../../store/webhooks/contents.ts";
import type { DeliveryStore } from "../../store/webhooks/deliveries.ts";
import type { Webhook } from "../../store/webhooks/webhooks.ts";
import { WebhookError } from "../error.ts";
import type { Attempted, MakeAttempt } from "./attempt.ts";

export type PingDeps = {
  database: Database;
  contents: ContentStore;
  deliveries: Pick<DeliveryStore, "insert" | "recordAttempt" | "finish">;
  attempt: MakeAttempt;
  nowMs: () => number;
};

export type Ping = {
  /**
   * Calls the target, once. Answers the number of the delivery; `isAlive`: the target answered with success.
   *
   * @throws {WebhookError} PING_RUNNING: at most one call of a webhook is under way
   */
  send(webhook: Webhook): Promise<{ readonly number: number; readonly isAlive: boolean }>;
  /** Leaves it to the queue of the webhook, which tries again. To be called in a transaction. */
  queue(webhook: number): void;
};

const NOTHING = { dataText: "{}" };

/** Shorter than what the asking client waits for its own answer. */
const TIMEOUT_MS = 5_000;

export function createPing({ database, contents, deliveries, attempt, nowMs }: PingDeps): Ping {
  /** Webhooks whose targets are being called. */
  const running = new Set<number>();

  return {
    async send({ id: webhook, target, secrets }) {
      if (running.has(webhook)) throw new WebhookError("PING_RUNNING", "a ping of the webhook is under way");
      running.add(webhook);
      const atMs = nowMs();
      const source = sourceOf(webhook);
      const message = { ...source, createdMs: atMs, content: NOTHING };
      const call = attempt({ message, secrets, target }, AbortSignal.timeout(TIMEOUT_MS));
      const answered = await call.finally(() => running.delete(webhook));
      const attempted = answered ?? silence(atMs, nowMs());
      const isAlive = attempted.reason === undefined;
      const number = database.transaction(() => {
        const number = deliveries.insert({ ...source, content: contents.insert(NOTHING) }, atMs);
        deliveries.recordAttempt(number, attempted);
        deliveries.finish(number, isAlive ? "delivered" : "failed", nowMs(), attempted.reason);
        return number;
      });
      return { number, isAlive };
    },
    queue: (webhook) =>
      void deliveries.insert({ ...sourceOf(webhook), content: contents.insert(NOTHING) }, nowMs()),
  };
}

const sourceOf = (webhook: number) => ({
  webhook,
  id: `msg_${randomBytes(16).toString("hex")}`,
  event: "ping",
});

const silence = (startedMs: number, nowMs: number): Attempted => ({
  startedMs,
  durationMs: Math.max(0, nowMs - startedMs),
  error: "TimeoutError",
  reason: `TimeoutError: no answer within ${TIMEOUT_MS / 1_000} s`,
});
