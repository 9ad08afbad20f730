/** Names of the tables and columns of the node's database that differ from those of a hand-over (`hand-over/tables.ts`). */
import type { Column, TableName } from "../../hand-over/tables.ts";

type Names = {
  readonly table: string;
  /** Order of the rows; by default, that of the primary key. */
  readonly order: string;
  /** Names in this database by the names of the hand-over. */
  readonly columns?: Readonly<Record<string, string>>;
};

const NAMES: Readonly<Record<TableName, Names>> = {
  webhooks: { table: "webhooks", order: "id" },
  queues: { table: "queues", order: "webhook" },
  webhook_aliases: { table: "webhook_aliases", order: "alias" },
  removed_webhooks: { table: "removed_webhooks", order: "id" },
  contents: { table: "contents", order: "number" },
  // `stands` is 0 for a retracted fact.
  deliveries: { table: "deliveries", order: "number", columns: { is_retracted: "stands" } },
  attempts: { table: "attempts", order: "delivery, attempt", columns: { response: "answer" } },
  block_reverts: { table: "reversals", order: "block_id, sequence" },
  unconfirmed_events: { table: "held", order: "webhook, sequence" },
  finishing_queues: {
    table: "endings",
    order: "webhook",
    columns: { unconfirmed_up_to: "held_up_to", with_retractions: "with_reversals" },
  },
  restarting_queues: { table: "restarts", order: "webhook" },
  replays: { table: "replays", order: "webhook", columns: { last_delivery: "told_before" } },
  attempt_counts: { table: "attempt_counts", order: "webhook, minute" },
};

export const tableOf = (name: TableName): string => NAMES[name].table;
export const orderOf = (name: TableName): string => NAMES[name].order;
export const columnOf = (table: TableName, { name }: Column): string => NAMES[table].columns?.[name] ?? name;

/** Flags are 0 and 1; this one is inverted. */
export const isInverted = (table: TableName, { name }: Column): boolean =>
  table === "deliveries" && name === "is_retracted";
