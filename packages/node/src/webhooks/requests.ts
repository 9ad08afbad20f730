/** Requests of clients to the webhook service, in any process: the process that sends may be another one. */

import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { History } from "../event-log/history.ts";
import type { MatchingObserver, Slices } from "../subscriptions/conditions/slices.ts";
import type { Attempted, Clock } from "./collaborators.ts";
import type { MakeAttempt } from "./delivery/attempt.ts";
import { Pings } from "./delivery/ping.ts";
import { DeliveryLog, type DeliveryWithBody } from "./delivery-log/delivery-log.ts";
import { type DryRunReport, dryRun } from "./dry-run.ts";
import { Register, type RegisterOptions } from "./register/register.ts";
import { Replays } from "./replay/replays.ts";
import type { DeliveryQueue } from "./storage/delivery-queue.ts";
import type { RegisterStorage } from "./storage/register-commands.ts";

export type WebhookRequests = {
  readonly register: Omit<Register, "readTrial" | "resume">;
  readonly log: DeliveryLog;
  readonly replays: Replays;
  /** See `dryRun` of `dry-run.ts`. */
  dryRun(body: unknown): Promise<DryRunReport>;
  /**
   * Sends a ping to the target of a webhook, even if the webhook is disabled. A success lifts a suspension.
   *
   * @throws {WebhookError} WEBHOOK_UNKNOWN, PING_RUNNING
   */
  ping(id: string): Promise<DeliveryWithBody>;
  /**
   * Sends a ping to `body.target`, before a webhook with it is registered, or the text `body.body`.
   *
   * @throws {SubscriptionError}
   * @throws {WebhookError} PING_RUNNING
   */
  pingTarget(body: unknown): Promise<Attempted>;
};

/** The dispatcher, if it runs in this process: it caches queues. */
type Sender = {
  /** Must be called after a webhook or its queue was changed. */
  queueChanged(webhook: number): void;
  /** Must be called after the queue of a webhook was restarted. */
  queueRestarted(webhook: number): void;
  /** Returns whether a call of a delivery is running. */
  isUnderWay(delivery: number): boolean;
  /** Runs the matcher soon. */
  notify(): void;
};

/** A dispatcher in another process, which reads the changes of queues from the database. */
export const SENDER_ELSEWHERE: Sender = {
  queueChanged() {},
  queueRestarted() {},
  isUnderWay: () => false,
  notify() {},
};

export type RequestDeps = {
  readonly storage: {
    readonly queue: Pick<DeliveryQueue, "log" | "replays" | "recordPing">;
    readonly register: RegisterStorage;
  };
  readonly sender: Sender;
  readonly webhooksChanged: () => Promise<void>;
  readonly history: History;
  readonly attempt: MakeAttempt;
  readonly slices: Slices;
  readonly observer: MatchingObserver;
  readonly clock: Pick<Clock, "nowMs" | "steadyMs">;
  readonly logger: Pick<Logger, "info" | "warn">;
};

/** Requests that this process executes. */
export class OwnRequests implements WebhookRequests {
  readonly register: Register;
  readonly log: DeliveryLog;
  readonly replays: Replays;
  readonly #deps: RequestDeps;
  readonly #pings: Pings;

  constructor(options: RegisterOptions, deps: RequestDeps) {
    const { storage, sender, webhooksChanged, history, attempt, clock, logger } = deps;
    const { nowMs, steadyMs } = clock;
    const { queue } = storage;
    const onChanged = (webhook: number) => sender.queueChanged(webhook);
    const findWebhook = (id: string) => this.register.find(id);
    this.#deps = deps;
    this.#pings = new Pings({ deliveryQueue: queue, attempt, nowMs });
    this.register = new Register(options, {
      ...{ storage: storage.register, webhooksChanged, onChanged, nowMs, logger },
      createPing: (webhook) => this.#pings.create(webhook),
      onRestarted: (webhook) => sender.queueRestarted(webhook),
      awaitMatched: () => awaitMatched(storage.register, () => sender.notify()),
    });
    this.log = new DeliveryLog({
      ...{ rows: queue.log, findWebhook, onQueued: onChanged, nowMs, steadyMs },
      isUnderWay: (delivery) => sender.isUnderWay(delivery),
    });
    this.replays = new Replays({ rows: queue.replays, history, findWebhook, onChanged, nowMs });
  }

  dryRun(body: unknown): Promise<DryRunReport> {
    return dryRun(this.#deps, body);
  }

  async ping(id: string): Promise<DeliveryWithBody> {
    const webhook = await this.register.find(id);
    const { number, isSuccess } = await this.#pings.send(webhook);
    if (isSuccess && webhook.suspended !== undefined) await this.register.resume(webhook.id);
    return this.log.find(id, `${number}`);
  }

  async pingTarget(body: unknown): Promise<Attempted> {
    return this.#pings.sendTo(this.register.readTrial(body));
  }
}

/** Maximum wait of an update of the register; the new definition then matches the remaining events. */
const MAX_WAIT_MS = 2_000;
const FIRST_PAUSE_MS = 1;
const MAX_PAUSE_MS = 50;

/**
 * Settles when every event that was logged before is matched, or after a timeout.
 *
 * @param notify runs the matcher
 */
async function awaitMatched(register: RegisterStorage, notify: () => void): Promise<void> {
  const last = await register.lastEvent();
  const endMs = performance.now() + MAX_WAIT_MS;
  // The matcher may run in another process, which is reached through the database.
  for (
    let pauseMs = FIRST_PAUSE_MS;
    (await register.lastMatched()) < last;
    pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)
  ) {
    if (performance.now() >= endMs) return;
    notify();
    await sleep(pauseMs);
  }
}
