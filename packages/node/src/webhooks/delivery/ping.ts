/** Pings: messages that test whether a target responds; the log lists them like all other messages. */
import { randomBytes } from "node:crypto";
import type { Attempted } from "../collaborators.ts";
import { WebhookError } from "../error.ts";
import type { Webhook } from "../model/webhook.ts";
import type { DeliveryQueue } from "../storage/delivery-queue.ts";
import type { NewPing } from "../storage/pings.ts";
import type { MakeAttempt } from "./attempt.ts";

export type PingDeps = {
  readonly deliveryQueue: Pick<DeliveryQueue, "recordPing">;
  readonly attempt: MakeAttempt;
  readonly nowMs: () => number;
};

export type Ping = {
  /**
   * Calls the target once. Resolves to the number of the delivery; `isSuccess`: the target responded with success.
   *
   * @throws {WebhookError} PING_RUNNING: at most one call of a webhook is running
   */
  send(webhook: Webhook): Promise<{ readonly number: number; readonly isSuccess: boolean }>;
  /**
   * Calls a target without a webhook once; records nothing. The message is signed with a temporary secret.
   *
   * @throws {WebhookError} PING_RUNNING: at most `MAX_TRIALS` such calls are running
   */
  sendTo(target: string): Promise<Attempted>;
  /** Creates a ping for the queue of the webhook, which retries it. */
  create(webhook: number): NewPing;
};

/** Maximum of concurrent calls of targets without a webhook. */
const MAX_TRIALS = 4;
const TOKEN_BYTES = 32;

const NOTHING = { dataText: "{}" };

/** Timeout of a ping, shorter than that of the client that requested it. */
const TIMEOUT_MS = 5_000;

export function createPing({ deliveryQueue, attempt, nowMs }: PingDeps): Ping {
  /** Webhooks with a running ping. */
  const running = new Set<number>();
  let trials = 0;

  return {
    async send({ id: webhook, target, secrets }) {
      if (running.has(webhook))
        throw new WebhookError("PING_RUNNING", "a ping of the webhook is in progress: retry in 5 s");
      running.add(webhook);
      const atMs = nowMs();
      const source = newMessage(webhook);
      const message = { ...source, timeMs: atMs, content: NOTHING };
      const call = attempt({ message, secrets, target }, AbortSignal.timeout(TIMEOUT_MS));
      const ended = await call.finally(() => running.delete(webhook));
      const attempted = ended ?? timedOut(atMs, nowMs());
      const isSuccess = attempted.reason === undefined;
      const number = await deliveryQueue.recordPing({
        webhook,
        id: source.id,
        createdMs: atMs,
        ...NOTHING,
        attempt: attempted,
        finishedMs: nowMs(),
        ...(attempted.reason !== undefined && { failure: attempted.reason }),
      });
      return { number, isSuccess };
    },
    async sendTo(target) {
      if (trials === MAX_TRIALS)
        throw new WebhookError("PING_RUNNING", "pings of other targets are in progress: retry in 5 s");
      trials++;
      const atMs = nowMs();
      const message = { ...newMessage(NO_WEBHOOK), timeMs: atMs, content: NOTHING };
      const secrets = { token: randomBytes(TOKEN_BYTES).toString("hex") };
      const call = attempt({ message, secrets, target }, AbortSignal.timeout(TIMEOUT_MS));
      const ended = await call.finally(() => trials--);
      return ended ?? timedOut(atMs, nowMs());
    },
    create: (webhook) => pingMessage(webhook, nowMs()),
  };
}

const NO_WEBHOOK = 0;

/** Creates the message of a ping, which has neither a sequence nor a block. */
export const pingMessage = (webhook: number, createdMs: number): NewPing => ({
  ...newMessage(webhook),
  createdMs,
  content: NOTHING,
});

const newMessage = (webhook: number) => ({
  webhook,
  id: `msg_${randomBytes(16).toString("hex")}`,
  event: "ping",
});

const timedOut = (startedMs: number, nowMs: number): Attempted => ({
  startedMs,
  durationMs: Math.max(0, nowMs - startedMs),
  error: "TimeoutError",
  reason: `TimeoutError: no response within ${TIMEOUT_MS / 1_000} s`,
});
