/**
 * All rows of webhooks in PostgreSQL: read for a hand-over to the node, from one commit, and written in the transaction
 * that makes the workers the owner.
 */
import { present } from "../../../platform/present.ts";
import type { Query, Transaction } from "../../../postgres/connection.ts";
import { copyLine } from "../../../postgres/text-formats.ts";
import {
  FORMAT,
  type HandOverHead,
  type HandOverLine,
  HandOverLineError,
  partsOf,
} from "../../hand-over/lines.ts";
import { HandOverError } from "../../hand-over/owner.ts";
import type { WriteOptions } from "../../hand-over/ports.ts";
import {
  type HandOverRow,
  namesOf,
  orderOf,
  TABLE_NAMES,
  TABLES,
  type TableName,
  toHandOver,
  toStored,
} from "../../hand-over/tables.ts";
import type { SecretCipher } from "../../secrets.ts";
import { runSteps, storableText } from "../../storage/sql.ts";
import { NOT_YET, readEventNames } from "../../storage/webhooks.ts";
import { readsOf } from "../sql.ts";
import { changeOwner, requireOwner } from "./owner.ts";

type ExportOptions = {
  /** Sequence of the last event that was matched for all webhooks. */
  readonly matched: number;
  readonly network: string;
  readonly cipher: SecretCipher;
};

const ROWS_AT_ONCE = 500;

/**
 * Removes webhooks whose registration was not completed: their clients got an error. Must be called while API servers can no
 * longer complete it.
 */
export async function removeIncomplete({ change }: Transaction): Promise<void> {
  await change(
    `WITH removed AS (DELETE FROM webhooks WHERE active_after = $1 RETURNING id)
     INSERT INTO removed_webhooks SELECT id FROM removed ON CONFLICT DO NOTHING`,
    [NOT_YET],
  );
}

/** @param transaction reads from one commit */
export async function* readWebhookLines(
  { query, change }: Transaction,
  options: ExportOptions,
): AsyncIterable<HandOverLine> {
  yield { webhooks: await readHead(query, options) };
  let count = 0;
  for (const table of TABLE_NAMES) {
    await change(
      `DECLARE rows NO SCROLL CURSOR FOR SELECT ${namesOf(TABLES[table])} FROM ${table} ORDER BY ${orderOf(table, "number")}`,
    );
    for (;;) {
      const rows = await query<Record<string, unknown>>(`FETCH ${ROWS_AT_ONCE} FROM rows`, [], "number");
      for (const part of partsOf(rows.map((row) => toHandOver(TABLES[table], row, options.cipher)))) {
        count += part.length;
        yield { table, rows: part };
      }
      if (rows.length < ROWS_AT_ONCE) break;
    }
    await change("CLOSE rows");
  }
  yield { end: count };
}

async function readHead(query: Query, { matched, network, cipher }: ExportOptions): Promise<HandOverHead> {
  const [found] = await query<{ webhooks: string; contents: string; epoch: number }>(
    `SELECT pg_get_serial_sequence('webhooks', 'id') AS webhooks, pg_get_serial_sequence('contents', 'number') AS contents,
       (SELECT max(epoch) FROM shard_owners) AS epoch`,
    [],
    "number",
  );
  const { webhooks, contents, epoch } = present(found, "the names of the sequences");
  const lastOf = async (sequence: string) => {
    const sql = `SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM ${sequence}`;
    const [row] = await query<{ last: number }>(sql, [], "number");
    return row?.last ?? 0;
  };
  return {
    format: FORMAT,
    ...{ network, matched, isEncrypted: !cipher.isPlain, epoch },
    last: {
      webhook: await lastOf(webhooks),
      delivery: await lastOf("delivery_numbers"),
      content: await lastOf(contents),
    },
  };
}

/** Tables whose rows are not dropped with those of `webhooks`. */
const OTHERS = [
  "removed_webhooks",
  "queue_changes",
  "contents",
  "deliveries",
  "delivery_lanes",
  "attempts",
  "block_reverts",
  "unconfirmed_events",
];

