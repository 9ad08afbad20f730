/** Steps in SQLite: their work has ended when the call returns. */
import type { Database, SqlValue, Statement } from "../../store/engine/database.ts";
import { type Parameters, type Reads, Sql, type Steps, type Store } from "../storage/sql.ts";

export function runNow<T>(steps: Steps<T>): T {
  let step = steps.next();
  while (!step.done) step = steps.next(step.value);
  return step.value;
}

/** Returns work other than a statement as steps. */
export function* toSteps<T>(work: () => T): Steps<T> {
  return (yield work()) as T;
}

/** A statement, and the number of the parameter at each of its places. */
type Prepared = { readonly statement: Statement<unknown>; readonly places: readonly number[] };

const connections = new WeakMap<Database, Sql>();

export function sqlOf(database: Database): Sql {
  const known = connections.get(database) ?? createSqliteSql(database);
  connections.set(database, known);
  return known;
}

/** Each text is prepared once. */
function createSqliteSql(database: Database): Sql {
  const prepared = new Map<string, Prepared>();

  function find(text: string, values: Parameters): { statement: Prepared["statement"]; given: SqlValue[] } {
    const known = prepared.get(text) ?? prepare(database, text);
    prepared.set(text, known);
    return { statement: known.statement, given: known.places.map((place) => toValue(values[place])) };
  }

  return new Sql(
    "sqlite",
    (text, values) => {
      const { statement, given } = find(text, values);
      return statement.all(...given);
    },
    (text, values) => {
      const { statement, given } = find(text, values);
      return statement.run(...given).changes;
    },
  );
}

function prepare(database: Database, text: string): Prepared {
  const places: number[] = [];
  const sql = text
    .replace(/\sFOR (?:NO KEY UPDATE|UPDATE|KEY SHARE|SHARE)(?: OF \w+)?/g, "")
    .replace(/= ANY \((\$\d+)\)/g, "IN (SELECT value FROM json_each($1))")
    .replace(/\$(\d+)/g, (_, number) => {
      places.push(Number(number) - 1);
      // The sign hides the value from the planner (`Database.prepare`).
      return "+?";
    });
  return { statement: database.prepare(sql), places };
}

function toValue(value: Parameters[number] = null): SqlValue {
  if (typeof value === "boolean") return Number(value);
  return typeof value === "object" && value !== null ? JSON.stringify(value) : value;
}

/**
 * The promises are settled when the calls return: a run of the dispatcher ends in the tick of the event loop in which it started. No other
 * connection writes the tables of webhooks, so that reads without a pause are of one state.
 */
export class SqliteStore implements Store {
  readonly #database: Database;
  readonly #sql: Sql;

  constructor(database: Database) {
    this.#database = database;
    this.#sql = sqlOf(database);
  }

  async read<T>(work: (sql: Reads) => Steps<T>): Promise<T> {
    return runNow(work(this.#sql));
  }

  snapshot<T>(work: (sql: Reads) => Steps<T>): Promise<T> {
    return this.read(work);
  }

  async write<T>(work: (sql: Sql) => Steps<T>): Promise<T> {
    return this.#database.transaction(() => runNow(work(this.#sql)));
  }
}
