/** The register of webhooks (webhooks.md 4). */
import type { Logger } from "pino";
import { integer, type Readers, readMembers } from "../../subscriptions/fields.ts";
import { WebhookError } from "../error.ts";
import { createToken } from "../model/message.ts";
import type { Webhook } from "../model/webhook.ts";
import type { WebhookOptions } from "../options.ts";
import type { HealthTotals, WebhookHealth } from "../storage/health.ts";
import type { NewPing } from "../storage/pings.ts";
import type { RegisterStorage, Updated } from "../storage/register-commands.ts";
import type { Range, WebhookFilter, WebhookList } from "../storage/webhook-list.ts";
import { checkTarget, readChanges, readNewWebhook, readTrial, type Trial } from "./fields.ts";

export type RegisterOptions = Pick<WebhookOptions, "webhookLimit" | "isTargetAddress">;

type RegisterDeps = {
  storage: RegisterStorage;
  webhooksChanged: () => Promise<void>;
  createPing: (webhook: number) => NewPing;
  onChanged: (webhook: number) => void;
  onRestarted: (webhook: number) => void;
  /** Settles when all events logged so far were matched, or after a timeout. */
  awaitMatched: () => Promise<void>;
  nowMs: () => number;
  logger: Pick<Logger, "info" | "warn">;
};

/** Reason of cancelled deliveries of a dropped queue. */
const UPDATED = "the webhook was updated";

const DAY_SECONDS = 86_400;
const ROTATION_READERS: Readers<{ overlapSeconds: number }> = {
  overlapSeconds: integer(0, 30 * DAY_SECONDS),
};

/**
 * Bodies are parsed by `parseJson`. Ids may be any text; valid ids are ids and aliases of webhooks. When the promise of
 * a change settles, the change is on disk, and the event log records the events that the register names.
 */
export class Register {
  readonly #options: RegisterOptions;
  readonly #deps: RegisterDeps;
  readonly #storage: RegisterStorage;

  constructor(options: RegisterOptions, deps: RegisterDeps) {
    this.#options = options;
    this.#deps = { ...deps, webhooksChanged: oncePerTick(deps.webhooksChanged) };
    this.#storage = deps.storage;
  }

