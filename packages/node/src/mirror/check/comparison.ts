/** Compares the rows of a table with the expected rows, page by page in the order of a key. */

import { createHash } from "node:crypto";
import type { PostgresValue, Query } from "../../postgres/connection.ts";
import type { Columns } from "../statements.ts";

/** A row: the values of its columns. */
export type Values = readonly PostgresValue[];

/**
 * Reads rows as lists of columns.
 *
 * @param rest the statement after its columns
 */
export async function readRows(
  query: Query,
  columns: Columns,
  rest: string,
  values: Values = [],
): Promise<Values[]> {
  const names = columns.map(([name]) => name);
  const rows = await query<Record<string, PostgresValue>>(`SELECT ${names.join(", ")} ${rest}`, values);
  return rows.map((row) => names.map((name) => row[name] ?? null));
}

/** Verdict on a table. */
export type TableCheck = {
  readonly table: string;
  /** Number of rows in the mirror. */
  readonly rows: number;
  /** SHA-256 of all rows in order, of the node and of the mirror. */
  readonly digests: { readonly node: string; readonly mirror: string };
  /** Undefined if all rows are equal. */
  readonly difference: Difference | undefined;
};

/** Rows that differ, or that only one side has: their number, and the first and the last key. */
type Difference = { readonly rows: number; readonly from: string; readonly to: string };

export type TableComparison = {
  /** Compares all rows of one range of keys. Both lists are in the order of the key. */
  compare(expected: readonly Values[], found: readonly Values[]): void;
  result(): TableCheck;
};

/** @param key indexes of the key columns, in the order in which the rows are sorted */
export function createComparison(table: string, columns: Columns, key: readonly number[]): TableComparison {
  const node = createHash("sha256");
  const mirror = createHash("sha256");
  let rows = 0;
  let different = 0;
  let from: string | undefined;
  let to = "";

  const note = (row: Values): void => {
    to = key.map((column) => shown(row[column])).join("/");
    from ??= to;
    different++;
  };
  const order = (a: Values, b: Values): number => {
    for (const column of key) {
      const type = columns[column]?.[1] ?? "text";
      const compared = compareValues(type, a[column] ?? null, b[column] ?? null);
      if (compared !== 0) return compared;
    }
    return 0;
  };

  return {
    compare(expected, found) {
      for (const row of expected) node.update(textOf(row));
      for (const row of found) mirror.update(textOf(row));
      rows += found.length;
      for (const [a, b] of merged(expected, found, order)) {
        if (a && b && textOf(a) === textOf(b)) continue;
        const row = a ?? b;
        if (row) note(row);
      }
    },
    result: () => ({
      table,
      rows,
      digests: { node: node.digest("hex"), mirror: mirror.digest("hex") },
      difference: from === undefined ? undefined : { rows: different, from, to },
    }),
  };
}

/** Yields the rows of both lists by key; undefined on the side that lacks the key. */
function* merged(
  left: readonly Values[],
  right: readonly Values[],
  order: (a: Values, b: Values) => number,
): Iterable<readonly [Values | undefined, Values | undefined]> {
  let [i, j] = [0, 0];
  for (let a = left[i], b = right[j]; a || b; a = left[i], b = right[j]) {
    const compared = !a ? 1 : !b ? -1 : order(a, b);
    yield [compared <= 0 ? a : undefined, compared >= 0 ? b : undefined];
    if (compared <= 0) i++;
    if (compared >= 0) j++;
  }
}

function compareValues(type: string, a: PostgresValue, b: PostgresValue): number {
  if (type === "bigint" || type === "integer") {
    const difference = BigInt(a as string) - BigInt(b as string);
    return difference < 0n ? -1 : difference > 0n ? 1 : 0;
  }
  return Buffer.compare(bytesOf(a), bytesOf(b));
}

const bytesOf = (value: PostgresValue): Uint8Array =>
  value instanceof Uint8Array ? value : Buffer.from(String(value));

/** Formats a row; numbers and their decimal texts are equal. */
const textOf = (row: Values): string => `${JSON.stringify(row.map(comparable))}\n`;

function comparable(value: PostgresValue): string | null {
  if (value === null) return null;
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : String(value);
}

const shown = (value: PostgresValue | undefined): string =>
  value instanceof Uint8Array ? Buffer.from(value).toString() : String(value);
