/** What the suite is run on: a storage of webhooks without chain, and the webhooks and deliveries that a test puts into it. */

import type { WebhookFields } from "../../../src/webhooks/model/webhook.ts";
import type { WebhookStorage } from "../../../src/webhooks/webhooks.ts";

export type Subject = WebhookStorage & {
  /** Registers an active webhook. Returns its id. */
  addWebhook(fields?: Partial<WebhookFields>): Promise<number>;
  /** Another client of the database holds what every change needs, until the returned function is called. */
  holdUp(): Promise<() => Promise<void>>;
  /** What a crash leaves: everything that was recorded, in a storage that knows nothing else. */
  crash(): Promise<Subject>;
};

/** What is open is closed with the test. */
export type OpenSubject = () => Promise<Subject>;
