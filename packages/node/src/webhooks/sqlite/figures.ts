/** Figures of webhooks and their queues from SQLite. */
import type { Database } from "../../store/engine/database.ts";
import type { DeliveryFigures } from "../figures.ts";
import { createQueueFigures } from "./queue-figures.ts";
import { createFiredFigures, createWebhookFigures } from "./webhook-figures.ts";

/** @param database may be a connection that only reads */
export function createSqliteFigures(database: Database): DeliveryFigures {
  const webhooks = createWebhookFigures(database);
  const fired = createFiredFigures(database);
  const queues = createQueueFigures(database);
  return {
    webhooks: async () => webhooks(),
    fired: async () => fired(),
    queues: async () => queues(),
  };
}
