/** Database port of the register: changes of webhooks, in shared transactions. */

import type { Content } from "../../subscriptions/content.ts";
import type { HealthRows } from "../health.ts";
import type { NewDelivery } from "../model/deliveries.ts";
import type { Webhook, WebhookFields } from "../model/webhook.ts";

export type RegisterStorage = {
  /**
   * Runs a synchronous change; changes within a short time share one transaction. Settles with the result or error of the
   * change, once it is on disk.
   */
  commit<T>(change: () => T): Promise<T>;
  readonly webhooks: RegisterRows;
  readonly aliases: WebhookAliases;
  readonly health: HealthRows;
  /** Returns the sequence of the newest event ever logged; 0 before the first. */
  lastEvent(): number;
  /** Returns the sequence of the last matched event. */
  lastMatched(): number;
  /**
   * Cancels pending deliveries of the webhook and its replay; `DeliveryQueue.finishStep` continues after the first
   * step.
   */
  cancelDeliveries(webhook: number, cancellation: Cancellation, atMs: number): void;
  /** Turns pending deliveries into first attempts again; `DeliveryQueue.finishStep` continues after the first step. */
  restartQueue(webhook: number): void;
  /** Puts a ping into the queue of its webhook. */
  queuePing(ping: NewPing, atMs: number): void;
  /** Lifts a suspension: the webhook receives the events after a sequence. */
  resume(webhook: number, after: number): void;
};

/** A ping that is put into the queue of its webhook. */
export type NewPing = Pick<NewDelivery, "webhook" | "id" | "event"> & { readonly content: Content };

export type Cancellation = {
  readonly reason: string;
  /** True to cancel retractions too; otherwise they stay pending: a target that received a fact must receive its retraction. */
  readonly withRetractions: boolean;
};

export type RegisterRows = {
  count(): number;
  /** Returns the size of the conditions of all webhooks, except one. */
  conditionsBytes(except?: number): number;
  /** Returns webhooks by ascending id. */
  page(range: { offset: number; limit: number }): Webhook[];
  find(id: number): Webhook | undefined;
  /** Inserts a webhook, which receives nothing until it is activated. */
  insert(fields: WebhookFields, token: string): Webhook;
  activate(id: number, after: number): void;
  /**
   * Replaces the definition; id and token stay, the failure count is reset. The webhook receives the events after `after`;
   * undefined: as before.
   */
  replace(id: number, fields: WebhookFields, after: number | undefined): void;
  /** Returns the number of pending deliveries of the webhook. */
  queued(id: number): number;
  /** Sets a new token; the current one stays valid until a time. */
  rotate(id: number, token: string, untilMs: number): void;
  /** Removes the webhook: its deliveries are hidden at once, and dropped step by step. */
  remove(id: number): void;
};

/** Aliases of webhooks (webhooks.md W-03); they are removed with the webhook. */
export type WebhookAliases = {
  /** Returns the id of the webhook with this alias. */
  idOf(alias: string): number | undefined;
  add(alias: string, webhook: number): void;
  /** Returns the webhooks that have an alias, by ascending id. */
  webhooks(): number[];
};
