/**
 * Statements for both databases. The work of a transaction is written once, as steps: a generator that yields the result of each
 * statement. SQLite returns it at once, so that the steps run without a pause in which other work could use the connection. PostgreSQL
 * returns a promise, for which the steps wait.
 *
 * The text of a statement is that of PostgreSQL. SQLite also understands its parameters, `= ANY ($1)` with a list, and locks of rows,
 * which one writer at a time does not need. Statements that must differ are written side by side, by `kind`. Integers of 64 bits are
 * numbers or decimal text, and flags are booleans or 0 and 1.
 */

/** Steps that lead to a result: `yield*` returns it, as `await` does for a promise. */
export type Steps<T> = Generator<unknown, T, unknown>;

export type Kind = "sqlite" | "postgres";
export type Integer = number | string;
export type Flag = number | boolean;

type Parameter = string | number | boolean | null;
export type Parameters = readonly (Parameter | readonly Parameter[])[];

export type Reads = {
  readonly kind: Kind;
  /** `Row` is trusted to match the selected columns. */
  rows<Row>(text: string, values?: Parameters): Steps<Row[]>;
  /** Returns the first row. */
  row<Row>(text: string, values?: Parameters): Steps<Row | undefined>;
};

export type Sql = Reads & {
  /** Returns the number of rows that a statement changed. */
  change(text: string, values?: Parameters): Steps<number>;
};

type ReadRows = (text: string, values: Parameters) => unknown[] | Promise<unknown[]>;

export const createReads = (kind: Kind, readRows: ReadRows): Reads => ({
  kind,
  *rows<Row>(text: string, values: Parameters = []) {
    return (yield readRows(text, values)) as Row[];
  },
  *row<Row>(text: string, values: Parameters = []) {
    const [first] = (yield readRows(text, values)) as Row[];
    return first;
  },
});

export const createSql = (
  kind: Kind,
  readRows: ReadRows,
  change: (text: string, values: Parameters) => number | Promise<number>,
): Sql => ({
  ...createReads(kind, readRows),
  *change(text, values = []) {
    return (yield change(text, values)) as number;
  },
});

/** Columns of a table of values, with the types of PostgreSQL. */
type Columns = Readonly<Record<string, "bigint" | "integer" | "text" | "boolean">>;

/**
 * Returns a table of values as SQL, whose columns follow the name `given`, and the parameters with the values. The column `place` has
 * the order of the rows. Further parameters are numbered after the columns.
 */
export function given(
  kind: Kind,
  columns: Columns,
  rows: readonly (readonly Parameter[])[],
): { readonly table: string; readonly values: Parameters } {
  const names = Object.keys(columns);
  if (kind === "sqlite") {
    const members = names.map((name, index) => `value ->> ${index} AS ${name}`);
    const table = `(SELECT ${members.join(", ")}, key AS place FROM json_each($1)) AS given`;
    return { table, values: names.map((_, index) => (index === 0 ? JSON.stringify(rows) : null)) };
  }
  const arrays = Object.values(columns).map((type, index) => `$${index + 1}::${type}[]`);
  return {
    table: `unnest(${arrays.join(", ")}) WITH ORDINALITY AS given (${names.join(", ")}, place)`,
    values: names.map((_, index) => rows.map((row) => row[index] ?? null)),
  };
}

export type Store = {
  read<T>(work: (sql: Reads) => Steps<T>): Promise<T>;
  /** Runs reads of one state. */
  snapshot<T>(work: (sql: Reads) => Steps<T>): Promise<T>;
  /** Runs steps in a transaction, which is rolled back if they throw. */
  write<T>(work: (sql: Sql) => Steps<T>): Promise<T>;
};
