/** Steps in PostgreSQL. */
import type { Postgres, Transaction } from "../../postgres/connection.ts";
import {
  type Parameters,
  type Reads,
  runSteps,
  Sql,
  type Steps,
  type Store,
  storableText,
} from "../storage/sql.ts";

export const readsOf = ({ query }: Pick<Transaction, "query">): Reads =>
  new Sql("postgres", (text, values) => query(text, values.map(toStorable), "number"));

export const sqlOf = ({ query, change }: Pick<Transaction, "query" | "change">): Sql =>
  new Sql(
    "postgres",
    (text, values) => query(text, values.map(toStorable), "number"),
    (text, values) => change(text, values.map(toStorable)),
  );

const toStorable = (value: Parameters[number]): Parameters[number] =>
  typeof value === "string" ? storableText(value) : value;

export type Connection = Pick<Postgres, "query" | "transaction">;

export class PostgresStore implements Store {
  readonly #postgres: Connection;

  constructor(postgres: Connection) {
    this.#postgres = postgres;
  }

  read<T>(work: (sql: Reads) => Steps<T>): Promise<T> {
    return runSteps(work(readsOf(this.#postgres)));
  }

  snapshot<T>(work: (sql: Reads) => Steps<T>): Promise<T> {
    return this.#postgres.transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY", (transaction) =>
      runSteps(work(readsOf(transaction))),
    );
  }

  write<T>(work: (sql: Sql) => Steps<T>): Promise<T> {
    return this.#postgres.transaction("READ WRITE", (transaction) => runSteps(work(sqlOf(transaction))));
  }
}
