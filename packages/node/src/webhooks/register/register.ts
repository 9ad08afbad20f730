/** The register of webhooks (webhooks.md 4). */
import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import { oncePerTick } from "../../platform/once-per-tick.ts";
import { integer, type Readers, readMembers } from "../../subscriptions/members.ts";
import { WebhookError } from "../error.ts";
import type { HealthTotals, WebhookHealth } from "../health.ts";
import type { Webhook, WebhookFields } from "../model/webhook.ts";
import { checkConditions, checkLimits } from "./bounds.ts";
import { checkEvents, readChanges, readNewWebhook } from "./fields.ts";
import type { RegisterStorage } from "./rows.ts";
import { checkTarget, readTarget, type TargetOptions } from "./targets.ts";

export type RegisterOptions = TargetOptions & {
  readonly webhookLimit: number;
};

export type RegisterDeps = {
  storage: RegisterStorage;
  /** Settles when every event that the register names reaches the log. */
  webhooksChanged: () => Promise<void>;
  /** Puts a ping into the queue of the webhook. */
  queuePing: (webhook: number) => void;
  /** Called when the webhook or its queue has changed. */
  onChanged: (webhook: number) => void;
  /** Called when the queue of the webhook restarts. */
  onRestarted: (webhook: number) => void;
  /** Settles when all events logged so far were matched, or after a timeout. */
  awaitMatched: () => Promise<void>;
  nowMs: () => number;
  logger: Pick<Logger, "info">;
};

/**
 * Bodies are parsed by `parseJson`. Ids may be any text; valid ids are ids and aliases of webhooks. When the promise of
 * a change settles, the change is on disk, and the event log records the events that the register names.
 */
export type Register = {
  /** Lists enabled and disabled webhooks by ascending id. */
  list(range: { offset: number; limit: number }): { webhooks: Webhook[]; totalCount: number };
  /** @throws {WebhookError} WEBHOOK_UNKNOWN */
  find(id: string): Webhook;
  /**
   * Reads a body that has only a target, and checks that the target may be registered.
   *
   * @throws {SubscriptionError}
   */
  readTarget(body: unknown): string;
  health(webhook: Webhook): WebhookHealth;
  healthTotals(): HealthTotals;
  /**
   * Creates a webhook, which receives exactly the events after the promise settles. With `body.ping`, a ping is sent before
   * these events, unless the webhook is disabled.
   *
   * @throws {SubscriptionError}
   * @throws {WebhookError} WEBHOOK_LIMIT
   */
  create(body: unknown): Promise<Webhook>;
  /**
   * Changes the definition; id and token stay (webhooks.md 4.4). Pending deliveries stay in the queue and go to the new
   * target, unless `body.queue` is "drop". An empty body changes nothing.
   *
   * @throws {SubscriptionError}
   * @throws {WebhookError} WEBHOOK_UNKNOWN, WEBHOOK_LIMIT
   */
  update(id: string, body: unknown): Promise<void>;
  /**
   * Creates a new token. For `body.overlapSeconds` (default: a day), deliveries are also signed with the old one.
   *
   * @throws {SubscriptionError}
   * @throws {WebhookError} WEBHOOK_UNKNOWN
   */
  rotate(id: string, body: unknown): Webhook;
  /** @throws {WebhookError} WEBHOOK_UNKNOWN */
  remove(id: string): Promise<void>;
  /** Lifts a suspension: the webhook receives every event after the promise settles. */
  resume(webhook: number): Promise<void>;
};

/** Shared state of the operations. */
type Context = RegisterOptions & RegisterDeps;

export function createRegister(options: RegisterOptions, deps: RegisterDeps): Register {
  const context = { ...options, ...deps, webhooksChanged: oncePerTick(deps.webhooksChanged) };
  const { storage, nowMs } = deps;
  const { webhooks, health } = storage;
  return {
    list: (range) => ({ webhooks: webhooks.page(range), totalCount: webhooks.count() }),
    find: (id) => find(storage, id),
    readTarget: (body) => readTarget(context, body),
    health: (webhook) => health.of(webhook, nowMs()),
    healthTotals: () => health.totals(nowMs()),
    create: (body) => create(context, body),
    update: (id, body) => update(context, id, body),
    rotate: (id, body) => rotate(context, id, body),
    remove: (id) => remove(context, id),
    resume: (webhook) => resume(context, webhook),
  };
}

/** Maximum characters of an id that an error repeats. */
const MAX_SHOWN = 64;

function find({ webhooks, aliases }: RegisterStorage, id: string): Webhook {
  // Any text that is neither the decimal form of an id nor an alias is unknown.
  const number = /^[1-9]\d{0,14}$/.test(id) ? Number(id) : aliases.idOf(id);
  const webhook = number === undefined ? undefined : webhooks.find(number);
  if (!webhook) {
    throw new WebhookError(
      "WEBHOOK_UNKNOWN",
      `webhook ${id.slice(0, MAX_SHOWN)} not found: GET /api/v2/webhooks lists the webhooks`,
    );
  }
  return webhook;
}

