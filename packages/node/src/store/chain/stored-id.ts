/**
 * Ids of blocks and transactions as the database stores them: an id of 64 digits as its bytes, a partial id of a block as its
 * decimal text. Indexes have only prefixes of ids, which several ids may share: each lookup also compares the whole id.
 */
import { hexToBytes } from "@uniknode/protocol";
import type { Database, SqlValue } from "../engine/database.ts";

/** Bytes of the indexed prefix of an id, or characters of a partial one. */
const PREFIX_LENGTH = 6;
const PREFIX_DIGITS = 2 * PREFIX_LENGTH;
const HEX = /^[0-9a-f]{0,64}$/;
const DECIMAL = /^\d{0,20}$/;

/** Returns false for upper-case digits. Texts that are not hexadecimal have no bytes in SQL. */
const isFull = (id: string): boolean => id.length === 64 && id === id.toLowerCase();

export const toStoredId = (id: string): string | Uint8Array => (isFull(id) ? hexToBytes(id) : id);

/** Returns SQL that matches the row of a full id. `unhex` costs less than bytes that are created outside of SQL. */
export const isRowOf = (id: string, column = "id"): string =>
  `id_prefix = unhex(substr(${id}, 1, ${PREFIX_DIGITS})) AND ${column} = unhex(${id})`;

const HAS_FULL_ID = isRowOf("+?");
const HAS_PARTIAL_ID = `id_prefix = substr(+?, 1, ${PREFIX_LENGTH}) AND id = +?`;

/** Returns the condition of an id, and its values. */
export const hasId = (id: string): { readonly sql: string; readonly values: readonly SqlValue[] } => ({
  sql: isFull(id) ? HAS_FULL_ID : HAS_PARTIAL_ID,
  values: [id, id],
});

/** Prepares a statement that ends with the condition of an id. */
export function prepareById<Row>(database: Database, select: string): (id: string) => Row | undefined {
  const full = database.prepare<Row>(`${select} WHERE ${HAS_FULL_ID}`);
  const partial = database.prepare<Row>(`${select} WHERE ${HAS_PARTIAL_ID}`);
  return (id) => (isFull(id) ? full : partial).get(id, id);
}

export type PrefixRange = readonly [lowest: SqlValue, highest: SqlValue];

/** Lowest and highest indexed prefix of ids that begin with a text: of full ids and of partial ids. */
export function prefixRanges(text: string): PrefixRange[] {
  const ranges: PrefixRange[] = [];
  if (HEX.test(text)) {
    const digits = text.slice(0, PREFIX_DIGITS);
    const bytesWith = (last: string) => hexToBytes(digits.padEnd(PREFIX_DIGITS, last));
    ranges.push([bytesWith("0"), bytesWith("f")]);
  }
  if (DECIMAL.test(text)) {
    const partial = text.slice(0, PREFIX_LENGTH);
    ranges.push([partial, `${partial}{`]);
  }
  return ranges;
}

/** Returns true if the indexed prefixes alone decide which ids begin with a text, of full and of partial ids. */
export const isIndexed = (text: string): boolean => text.length <= PREFIX_LENGTH;

/** Returns true if ids may have the same indexed prefix. */
export const haveSamePrefix = (one: string, other: string): boolean =>
  one.slice(0, PREFIX_LENGTH) === other.slice(0, PREFIX_LENGTH);
