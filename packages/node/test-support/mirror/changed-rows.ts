/** Damaged rows of a mirror, which are restored afterwards. */
import { present } from "../../src/platform/present.ts";
import type { Postgres } from "../../src/postgres/connection.ts";

/** Returns the table that a statement changes. */
export const changedTable = (change: string): string =>
  present(/(?:UPDATE|INTO|FROM) (\w+)/.exec(change)?.[1], "the table of a statement");

/** Executes a statement that changes a table; the table is restored when the result is disposed of. */
export async function changeRows(postgres: Postgres, change: string): Promise<AsyncDisposable> {
  const table = changedTable(change);
  await postgres.query(`CREATE TABLE saved AS SELECT * FROM ${table}`);
  await postgres.query(change);
  return {
    async [Symbol.asyncDispose]() {
      await postgres.query(`DELETE FROM ${table}`);
      await postgres.query(`INSERT INTO ${table} SELECT * FROM saved`);
      await postgres.query("DROP TABLE saved");
    },
  };
}
