/** The register of webhooks (webhooks.md 4). */
import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import type { Logger } from "pino";
import { integer, invalid, type Readers, readMembers, required } from "../../subscriptions/members.ts";
import { WebhookError } from "../error.ts";
import type { HealthTotals, WebhookHealth } from "../health.ts";
import type { Webhook, WebhookFields } from "../webhook.ts";
import { checkConditions, checkLimits } from "./bounds.ts";
import { checkEvents, FIELD_READERS, readChanges, readNewWebhook } from "./fields.ts";
import { oncePerTick } from "./once-per-tick.ts";
import type { RegisterStorage } from "./rows.ts";

export type RegisterOptions = {
  readonly maxWebhooks: number;
  /** Refuses targets with the scheme http. */
  readonly httpsOnly: boolean;
  /** Returns whether deliveries may go to an address. Names are only checked by the guard of deliveries. */
  readonly isTargetAddress: (address: string) => boolean;
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
  matched: () => Promise<void>;
  nowMs: () => number;
  logger: Pick<Logger, "info">;
};

/**
 * Bodies are parsed by `parseJson`; ids may be any text, valid ones are ids and aliases of webhooks. When the promise of a
 * change settles, the change is on disk, and the event log records the events that the register names.
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

/** Maximum characters of an id that an error repeats. */
const MAX_SHOWN = 64;

const TOKEN_BYTES = 32;
const createToken = () => randomBytes(TOKEN_BYTES).toString("hex");

/** Reason of cancelled deliveries of a dropped queue. */
const UPDATED = "the webhook was updated";

const DAY_SECONDS = 86_400;
const ROTATION_READERS: Readers<{ overlapSeconds: number }> = {
  overlapSeconds: integer(0, 30 * DAY_SECONDS),
};

export function createRegister(options: RegisterOptions, deps: RegisterDeps): Register {
  const { maxWebhooks, httpsOnly, isTargetAddress } = options;
  const { storage, queuePing, onChanged, nowMs, logger } = deps;
  const { webhooks, aliases, commit } = storage;
  const webhooksChanged = oncePerTick(deps.webhooksChanged);

  function find(id: string): Webhook {
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

  /** Refuses a target that the guard would refuse at every delivery. */
  function checkTarget({ target }: Pick<Webhook, "target">): void {
    if (httpsOnly && !/^https:/i.test(target)) {
      throw invalid('"target" must be an https URL on this node', "TARGET_REFUSED");
    }
    const address = addressIn(target);
    if (address !== undefined && !isTargetAddress(address)) {
      throw invalid(
        `"target" must not be the address ${address}, which is not public: see --webhook-private-targets and --webhook-allow`,
        "TARGET_REFUSED",
      );
    }
  }

  function logChange({ id: webhook, enabled, suspended }: Webhook, isEnabled: boolean): void {
    if (suspended) logger.info({ webhook }, "webhook resumed by an update");
    if (enabled !== isEnabled) logger.info({ webhook }, isEnabled ? "webhook enabled" : "webhook disabled");
  }

  /** Must be called in a transaction. `restarts`: the queue restarts, because a new target may respond. */
  function replace(before: Webhook, changes: Partial<WebhookFields>, isDropping: boolean) {
    const after = { ...before, ...changes };
    checkEvents(after);
    if (changes.target !== undefined) checkTarget(after);
    if (changes.conditions !== undefined) checkConditions(webhooks.conditionsBytes(before.id), [after]);
    const isMoved = after.target !== before.target;
    if (isDropping) drop(before.id, isMoved);
    const wasOn = before.enabled && before.suspended === undefined;
    webhooks.replace(before.id, after, wasOn ? undefined : storage.lastEvent());
    const restarts = isMoved || (after.enabled && !wasOn);
    if (restarts) storage.restartQueue(before.id);
    return { before, after, restarts };
  }

  function drop(webhook: number, withRetractions: boolean): void {
    const deliveries = webhooks.queued(webhook);
    if (deliveries > 0) logger.info({ webhook, deliveries }, "queue of a webhook dropped by an update");
    // A new target has received no facts, and needs no retractions.
    storage.cancelDeliveries(webhook, { reason: UPDATED, withRetractions }, nowMs());
  }

  return {
    list: (range) => ({ webhooks: webhooks.page(range), totalCount: webhooks.count() }),
    find,
    readTarget(body) {
      const target = required(readMembers(body, { target: FIELD_READERS.target }).target, "target");
      checkTarget({ target });
      return target;
    },
    health: (webhook) => storage.health.of(webhook, nowMs()),
    healthTotals: () => storage.health.totals(nowMs()),

    async create(body) {
      const { ping, ...fields } = readNewWebhook(body);
      checkTarget(fields);
      const webhook = await commit(() => {
        checkLimits(webhooks, [fields], maxWebhooks);
        return webhooks.insert(fields, createToken());
      });
      try {
        await webhooksChanged();
      } catch (error) {
        await commit(() => webhooks.remove(webhook.id));
        throw error;
      }
      // Until now, the log may lack events that only this webhook names: the webhook receives later events.
      await commit(() => {
        webhooks.activate(webhook.id, storage.lastEvent());
        if (ping && webhook.enabled) queuePing(webhook.id);
      });
      logger.info({ webhook: webhook.id, enabled: webhook.enabled }, "webhook registered");
      if (ping) onChanged(webhook.id);
      return webhook;
    },

    async update(id, body) {
      const { changes, isDropping } = readChanges(body);
      if (Object.keys(changes).length === 0 && !isDropping) return void find(id);
      find(id);
      // Events under the current definition must be queued before it is replaced.
      await deps.matched();
      const { before, after, restarts } = await commit(() => replace(find(id), changes, isDropping));
      logChange(before, after.enabled);
      if (restarts) deps.onRestarted(before.id);
      else onChanged(before.id);
      await webhooksChanged();
    },

    rotate(id, body) {
      const { overlapSeconds = DAY_SECONDS } = readMembers(body, ROTATION_READERS);
      const webhook = find(id).id;
      webhooks.rotate(webhook, createToken(), nowMs() + overlapSeconds * 1_000);
      onChanged(webhook);
      return webhooks.find(webhook)!;
    },

    async remove(id) {
      const webhook = await commit(() => {
        const { id: webhook } = find(id);
        webhooks.remove(webhook);
        return webhook;
      });
      logger.info({ webhook }, "webhook removed");
      onChanged(webhook);
      await webhooksChanged();
    },

    async resume(webhook) {
      await commit(() => {
        storage.resume(webhook, storage.lastEvent());
        storage.restartQueue(webhook);
      });
      logger.info({ webhook }, "webhook resumed: its target responded to a ping");
      deps.onRestarted(webhook);
      await webhooksChanged();
    },
  };
}

/** Returns the address in a URL; undefined for a name other than that of this machine. */
function addressIn(target: string): string | undefined {
  const host = new URL(target).hostname.replace(/^\[|\]$/g, "");
  if (host === "localhost") return "127.0.0.1";
  return isIP(host) === 0 ? undefined : host;
}
