/** What the register asks of the database: changes of webhooks, made together. */
import type { HealthRows } from "../health.ts";
import type { ActiveWebhook, Webhook, WebhookFields } from "../webhook.ts";

export type RegisterStorage = {
  /**
   * Makes a synchronous change; changes that come within a short time share one transaction. Settles with what the change
   * returns or throws, once it is on disk.
   */
  commit<T>(change: () => T): Promise<T>;
  readonly webhooks: RegisterRows;
  readonly aliases: WebhookAliases;
  readonly health: HealthRows;
  /** Sequence of the newest event ever logged; 0 before the first. */
  lastEvent(): number;
  /** Sequence of the last event that was matched. */
  lastMatched(): number;
  /** Cancels what waits for the webhook, its replay included; what exceeds one step is left to `DeliveryQueue.finishStep`. */
  cancelDeliveries(webhook: number, cancellation: Cancellation, atMs: number): void;
  /** Makes what waits for the webhook first attempts again; what exceeds one step is left to `DeliveryQueue.finishStep`. */
  restartQueue(webhook: number): void;
  /** Lifts a suspension: the webhook receives the events behind a sequence. */
  resume(webhook: number, after: number): void;
};

export type Cancellation = {
  readonly reason: string;
  /** Otherwise retractions keep waiting: a target that received a fact must receive its retraction. */
  readonly withRetractions: boolean;
};

export type RegisterRows = {
  count(): number;
  /** Bytes that the conditions of all webhooks but one take together. */
  conditionsBytes(except?: number): number;
  /** By ascending id. */
  page(range: { offset: number; limit: number }): Webhook[];
  find(id: number): Webhook | undefined;
  /** A new webhook receives nothing until it is activated. */
  insert(fields: WebhookFields, token: string): Webhook;
  activate(id: number, after: number): void;
  /**
   * A new definition behind the same id and token, without the failures of the old one. The webhook receives the events
   * behind `after`; undefined: as before.
   */
  replace(id: number, fields: WebhookFields, after: number | undefined): void;
  /** Number of deliveries that wait for the webhook. */
  queued(id: number): number;
  /** A new token; the present one is valid until a time. */
  rotate(id: number, token: string, untilMs: number): void;
  /** Its deliveries are not found any more from now on, and dropped a step at a time. */
  remove(id: number): void;
  /** Another one whenever the active webhooks may be others. */
  version(): number;
  active(): ActiveWebhook[];
};

/** Names of webhooks beside their ids (webhooks.md W-03); they go with the webhook. */
export type WebhookAliases = {
  /** Id of the webhook that is known by this name. */
  idOf(alias: string): number | undefined;
  add(alias: string, webhook: number): void;
  /** Webhooks that have one, by ascending id. */
  webhooks(): number[];
};
