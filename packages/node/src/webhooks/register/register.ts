/** The register of webhooks (webhooks.md 4). */
import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import { oncePerTick } from "../../platform/once-per-tick.ts";
import { integer, type Readers, readMembers } from "../../subscriptions/fields.ts";
import { WebhookError } from "../error.ts";
import type { Webhook } from "../model/webhook.ts";
import type { HealthTotals, WebhookHealth } from "../storage/health.ts";
import type { NewPing } from "../storage/pings.ts";
import type { RegisterStorage, Updated } from "../storage/register-commands.ts";
import type { Range, WebhookFilter, WebhookList } from "../storage/webhooks.ts";
import { checkTarget, readChanges, readNewWebhook, readTarget, type TargetOptions } from "./fields.ts";

export type RegisterOptions = TargetOptions & {
  readonly webhookLimit: number;
};

export type RegisterDeps = {
  storage: RegisterStorage;
  /** Settles when every event that the register names reaches the log. */
  webhooksChanged: () => Promise<void>;
  /** Creates a ping for the queue of a webhook. */
  createPing: (webhook: number) => NewPing;
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
  /** Lists enabled and disabled webhooks by ascending id: all, or the ones of the filter. */
  list(range: Range, filter?: WebhookFilter): Promise<WebhookList>;
  /** @throws {WebhookError} WEBHOOK_UNKNOWN */
  find(id: string): Promise<Webhook>;
  /** Returns another enabled webhook with the same target, events and conditions, whose deliveries arrive a second time. */
  twinOf(webhook: Webhook): Promise<number | undefined>;
  /**
   * Reads a body that has only a target, and checks that the target may be registered.
   *
   * @throws {SubscriptionError}
   */
  readTarget(body: unknown): string;
  health(webhook: Webhook): Promise<WebhookHealth>;
  healthTotals(): Promise<HealthTotals>;
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
  rotate(id: string, body: unknown): Promise<Webhook>;
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
    async list(range, filter = {}) {
      if (Object.keys(filter).length > 0) return webhooks.search(filter, range, nowMs());
      const [page, totalCount] = await Promise.all([webhooks.page(range), webhooks.count()]);
      return { webhooks: page, totalCount };
    },
    find: (id) => find(storage, id),
    twinOf: (webhook) => webhooks.twinOf(webhook),
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

async function find({ webhooks }: RegisterStorage, id: string): Promise<Webhook> {
  // Any text that is neither the decimal form of an id nor an alias is unknown.
  const number = /^[1-9]\d{0,14}$/.test(id) ? Number(id) : await webhooks.idOf(id);
  const webhook = number === undefined ? undefined : await webhooks.find(number);
  if (!webhook) throw unknownWebhook(id);
  return webhook;
}

const unknownWebhook = (id: string): WebhookError =>
  new WebhookError(
    "WEBHOOK_UNKNOWN",
    `webhook ${id.slice(0, MAX_SHOWN)} not found: GET /api/v2/webhooks lists the webhooks`,
  );

const TOKEN_BYTES = 32;
const createToken = () => randomBytes(TOKEN_BYTES).toString("hex");

async function create(context: Context, body: unknown): Promise<Webhook> {
  const { storage, webhookLimit, webhooksChanged, createPing, logger } = context;
  const { commands } = storage;
  const { ping, ...fields } = readNewWebhook(body);
  checkTarget(context, fields.target);
  const webhook = await commands.insert({ fields, token: createToken() }, webhookLimit);
  try {
    await webhooksChanged();
  } catch (error) {
    await commands.remove(webhook.id);
    throw error;
  }
  // Before this point, the log may lack events that only this webhook names; the webhook receives later ones.
  await commands.activate(webhook.id, ping && webhook.enabled ? createPing(webhook.id) : undefined);
  logger.info({ webhook: webhook.id, enabled: webhook.enabled }, "webhook registered");
  if (ping) context.onChanged(webhook.id);
  return webhook;
}

/** Reason of cancelled deliveries of a dropped queue. */
const UPDATED = "the webhook was updated";

async function update(context: Context, id: string, body: unknown): Promise<void> {
  const { storage, nowMs } = context;
  const { changes, isDropping } = readChanges(body);
  const { id: webhook } = await find(storage, id);
  if (Object.keys(changes).length === 0 && !isDropping) return;
  if (changes.target !== undefined) checkTarget(context, changes.target);
  // Events under the current definition must be queued before it is replaced.
  await context.awaitMatched();
  const drop = isDropping && { drop: { reason: UPDATED, atMs: nowMs() } };
  const updated = await storage.commands.update(webhook, { changes, ...drop });
  if (!updated) throw unknownWebhook(id);
  logUpdate(context, updated);
  if (updated.restarts) context.onRestarted(webhook);
  else context.onChanged(webhook);
  await context.webhooksChanged();
}

function logUpdate({ logger }: Context, { before, after, dropped }: Updated): void {
  const { id: webhook, enabled, suspended } = before;
  if (dropped > 0) logger.info({ webhook, deliveries: dropped }, "queue of a webhook dropped by an update");
  if (suspended) logger.info({ webhook }, "webhook resumed by an update");
  if (enabled !== after.enabled)
    logger.info({ webhook }, after.enabled ? "webhook enabled" : "webhook disabled");
}

const DAY_SECONDS = 86_400;
const ROTATION_READERS: Readers<{ overlapSeconds: number }> = {
  overlapSeconds: integer(0, 30 * DAY_SECONDS),
};

async function rotate({ storage, nowMs, onChanged }: Context, id: string, body: unknown): Promise<Webhook> {
  const { overlapSeconds = DAY_SECONDS } = readMembers(body, ROTATION_READERS);
  const { id: number } = await find(storage, id);
  const webhook = await storage.commands.rotate(number, createToken(), nowMs() + overlapSeconds * 1_000);
  if (!webhook) throw unknownWebhook(id);
  onChanged(number);
  return webhook;
}

async function remove({ storage, logger, onChanged, webhooksChanged }: Context, id: string): Promise<void> {
  const { id: webhook } = await find(storage, id);
  if (!(await storage.commands.remove(webhook))) throw unknownWebhook(id);
  logger.info({ webhook }, "webhook removed");
  onChanged(webhook);
  await webhooksChanged();
}

async function resume(
  { storage, logger, onRestarted, webhooksChanged }: Context,
  webhook: number,
): Promise<void> {
  await storage.commands.resume(webhook);
  logger.info({ webhook }, "webhook resumed: its target responded to a ping");
  onRestarted(webhook);
  await webhooksChanged();
}
