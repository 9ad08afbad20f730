/** Steps in PostgreSQL. */
import type { Postgres, Transaction } from "../../postgres/connection.ts";
import {
  createReads,
  createSql,
  type Parameters,
  type Reads,
  type Sql,
  type Steps,
  type Store,
} from "../storage/sql.ts";

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

export const readsOf = ({ query }: Pick<Transaction, "query">): Reads =>
  createReads("postgres", (text, values) => query(text, values.map(toStorable)));

export const sqlOf = ({ query, change }: Pick<Transaction, "query" | "change">): Sql =>
  createSql(
    "postgres",
    (text, values) => query(text, values.map(toStorable)),
    (text, values) => change(text, values.map(toStorable)),
  );

/** Replaces U+0000, which PostgreSQL refuses, and the text of receivers may contain. */
export const storableText = (text: string): string => text.replaceAll("\u0000", "\ufffd");

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
