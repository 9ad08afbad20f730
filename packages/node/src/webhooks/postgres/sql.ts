/** Steps in PostgreSQL. */
import type { Postgres, Transaction } from "../../postgres/connection.ts";
import {
  createReads,
  createSql,
  type Parameters,
  type Reads,
  runSteps,
  type Sql,
  type Store,
  storableText,
} from "../storage/sql.ts";

export const readsOf = ({ query }: Pick<Transaction, "query">): Reads =>
  createReads("postgres", (text, values) => query(text, values.map(toStorable), "number"));

export const sqlOf = ({ query, change }: Pick<Transaction, "query" | "change">): Sql =>
  createSql(
    "postgres",
    (text, values) => query(text, values.map(toStorable), "number"),
    (text, values) => change(text, values.map(toStorable)),
  );

const toStorable = (value: Parameters[number]): Parameters[number] =>
  typeof value === "string" ? storableText(value) : value;

export const createPostgresStore = (postgres: Pick<Postgres, "query" | "transaction">): Store => ({
  read: (work) => runSteps(work(readsOf(postgres))),
  snapshot: (work) =>
    postgres.transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY", (transaction) =>
      runSteps(work(readsOf(transaction))),
    ),
  write: (work) => postgres.transaction("READ WRITE", (transaction) => runSteps(work(sqlOf(transaction)))),
});
