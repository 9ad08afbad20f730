/** Orders in which the rows of a hand-over are read: those of the primary keys (`hand-over/tables.ts`). */
import type { TableName } from "../../hand-over/tables.ts";

export const ORDERS: Readonly<Record<TableName, string>> = {
  webhooks: "id",
  queues: "webhook",
  webhook_aliases: "alias",
  removed_webhooks: "id",
  contents: "number",
  deliveries: "number",
  attempts: "delivery, attempt",
  block_reverts: "block_id, sequence",
  unconfirmed_events: "webhook, sequence",
  finishing_queues: "webhook",
  restarting_queues: "webhook",
  replays: "webhook",
  attempt_counts: "webhook, minute",
};