export async function dropAllRows({ query, change }: Transaction): Promise<void> {
  // A table that is truncated cannot be read until the end of the transaction; most are empty.
  for (const table of OTHERS) {
    const [row] = await query(`SELECT 1 FROM ${table} LIMIT 1`);
    if (row) await change(`TRUNCATE ${table}`);
  }
  await change("DELETE FROM webhooks");
}

type ImportOptions = WriteOptions & {
  readonly network: string;
  readonly cipher: SecretCipher;
};

/**
 * Replaces all rows. Nothing is changed if it throws.
 *
 * @throws {OwnerError} if the state is not that of the hand-over, or its rows were written before
 * @throws {HandOverLineError | HandOverError}
 */
export async function importWebhooks(
  transaction: Transaction,
  lines: AsyncIterable<HandOverLine>,
  { transfer, network, cipher, onRows, onWritten }: ImportOptions,
): Promise<void> {
  const change = { from: "to workers", to: "workers", transfer } as const;
  // Another command may have written all rows: the workers have changed them since.
  await requireOwner(transaction.query, change, "FOR UPDATE");
  await changeOwner(transaction, change);
  await dropAllRows(transaction);
  let head: HandOverHead | undefined;
  let [count, end] = [0, -1];
  for await (const line of lines) {
    if ("webhooks" in line) head = line.webhooks;
    else if ("end" in line) end = line.end;
    else {
      await copyRows(transaction, line.table, line.rows, cipher);
      count += line.rows.length;
      onRows(count);
    }
  }
  if (!head || end !== count) throw new HandOverLineError("the last lines are missing");
  if (head.network !== network)
    throw new HandOverError(
      "OTHER_NODE",
      "the node is on another chain: name the node of this database with --node",
    );
  await startAfter(transaction, head);
  await continueNumbers(transaction, head.last);
  await onWritten([...(await runSteps(readEventNames(readsOf(transaction))))]);
  await transaction.query("ANALYZE webhooks, queues, contents, deliveries, attempts, unconfirmed_events");
}

async function copyRows(
  transaction: Transaction,
  table: TableName,
  rows: readonly HandOverRow[],
  cipher: SecretCipher,
): Promise<void> {
  const lineOf = (row: HandOverRow) =>
    copyLine(
      toStored(TABLES[table], row, cipher).map((value) =>
        typeof value === "string" ? storableText(value) : value,
      ),
    );
  await transaction.copy(`COPY ${table} (${namesOf(TABLES[table])}) FROM STDIN`, rows.map(lineOf).join(""));
}

/** Number of copied events after a sequence that are missing, because the copy began later. */
export const MISSING_EVENTS = `SELECT greatest(last_sequence - $1::bigint, 0)
    - (SELECT count(*) FROM events WHERE sequence > $1::bigint) AS missing FROM event_log`;

/**
 * Lets all shards match the events after a sequence, with higher epochs than those of the node.
 *
 * @throws {HandOverError} EVENTS_MISSING
 */
async function startAfter({ query, change }: Transaction, { matched, epoch }: HandOverHead): Promise<void> {
  const [missing] = await query<{ missing: string }>(MISSING_EVENTS, [matched]);
  if (Number(missing?.missing) !== 0)
    throw new HandOverError(
      "EVENTS_MISSING",
      `the database lacks ${missing?.missing} events that the node has not matched yet: return with --cancel, and start the mirror before the next hand-over`,
    );
  await change("UPDATE shard_owners SET owner = NULL, epoch = greatest(epoch, $1)", [epoch]);
  await change("UPDATE shard_positions SET matched = $1", [matched]);
}

/** Lets numbers continue above the highest ones. */
async function continueNumbers(
  { query }: Transaction,
  { webhook, delivery, content }: HandOverHead["last"],
): Promise<void> {
  await query(
    `SELECT setval(pg_get_serial_sequence('webhooks', 'id'), greatest($1::bigint, 1), $1::bigint > 0),
       setval('delivery_numbers', greatest($2::bigint, 1), $2::bigint > 0),
       setval(pg_get_serial_sequence('contents', 'number'), greatest($3::bigint, 1), $3::bigint > 0)`,
    [webhook, delivery, content],
  );
}
