/**
 * Statements for both databases. The work of a transaction is written once, as steps: a generator that yields the result of each
 * statement. SQLite returns it at once, so that the steps run without a pause in which other work could use the connection. PostgreSQL
 * returns a promise, for which the steps wait.
 *
 * The text of a statement is that of PostgreSQL. SQLite also understands its parameters, `= ANY ($1)` with a list, and locks of rows,
 * which one writer at a time does not need. Statements that must differ are written side by side, by `kind`. Integers are numbers: none
 * exceeds the safe range. Flags are booleans or 0 and 1.
 */

import { present } from "../../platform/present.ts";

/** Steps that lead to a result: `yield*` returns it, as `await` does for a promise. */
export type Steps<T> = Generator<unknown, T, unknown>;

export type Kind = "sqlite" | "postgres";
export type Flag = number | boolean;

/** A row, in which members that can be absent are null. */
export type Nullable<T> = {
  readonly [Name in keyof T]-?: undefined extends T[Name] ? Exclude<T[Name], undefined> | null : T[Name];
};

export type Parameter = string | number | boolean | null;
export type Parameters = readonly (Parameter | readonly Parameter[])[];

/** Returns rows at once, or a promise. */
type ReadRows = (text: string, values: Parameters) => unknown[] | Promise<unknown[]>;
type Change = (text: string, values: Parameters) => number | Promise<number>;

export class Sql {
  readonly kind: Kind;
  readonly #readRows: ReadRows;
  readonly #change: Change | undefined;

  /** @param change absent: the connection only reads */
  constructor(kind: Kind, readRows: ReadRows, change?: Change) {
    this.kind = kind;
    this.#readRows = readRows;
    this.#change = change;
  }

  /** `Row` is trusted to match the selected columns. */
  *rows<Row>(text: string, values: Parameters = []): Steps<Row[]> {
    return (yield this.#readRows(text, values)) as Row[];
  }

  *row<Row>(text: string, values: Parameters = []): Steps<Row | undefined> {
    const [first] = yield* this.rows<Row>(text, values);
    return first;
  }

  /** Returns the number of rows that a statement changed. */
  *change(text: string, values: Parameters = []): Steps<number> {
    return (yield present(this.#change, "a connection that writes")(text, values)) as number;
  }

  /**
   * Runs steps that do not need each other's results. PostgreSQL gets their statements in this order, without waiting for the result of
   * an earlier one.
   */
  *together<Results extends readonly unknown[] | []>(
    steps: {
      readonly [Index in keyof Results]: Steps<Results[Index]>;
    },
  ): Steps<Results> {
    if (this.kind === "postgres") return (yield Promise.all(steps.map(runSteps))) as Results;
    const results: unknown[] = [];
    for (const each of steps) results.push(yield* each);
    return results as readonly unknown[] as Results;
  }
}

export type Reads = Omit<Sql, "change">;

/** Runs steps, and waits for the result of each statement. */
export async function runSteps<T>(steps: Steps<T>): Promise<T> {
  let step = steps.next();
  while (!step.done) {
    let result: unknown;
    try {
      result = await step.value;
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next(result);
  }
  return step.value;
}

/** Replaces what a database refuses or changes, and the text of receivers may contain: U+0000, and halves of characters. */
export const storableText = (text: string): string => text.replaceAll("\u0000", "\ufffd").toWellFormed();

/** Columns of a table of values, with the types of PostgreSQL. */
export type Columns = Readonly<Record<string, "bigint" | "integer" | "text" | "boolean">>;

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
