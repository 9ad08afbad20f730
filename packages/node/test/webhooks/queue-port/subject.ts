/**
 * Subject of the suite: a storage of webhooks without chain, into which a test inserts webhooks and
 * deliveries.
 */

import type { WebhookFields } from "../../../src/webhooks/model/webhook.ts";
import type { WebhookStorage } from "../../../src/webhooks/webhooks.ts";

export type Subject = WebhookStorage & {
  /** Registers an active webhook. Returns its id. */
  addWebhook(fields?: Partial<WebhookFields>): Promise<number>;
  /** Lets another client of the database hold the write lock until the returned function is called. */
  holdUp(): Promise<() => Promise<void>>;
  /** State after a crash: everything that was recorded, in a storage that has nothing else in memory. */
  crash(): Promise<Subject>;
};

/** Everything opened is closed with the test. */
export type OpenSubject = () => Promise<Subject>;
