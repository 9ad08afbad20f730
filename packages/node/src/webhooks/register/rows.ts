/** Database port of the register: reads, and commands that change webhooks. */
import type { Content } from "../../subscriptions/content.ts";
import type { HealthRows } from "../health.ts";
import type { NewDelivery } from "../model/deliveries.ts";
import type { Webhook, WebhookFields } from "../model/webhook.ts";

export type RegisterStorage = {
  readonly webhooks: RegisterRows;
  readonly aliases: WebhookAliases;
  readonly health: HealthRows;
  readonly commands: RegisterCommands;
  /** Returns the sequence of the newest event ever logged; 0 before the first. */
  lastEvent(): Promise<number>;
  /** Returns the sequence of the last matched event. */
  lastMatched(): Promise<number>;
};

export type RegisterRows = {
  count(): Promise<number>;
  /** Returns webhooks by ascending id. */
  page(range: { offset: number; limit: number }): Promise<readonly Webhook[]>;
  find(id: number): Promise<Webhook | undefined>;
  /** Returns the lowest id of another enabled webhook with the same target, events and conditions. */
  twinOf(webhook: Webhook): Promise<number | undefined>;
};

/** Aliases of webhooks (webhooks.md W-03); they are removed with the webhook. */
export type WebhookAliases = {
  /** Returns the id of the webhook with this alias. */
  idOf(alias: string): Promise<number | undefined>;
  /** Returns the webhooks that have an alias, by ascending id. */
  webhooks(): Promise<readonly number[]>;
};

/**
 * Changes of the register. Each is atomic, and on disk when its promise settles. They are made in the order of the calls, and
 * may share a transaction; a refused change undoes no other.
 */
export type RegisterCommands = {
  /**
   * Inserts a webhook, which receives nothing until it is activated.
   *
   * @throws {WebhookError} WEBHOOK_LIMIT if the register would have too many webhooks or conditions
   */
  insert(webhook: NewWebhookRow, webhookLimit: number): Promise<Webhook>;
  /** Activates a webhook: it receives the ping, if there is one, and then every event that is logged from here on. */
  activate(id: number, ping?: NewPing): Promise<void>;
  /**
   * Changes the definition; id and token stay, and the failure count is reset. A webhook that was inactive receives every
   * event that is logged from here on. Resolves to undefined if the webhook is unknown.
   *
   * @throws {SubscriptionError} if no event would remain
   * @throws {WebhookError} WEBHOOK_LIMIT
   */
  update(id: number, update: Update): Promise<Updated | undefined>;
  /** Sets a new token; the current one stays valid until a time. Resolves to undefined if the webhook is unknown. */
  rotate(id: number, token: string, untilMs: number): Promise<Webhook | undefined>;
  /** Removes a webhook: its deliveries are hidden at once, and dropped step by step. Resolves to `false` if it is unknown. */
  remove(id: number): Promise<boolean>;
  /** Lifts a suspension and restarts the queue: the webhook receives every event that is logged from here on. */
  resume(id: number): Promise<void>;
};

export type NewWebhookRow = { readonly fields: WebhookFields; readonly token: string };

/** A ping that is put into the queue of its webhook. */
export type NewPing = Pick<NewDelivery, "webhook" | "id" | "event"> & {
  readonly createdMs: number;
  readonly content: Content;
};

export type Update = {
  readonly changes: Partial<WebhookFields>;
  /**
   * Cancels pending deliveries and a replay; absent: they stay. Retractions are only cancelled if the target changes.
   * `DeliveryQueue.finishStep` continues after the first step.
   */
  readonly drop?: { readonly reason: string; readonly atMs: number };
};

export type Updated = {
  readonly before: Webhook;
  readonly after: WebhookFields;
  /** True if the queue restarts: pending deliveries are first attempts again. `DeliveryQueue.finishStep` continues. */
  readonly restarts: boolean;
  /** Number of cancelled deliveries. */
  readonly dropped: number;
};
