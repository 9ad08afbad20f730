/** The tables of webhooks in a hand-over, with the columns that both databases have (docs/spec/hand-over.md 3). */
import { ownerOf, type SecretCipher } from "../secrets.ts";

export type ColumnType =
  | "integer"
  | "text"
  | "flag"
  /** Text that each side encrypts with its own key; the hand-over contains it decrypted. */
  | "secret";

export type Column = {
  readonly name: string;
  readonly type: ColumnType;
  readonly isOptional: boolean;
};

export type HandOverValue = string | number | boolean | null;
export type HandOverRow = readonly HandOverValue[];

export const TABLE_NAMES = [
  "webhooks",
  "queues",
  "webhook_aliases",
  "removed_webhooks",
  "contents",
  "deliveries",
  "attempts",
  "block_reverts",
  "unconfirmed_events",
  "finishing_queues",
  "restarting_queues",
  "replays",
  "attempt_counts",
] as const;
export type TableName = (typeof TABLE_NAMES)[number];

export type Table = { readonly columns: readonly Column[] };

/** Parses `name type`, or `name type?` for a column that can be null. */
const column = (text: string): Column => {
  const [name = "", type = ""] = text.split(" ");
  return { name, type: type.replace("?", "") as ColumnType, isOptional: type.endsWith("?") };
};
const table = (...columns: readonly string[]): Table => ({ columns: columns.map(column) });

/** Primary keys, except that of attempts. */
const KEYS: Readonly<Record<Exclude<TableName, "attempts">, string>> = {
  webhooks: "id",
  queues: "webhook",
  webhook_aliases: "alias",
  removed_webhooks: "id",
  contents: "number",
  deliveries: "number",
  block_reverts: "block_id, sequence",
  unconfirmed_events: "webhook, sequence",
  finishing_queues: "webhook",
  restarting_queues: "webhook",
  replays: "webhook",
  attempt_counts: "webhook, minute",
};

/**
 * Returns the columns by which the rows of a table are read.
 *
 * @param attempt column with the order of the attempts of a delivery, which is not handed over
 */
export const orderOf = (table: TableName, attempt: string): string =>
  table === "attempts" ? `delivery, ${attempt}` : KEYS[table];

/** Tables in the order in which they are written: rows refer only to earlier tables. */
export const TABLES: Readonly<Record<TableName, Table>> = {
  webhooks: table(
    "id integer",
    ...["name text?", "event text?", "events text", "target text", "enabled flag", "conditions text"],
    ...["match_all flag", "strict flag", "confirmations integer", "with_proof flag"],
    ...["token secret", "previous_token secret?", "previous_until_ms integer?"],
    ...["active_after integer", "target_number integer", "failures integer", "failing_since_ms integer?"],
    ...["suspended text?", "suspended_ms integer?"],
  ),
  queues: table("webhook integer", "last_sequence integer"),
  webhook_aliases: table("alias text", "webhook integer"),
  removed_webhooks: table("id integer"),
  contents: table("number integer", "data text?", "truncated flag?", "link text?", "time_ms integer?"),
  deliveries: table(
    "number integer",
    ...["webhook integer", "id text", "sequence integer?", "event text", "height integer?", "block_id text?"],
    ...["is_retracted flag?", "reverts text?", "target_number integer", "replay integer?", "content integer"],
    ...["state text", "attempts integer", "next_attempt_ms integer?", "created_ms integer"],
    ...["finished_ms integer?", "reason text?"],
  ),
  attempts: table(
    "delivery integer",
    ...["started_ms integer", "duration_ms integer", "status integer?", "response text?", "error text?"],
    "response_headers text?",
  ),
  block_reverts: table("block_id text", "sequence integer"),
  unconfirmed_events: table(
    "webhook integer",
    "sequence integer",
    ...["name text", "event_id text", "event_name text", "height integer"],
    ...["block_id text", "data text?", "time_ms integer?"],
  ),
  finishing_queues: table(
    "webhook integer",
    ...["up_to integer", "unconfirmed_up_to integer", "state text", "reason text", "with_retractions flag"],
  ),
  restarting_queues: table("webhook integer"),
  replays: table(
    "webhook integer",
    ...["from_height integer", "to_height integer", "next_height integer", "next_index integer"],
    ...["events integer", "last_delivery integer", "state text", "reason text?", "started_ms integer"],
    "finished_ms integer?",
  ),
  attempt_counts: table("webhook integer", "minute integer", "succeeded integer", "failed integer"),
};

export const namesOf = ({ columns }: Table): string => columns.map(({ name }) => name).join(", ");

const CHECKS: Readonly<Record<ColumnType, (value: unknown) => boolean>> = {
  integer: Number.isSafeInteger,
  text: (value) => typeof value === "string",
  flag: (value) => typeof value === "boolean",
  secret: (value) => typeof value === "string",
};

/** Returns whether a row has the columns of a table. */
export function isRowOf({ columns }: Table, row: readonly unknown[]): row is HandOverRow {
  return (
    row.length === columns.length &&
    columns.every(({ type, isOptional }, index) => {
      const value = row[index];
      return value === null ? isOptional : CHECKS[type](value);
    })
  );
}

/** Returns a row of a database as values in the order of the columns, with decrypted secrets. */
export const toHandOver = (
  { columns }: Table,
  row: Readonly<Record<string, unknown>>,
  cipher: SecretCipher,
): HandOverRow =>
  columns.map(({ name, type }) => {
    const value = row[name] ?? null;
    if (value === null) return null;
    if (type === "flag") return Boolean(value);
    return type === "secret" ? cipher.decrypt(`${value}`, ownerOf(Number(row.id))) : (value as HandOverValue);
  });

/** Returns the values to store, with encrypted secrets. */
export const toStored = ({ columns }: Table, row: HandOverRow, cipher: SecretCipher): HandOverRow =>
  row.map((value, index) => {
    if (columns[index]?.type !== "secret" || value === null) return value;
    // The first column of webhooks is the id.
    return cipher.encrypt(`${value}`, ownerOf(Number(row[0])));
  });