const TOKEN_BYTES = 32;
const createToken = () => randomBytes(TOKEN_BYTES).toString("hex");

async function create(context: Context, body: unknown): Promise<Webhook> {
  const { storage, webhookLimit, webhooksChanged, logger } = context;
  const { webhooks, commit } = storage;
  const { ping, ...fields } = readNewWebhook(body);
  checkTarget(context, fields.target);
  const webhook = await commit(() => {
    checkLimits(webhooks, [fields], webhookLimit);
    return webhooks.insert(fields, createToken());
  });
  try {
    await webhooksChanged();
  } catch (error) {
    await commit(() => webhooks.remove(webhook.id));
    throw error;
  }
  // Before this point, the log may lack events that only this webhook names; the webhook receives later ones.
  await commit(() => {
    webhooks.activate(webhook.id, storage.lastEvent());
    if (ping && webhook.enabled) context.queuePing(webhook.id);
  });
  logger.info({ webhook: webhook.id, enabled: webhook.enabled }, "webhook registered");
  if (ping) context.onChanged(webhook.id);
  return webhook;
}

async function update(context: Context, id: string, body: unknown): Promise<void> {
  const { storage, logger } = context;
  const { changes, isDropping } = readChanges(body);
  find(storage, id);
  if (Object.keys(changes).length === 0 && !isDropping) return;
  // Events under the current definition must be queued before it is replaced.
  await context.awaitMatched();
  const { before, after, restarts } = await storage.commit(() =>
    replace(context, find(storage, id), changes, isDropping),
  );
  logChange(before, after.enabled, logger);
  if (restarts) context.onRestarted(before.id);
  else context.onChanged(before.id);
  await context.webhooksChanged();
}

/** Must be called in a transaction. `restarts`: the queue restarts, because a new target may respond. */
function replace(context: Context, before: Webhook, changes: Partial<WebhookFields>, isDropping: boolean) {
  const { storage } = context;
  const { webhooks } = storage;
  const after = { ...before, ...changes };
  checkEvents(after);
  if (changes.target !== undefined) checkTarget(context, after.target);
  if (changes.conditions !== undefined) checkConditions(webhooks.conditionsBytes(before.id), [after]);
  const isMoved = after.target !== before.target;
  if (isDropping) dropQueue(context, before.id, isMoved);
  const wasOn = before.enabled && before.suspended === undefined;
  webhooks.replace(before.id, after, wasOn ? undefined : storage.lastEvent());
  const restarts = isMoved || (after.enabled && !wasOn);
  if (restarts) storage.restartQueue(before.id);
  return { before, after, restarts };
}

/** Reason of cancelled deliveries of a dropped queue. */
const UPDATED = "the webhook was updated";

function dropQueue({ storage, nowMs, logger }: Context, webhook: number, withRetractions: boolean): void {
  const deliveries = storage.webhooks.queued(webhook);
  if (deliveries > 0) logger.info({ webhook, deliveries }, "queue of a webhook dropped by an update");
  // A new target has received no facts, and needs no retractions.
  storage.cancelDeliveries(webhook, { reason: UPDATED, withRetractions }, nowMs());
}

function logChange(
  { id: webhook, enabled, suspended }: Webhook,
  isEnabled: boolean,
  logger: RegisterDeps["logger"],
): void {
  if (suspended) logger.info({ webhook }, "webhook resumed by an update");
  if (enabled !== isEnabled) logger.info({ webhook }, isEnabled ? "webhook enabled" : "webhook disabled");
}

const DAY_SECONDS = 86_400;
const ROTATION_READERS: Readers<{ overlapSeconds: number }> = {
  overlapSeconds: integer(0, 30 * DAY_SECONDS),
};

function rotate({ storage, nowMs, onChanged }: Context, id: string, body: unknown): Webhook {
  const { webhooks } = storage;
  const { overlapSeconds = DAY_SECONDS } = readMembers(body, ROTATION_READERS);
  const webhook = find(storage, id).id;
  webhooks.rotate(webhook, createToken(), nowMs() + overlapSeconds * 1_000);
  onChanged(webhook);
  return find(storage, id);
}

async function remove({ storage, logger, onChanged, webhooksChanged }: Context, id: string): Promise<void> {
  const { webhooks, commit } = storage;
  const webhook = await commit(() => {
    const { id: webhook } = find(storage, id);
    webhooks.remove(webhook);
    return webhook;
  });
  logger.info({ webhook }, "webhook removed");
  onChanged(webhook);
  await webhooksChanged();
}

async function resume(
  { storage, logger, onRestarted, webhooksChanged }: Context,
  webhook: number,
): Promise<void> {
  await storage.commit(() => {
    storage.resume(webhook, storage.lastEvent());
    storage.restartQueue(webhook);
  });
  logger.info({ webhook }, "webhook resumed: its target responded to a ping");
  onRestarted(webhook);
  await webhooksChanged();
}
