/** Pings: messages that test whether a target responds; the log lists them like all other messages. */
import { randomBytes } from "node:crypto";
import type { Attempted } from "../collaborators.ts";
import { WebhookError } from "../error.ts";
import { createToken } from "../model/message.ts";
import type { Secrets, Webhook } from "../model/webhook.ts";
import type { Trial } from "../register/fields.ts";
import type { DeliveryQueue } from "../storage/delivery-queue.ts";
import type { NewPing } from "../storage/pings.ts";
import type { MakeAttempt } from "./attempt.ts";

type PingDeps = {
  readonly deliveryQueue: Pick<DeliveryQueue, "recordPing">;
  readonly attempt: MakeAttempt;
  readonly nowMs: () => number;
};

/** Maximum of concurrent calls of targets without a webhook. */
const MAX_TRIALS = 4;

const NOTHING = { dataText: "{}" };

/** Timeout of a ping, shorter than that of the client that requested it. */
const TIMEOUT_MS = 5_000;

export class Pings {
  readonly #deps: PingDeps;
  /** Webhooks with a running ping. */
  readonly #running = new Set<number>();
  #trials = 0;

  constructor(deps: PingDeps) {
    this.#deps = deps;
  }

  /**
   * Calls the target once. Resolves to the number of the delivery; `isSuccess`: the target responded with success.
   *
   * @throws {WebhookError} PING_RUNNING: at most one call of a webhook is running
   */
  async send({ id: webhook, target, secrets }: Webhook): Promise<{ number: number; isSuccess: boolean }> {
    const { deliveryQueue, nowMs } = this.#deps;
    if (this.#running.has(webhook))
      throw new WebhookError("PING_RUNNING", "a ping of the webhook is in progress: retry in 5 s");
    this.#running.add(webhook);
    const { id, createdMs, attempt } = await this.#call(webhook, { target }, secrets).finally(() =>
      this.#running.delete(webhook),
    );
    const { reason } = attempt;
    const number = await deliveryQueue.recordPing({
      ...{ webhook, id, createdMs, attempt, ...NOTHING },
      finishedMs: nowMs(),
      ...(reason !== undefined && { failure: reason }),
    });
    return { number, isSuccess: reason === undefined };
  }

  /**
   * Calls a target without a webhook once; records nothing. The message is signed with a temporary secret.
   *
   * @throws {WebhookError} PING_RUNNING: at most `MAX_TRIALS` such calls are running
   */
  async sendTo(trial: Trial): Promise<Attempted> {
    if (this.#trials === MAX_TRIALS)
      throw new WebhookError("PING_RUNNING", "pings of other targets are in progress: retry in 5 s");
    this.#trials++;
    const secrets = { token: createToken() };
    const { attempt } = await this.#call(NO_WEBHOOK, trial, secrets).finally(() => this.#trials--);
    return attempt;
  }

  async #call(webhook: number, trial: Trial, secrets: Secrets) {
    const { attempt, nowMs } = this.#deps;
    const createdMs = nowMs();
    const { id, event } = newMessage(webhook);
    const message = { webhook, id, event, timeMs: createdMs, content: NOTHING };
    const ended = await attempt({ message, secrets, ...trial }, AbortSignal.timeout(TIMEOUT_MS));
    return { id, createdMs, attempt: ended ?? timedOut(createdMs, nowMs()) };
  }

  /** Creates a ping for the queue of the webhook, which retries it. */
  create(webhook: number): NewPing {
    return pingMessage(webhook, this.#deps.nowMs());
  }
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