  /** Lists enabled and disabled webhooks by ascending id: all, or the ones of the filter. */
  async list(range: Range, filter: WebhookFilter = {}): Promise<WebhookList> {
    const { webhooks } = this.#storage;
    if (Object.keys(filter).length > 0) return webhooks.search(filter, range, this.#deps.nowMs());
    const [page, totalCount] = await Promise.all([webhooks.page(range), webhooks.count()]);
    return { webhooks: page, totalCount };
  }

  /** @throws {WebhookError} WEBHOOK_UNKNOWN */
  async find(id: string): Promise<Webhook> {
    const { webhooks } = this.#storage;
    // Any text that is neither the decimal form of an id nor an alias is unknown.
    const number = /^[1-9]\d{0,14}$/.test(id) ? Number(id) : await webhooks.idOf(id);
    const webhook = number === undefined ? undefined : await webhooks.find(number);
    if (!webhook) throw unknownWebhook(id);
    return webhook;
  }

  /** Returns another enabled webhook with the same target, events and conditions, whose deliveries arrive a second time. */
  twinOf(webhook: Webhook): Promise<number | undefined> {
    return this.#storage.webhooks.twinOf(webhook);
  }

  /**
   * Reads what to send to a target without a webhook, and checks that the target may be registered.
   *
   * @throws {SubscriptionError}
   */
  readTrial(body: unknown): Trial {
    return readTrial(this.#options, body);
  }

  health(webhook: Webhook): Promise<WebhookHealth> {
    return this.#storage.health.of(webhook, this.#deps.nowMs());
  }

  healthTotals(): Promise<HealthTotals> {
    return this.#storage.health.totals(this.#deps.nowMs());
  }

  /**
   * Creates a webhook, which receives exactly the events after the promise settles. With `body.ping`, a ping is sent before
   * these events, unless the webhook is disabled.
   *
   * @throws {SubscriptionError}
   * @throws {WebhookError} WEBHOOK_LIMIT
   */
  async create(body: unknown): Promise<Webhook> {
    const { webhooksChanged, createPing, onChanged, logger } = this.#deps;
    const { commands } = this.#storage;
    const { ping, ...fields } = readNewWebhook(body);
    checkTarget(this.#options, fields.target);
    const webhook = await commands.insert({ fields, token: createToken() }, this.#options.webhookLimit);
    try {
      await webhooksChanged();
      // Before this point, the log may lack events that only this webhook names; the webhook receives later ones.
      await commands.activate(webhook.id, ping && webhook.enabled ? createPing(webhook.id) : undefined);
    } catch (error) {
      await commands.remove(webhook.id);
      throw error;
    }
    logger.info({ webhook: webhook.id, enabled: webhook.enabled }, "webhook registered");
    if (ping) onChanged(webhook.id);
    return webhook;
  }

  /**
   * Changes the definition; id and token stay (webhooks.md 4.4). Pending deliveries stay in the queue and go to the new
   * target, unless `body.queue` is "drop". An empty body changes nothing.
   *
   * @throws {SubscriptionError}
   * @throws {WebhookError} WEBHOOK_UNKNOWN, WEBHOOK_LIMIT
   */
  async update(id: string, body: unknown): Promise<void> {
    const { awaitMatched, nowMs, onRestarted, onChanged, webhooksChanged, logger } = this.#deps;
    const { changes, isDropping } = readChanges(body);
    const { id: webhook } = await this.find(id);
    if (Object.keys(changes).length === 0 && !isDropping) return;
    if (changes.target !== undefined) checkTarget(this.#options, changes.target);
    // Events under the current definition must be queued before it is replaced.
    await awaitMatched();
    const drop = isDropping && { drop: { reason: UPDATED, atMs: nowMs() } };
    const updated = await this.#storage.commands.update(webhook, { changes, ...drop });
    if (!updated) throw unknownWebhook(id);
    logUpdate(logger, updated);
    if (updated.restarts) onRestarted(webhook);
    else onChanged(webhook);
    await webhooksChanged();
  }

  /**
   * Creates a new token. For `body.overlapSeconds` (default: a day), deliveries are also signed with the old one.
   *
   * @throws {SubscriptionError}
   * @throws {WebhookError} WEBHOOK_UNKNOWN
   */
  async rotate(id: string, body: unknown): Promise<Webhook> {
    const { overlapSeconds = DAY_SECONDS } = readMembers(body, ROTATION_READERS);
    const { id: number } = await this.find(id);
    const untilMs = this.#deps.nowMs() + overlapSeconds * 1_000;
    const webhook = await this.#storage.commands.rotate(number, createToken(), untilMs);
    if (!webhook) throw unknownWebhook(id);
    this.#deps.onChanged(number);
    return webhook;
  }

  /**
   * Removes a webhook, and ends its running calls.
   *
   * @throws {WebhookError} WEBHOOK_UNKNOWN
   */
  async remove(id: string): Promise<void> {
    const { logger, onRestarted, webhooksChanged } = this.#deps;
    const { id: webhook } = await this.find(id);
    if (!(await this.#storage.commands.remove(webhook))) throw unknownWebhook(id);
    logger.info({ webhook }, "webhook removed");
    onRestarted(webhook);
    // The event log may name more events than needed until the next change.
    await webhooksChanged().catch((err) =>
      logger.warn({ err, webhook }, "the node could not be notified of a removed webhook"),
    );
  }

  /** Lifts a suspension: the webhook receives every event after the promise settles. */
  async resume(webhook: number): Promise<void> {
    const { logger, onRestarted, webhooksChanged } = this.#deps;
    await this.#storage.commands.resume(webhook);
    logger.info({ webhook }, "webhook resumed: its target responded to a ping");
    onRestarted(webhook);
    await webhooksChanged();
  }
}

/** Maximum characters of an id that an error repeats. */
const MAX_SHOWN = 64;

const unknownWebhook = (id: string): WebhookError =>
  new WebhookError(
    "WEBHOOK_UNKNOWN",
    `webhook ${id.slice(0, MAX_SHOWN)} not found: GET /api/v2/webhooks lists the webhooks`,
  );

function logUpdate(logger: RegisterDeps["logger"], { before, after, dropped }: Updated): void {
  const { id: webhook, enabled, suspended } = before;
  if (dropped > 0) logger.info({ webhook, deliveries: dropped }, "queue of a webhook dropped by an update");
  if (suspended) logger.info({ webhook }, "webhook resumed by an update");
  if (enabled !== after.enabled)
    logger.info({ webhook }, after.enabled ? "webhook enabled" : "webhook disabled");
}

/**
 * Coalesces calls before the next microtask into one call of `work`. `work` starts after all of these calls, and so after
 * the writes of each caller.
 */
function oncePerTick(work: () => Promise<void>): () => Promise<void> {
  let next: Promise<void> | undefined;
  return () => {
    next ??= Promise.resolve().then(() => {
      next = undefined;
      return work();
    });
    return next;
  };
}
