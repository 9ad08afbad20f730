/**
 * Ids of blocks and transactions as the database stores them: an id of 64 digits as its bytes, a partial id of a block as its
 * decimal text. The indexes of full ids have only prefixes (id-levels.ts), which several ids may share: each lookup also compares
 * the whole id.
 */
import { hexToBytes } from "@uniknode/protocol";
import type { Database, SqlValue } from "../engine/database.ts";
import { ALL_LEVELS, type IdIndex, IN_ALL_LEVELS, LEVELS, PREFIX_LENGTH } from "./id-levels.ts";

/** Digits of the indexed prefix. */
const PREFIX_DIGITS = 2 * PREFIX_LENGTH;
const HEX = /^[0-9a-f]{0,64}$/;
/** Sorts after every digit. */
const LAST = "{";

/** Returns false for upper-case digits. Texts that are not hexadecimal have no bytes in SQL. */
const isFull = (id: string): boolean => id.length === 64 && id === id.toLowerCase();

export const toStoredId = (id: string): string | Uint8Array => (isFull(id) ? hexToBytes(id) : id);

/** Returns the bytes of a full id; undefined for a partial id, which the index of full ids does not have. */
export const fullIdOf = (stored: string | Uint8Array): Uint8Array | undefined =>
  typeof stored === "string" ? undefined : stored;

/** SQL of the index entries whose prefix an expression returns. */
const entriesOf = ({ table }: IdIndex, prefix: string): string =>
  `${ALL_LEVELS} CROSS JOIN ${table} ON level = column1 AND prefix = ${prefix}`;

/** SQL of the prefix of the full id that an expression contains. `unhex` costs less than bytes that are created outside of SQL. */
const prefixOf = (id: string): string => `unhex(substr(${id}, 1, ${PREFIX_DIGITS}))`;

/** Returns SQL that joins the row with the full id that an expression contains. */
export function joinById(index: IdIndex, id: string): string {
  const { table, rows, key } = index;
  const isSame = key.map((column) => `${rows}.${column} = ${table}.${column}`).join(" AND ");
  return `CROSS JOIN ${entriesOf(index, prefixOf(id))} CROSS JOIN ${rows} ON ${isSame} AND ${rows}.id = unhex(${id})`;
}

/** Returns the condition of a row that no lookup by its full id finds. A superfluous entry is harmless: it finds no row. */
export function isNotIndexed(index: IdIndex): string {
  const { table, rows, key } = index;
  const isSame = key.map((column) => `${table}.${column} = ${rows}.${column}`).join(" AND ");
  const entry = `SELECT 1 FROM ${entriesOf(index, `substr(${rows}.id, 1, ${PREFIX_LENGTH})`)} WHERE ${isSame}`;
  return `(typeof(id) = 'blob' AND NOT EXISTS (${entry}))`;
}

const HAS_PARTIAL_ID = "typeof(id) = 'text' AND id = +?";

/** Returns the condition that a row has an id, and its values; undefined if no row can have it. */
export function hasId(
  index: IdIndex,
  id: string,
): { readonly sql: string; readonly values: readonly SqlValue[] } | undefined {
  const { key, rows, hasPartialIds } = index;
  if (!isFull(id)) return hasPartialIds ? { sql: HAS_PARTIAL_ID, values: [id] } : undefined;
  const columns = key.join();
  return {
    sql: `(${columns}) IN (SELECT ${columns} FROM ${entriesOf(index, prefixOf("+?"))}) AND ${rows}.id = unhex(+?)`,
    values: [id, id],
  };
}

/**
 * Prepares a statement that finds the row of an id.
 *
 * @param joins other tables of the columns
 */
export function prepareById<Row>(
  database: Database,
  index: IdIndex,
  columns: string,
  joins = "",
): (id: string) => Row | undefined {
  const { rows, key, hasPartialIds } = index;
  const full = database.prepare<Row>(
    `SELECT ${columns} FROM ${entriesOf(index, prefixOf("+?"))} CROSS JOIN ${rows} USING (${key.join()}) ${joins}
     WHERE ${rows}.id = unhex(+?)`,
  );
  const partial = hasPartialIds
    ? database.prepare<Row>(`SELECT ${columns} FROM ${rows} ${joins} WHERE ${HAS_PARTIAL_ID}`)
    : undefined;
  return (id) => (isFull(id) ? full.get(id, id) : partial?.get(id));
}

/**
 * Prepares a statement that finds the rows whose ids begin with a text, in the order of their ids.
 *
 * @param limit maximum number of rows
 */
export function prepareByBeginning<Row>(
  database: Database,
  index: IdIndex,
  columns: string,
  limit: number,
): (text: string) => Row[] {
  const { table, rows, key, hasPartialIds } = index;
  const inLevel = LEVELS.map(
    (level) => `SELECT prefix FROM ${table} WHERE level = ${level} AND prefix BETWEEN +? AND +?`,
  );
  // The lowest prefixes of each level, in their order; then all rows with one of them, because ids may share a prefix.
  const full = database.prepare<Row>(
    `SELECT ${columns} FROM ${table} CROSS JOIN ${rows} USING (${key.join()})
     WHERE ${IN_ALL_LEVELS} AND id_text BETWEEN +? AND +? AND prefix BETWEEN +? AND (
       SELECT max(prefix) FROM (${inLevel.join(" UNION ALL ")} ORDER BY prefix LIMIT ${limit}))
     ORDER BY id LIMIT ${limit}`,
  );
  const partial = database.prepare<Row>(
    `SELECT ${columns} FROM ${rows} WHERE typeof(id) = 'text' AND id BETWEEN +? AND +? ORDER BY id LIMIT ${limit}`,
  );
  return (text) => {
    const texts = [text, text + LAST];
    return [
      ...(HEX.test(text) ? full.all(...texts, ...prefixesOf(text)) : []),
      ...(hasPartialIds ? partial.all(...texts) : []),
    ];
  };
}

/** Returns the lowest prefix of ids that begin with a text, then the lowest and the highest one for each level. */
function prefixesOf(text: string): Uint8Array[] {
  const prefixWith = (digit: string) => hexToBytes(text.slice(0, PREFIX_DIGITS).padEnd(PREFIX_DIGITS, digit));
  const [low, high] = [prefixWith("0"), prefixWith("f")];
  return [low, ...LEVELS.flatMap(() => [low, high])];
}
