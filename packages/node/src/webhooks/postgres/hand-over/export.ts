/** Reads all rows of webhooks in PostgreSQL for a hand-over to the node, from one commit. */
import { present } from "../../../platform/present.ts";
import type { Query, Transaction } from "../../../postgres/connection.ts";
import { FORMAT, type HandOverHead, type HandOverLine, partsOf } from "../../hand-over/lines.ts";
import { namesOf, orderOf, TABLE_NAMES, TABLES, toHandOver } from "../../hand-over/tables.ts";
import type { SecretCipher } from "../../secrets.ts";
import { NOT_YET } from "../../storage/webhooks.ts";

export type ExportOptions = {
  /** Sequence of the last event that was matched for all webhooks. */
  readonly matched: number;
  /** The nethash of the chain. */
  readonly network: string;
  /** Cipher of the secrets in this database. */
  readonly cipher: SecretCipher;
  readonly isEncrypted: boolean;
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

async function readHead(
  query: Query,
  { matched, network, isEncrypted }: ExportOptions,
): Promise<HandOverHead> {
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
    ...{ network, matched, isEncrypted, epoch },
    last: {
      webhook: await lastOf(webhooks),
      delivery: await lastOf("delivery_numbers"),
      content: await lastOf(contents),
    },
  };
}
