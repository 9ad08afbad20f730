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

/** The verdict on a table. */
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

export class TableComparison {
  readonly #table: string;
  readonly #columns: Columns;
  readonly #key: readonly number[];
  readonly #node = createHash("sha256");
  readonly #mirror = createHash("sha256");
  #rows = 0;
  #different = 0;
  #from: string | undefined;
  #to = "";

  /** @param key indexes of the key columns, in the order in which the rows are sorted */
  constructor(table: string, columns: Columns, key: readonly number[]) {
    this.#table = table;
    this.#columns = columns;
    this.#key = key;
  }

  /** Compares all rows of one range of keys. Both lists are in the order of the key. */
  compare(expected: readonly Values[], found: readonly Values[]): void {
    for (const row of expected) this.#node.update(textOf(row));
    for (const row of found) this.#mirror.update(textOf(row));
    this.#rows += found.length;
    for (const [a, b] of merged(expected, found, (left, right) => this.#order(left, right))) {
      if (a && b && textOf(a) === textOf(b)) continue;
      const row = a ?? b;
      if (row) this.#note(row);
    }
  }

  result(): TableCheck {
    const [from, to] = [this.#from, this.#to];
    return {
      table: this.#table,
      rows: this.#rows,
      digests: { node: this.#node.digest("hex"), mirror: this.#mirror.digest("hex") },
      difference: from === undefined ? undefined : { rows: this.#different, from, to },
    };
  }

  #note(row: Values): void {
    this.#to = this.#key.map((column) => shown(row[column])).join("/");
    this.#from ??= this.#to;
    this.#different++;
  }

  #order(a: Values, b: Values): number {
    for (const column of this.#key) {
      const type = this.#columns[column]?.[1] ?? "text";
      const compared = compareValues(type, a[column] ?? null, b[column] ?? null);
      if (compared !== 0) return compared;
    }
    return 0;
  }
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
