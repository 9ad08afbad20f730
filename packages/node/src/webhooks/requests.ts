/** Requests of clients to the webhook service, in any process: the process that sends may be another one. */

import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { History } from "../event-log/history.ts";
import type { MatchingObserver, Slices } from "../subscriptions/conditions/slices.ts";
import type { Attempted, Clock } from "./collaborators.ts";
import type { MakeAttempt } from "./delivery/attempt.ts";
import { Pings } from "./delivery/ping.ts";
import { DeliveryLog, type DeliveryWithBody } from "./delivery-log/delivery-log.ts";
import { createDryRun, type DryRun } from "./dry-run.ts";
import { Register, type RegisterOptions } from "./register/register.ts";
import { Replays } from "./replay/replays.ts";
import type { DeliveryQueue } from "./storage/delivery-queue.ts";
import type { RegisterStorage } from "./storage/register-commands.ts";

export type WebhookRequests = {
  readonly register: Omit<Register, "readTarget" | "resume">;
  readonly log: DeliveryLog;
  readonly dryRun: DryRun;
  readonly replays: Replays;
  /**
   * Sends a ping to the target of a webhook, even if the webhook is disabled. A success lifts a suspension.
   *
   * @throws {WebhookError} WEBHOOK_UNKNOWN, PING_RUNNING
   */
  ping(id: string): Promise<DeliveryWithBody>;
  /**
   * Sends a ping to `body.target`, before a webhook with it is registered.
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
  /** Settles when every event that the register names reaches the log. */
  readonly webhooksChanged: () => Promise<void>;
  /** Events of stored blocks, for dry runs and replays. */
  readonly history: History;
  readonly attempt: MakeAttempt;
  readonly slices: Slices;
  readonly observer: MatchingObserver;
  readonly clock: Pick<Clock, "nowMs" | "steadyMs">;
  readonly logger: Pick<Logger, "info">;
};

export function createWebhookRequests(
  options: RegisterOptions,
  deps: RequestDeps,
): WebhookRequests & { readonly register: Register } {
  const { storage, sender, webhooksChanged, history, attempt, slices, observer, clock, logger } = deps;
  const { nowMs, steadyMs } = clock;
  const { queue } = storage;
  const onChanged = (webhook: number) => sender.queueChanged(webhook);
  const pings = new Pings({ deliveryQueue: queue, attempt, nowMs });
  const register = new Register(options, {
    storage: storage.register,
    webhooksChanged,
    createPing: (webhook) => pings.create(webhook),
    onChanged,
    onRestarted: (webhook) => sender.queueRestarted(webhook),
    awaitMatched: () => awaitMatched(storage.register, () => sender.notify()),
    nowMs,
    logger,
  });
  const findWebhook = (id: string) => register.find(id);
  const log = new DeliveryLog({
    ...{ rows: queue.log, findWebhook, onQueued: onChanged, nowMs, steadyMs },
    isUnderWay: (delivery) => sender.isUnderWay(delivery),
  });
  return {
    register,
    log,
    dryRun: createDryRun({ history, slices, observer }),
    replays: new Replays({ rows: queue.replays, history, findWebhook, onChanged, nowMs }),
    ping: (id) => sendPing(id, { register, pings, log }),
    pingTarget: async (body) => pings.sendTo(register.readTarget(body)),
  };
}

/** Sends a ping; a success lifts a suspension. */
async function sendPing(
  id: string,
  { register, pings, log }: { register: Register; pings: Pings; log: DeliveryLog },
): Promise<DeliveryWithBody> {
  const webhook = await register.find(id);
  const { number, isSuccess } = await pings.send(webhook);
  if (isSuccess && webhook.suspended !== undefined) await register.resume(webhook.id);
  return log.find(id, `${number}`);
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
async function awaitMatched(
  { lastEvent, lastMatched }: Pick<RegisterStorage, "lastEvent" | "lastMatched">,
  notify: () => void,
): Promise<void> {
  const last = await lastEvent();
  const endMs = performance.now() + MAX_WAIT_MS;
  // The matcher may run in another process, which is reached through the database.
  for (
    let pauseMs = FIRST_PAUSE_MS;
    (await lastMatched()) < last;
    pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)
  ) {
    if (performance.now() >= endMs) return;
    notify();
    await sleep(pauseMs);
  }
}
