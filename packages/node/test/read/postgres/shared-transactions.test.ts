/** Transactions that several snapshots share. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Postgres } from "../../../src/postgres/connection.ts";
import { SharedTransactions } from "../../../src/read/postgres/shared-transactions.ts";
import {
  connect,
  hasPostgres,
  type PostgresServer,
  startPostgres,
} from "../../../test-support/postgres/server.ts";

let server: PostgresServer;
let postgres: Postgres;
/** Each names its transaction: the process of its connection, and its time. */
const transactionsOf = (max: number, statement = "SELECT pg_backend_pid() || ' ' || now() AS name") =>
  new SharedTransactions<string>(max, (work) =>
    postgres.reads({ timeoutMs: 1_000 }, async (query) => {
      const [row] = await query<{ name: string }>(statement);
      return work(row?.name ?? "");
    }),
  );

describe.skipIf(!hasPostgres)("a shared transaction", () => {
  beforeAll(async () => {
    server = await startPostgres();
    postgres = connect(await server.createDatabase("shared"));
  });
  afterAll(async () => {
    await postgres?.close();
    await server?.stop();
  });

  test("A shared transaction has the works that begin before it is open, up to a number.", async () => {
    const transactions = transactionsOf(2);
    const names = await Promise.all(Array.from({ length: 5 }, () => transactions.run(async (name) => name)));
    expect(names[1]).toBe(names[0]);
    expect(names[3]).toBe(names[2]);
    expect(new Set(names).size).toBe(3);
  });

  test("A shared transaction is not joined once it is open, and lasts until its last work has settled.", async () => {
    const transactions = transactionsOf(10);
    const opened = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    const first = transactions.run(async (name) => {
      opened.resolve();
      await finish.promise;
      return name;
    });
    await opened.promise;
    const second = await transactions.run(async (name) => name);
    finish.resolve();
    expect(second).not.toBe(await first);
  });

  test("A shared transaction goes on after a work that fails.", async () => {
    const transactions = transactionsOf(10);
    const results = await Promise.allSettled([
      transactions.run(() => Promise.reject(new Error("no"))),
      transactions.run(async () => 1),
    ]);
    expect(results).toMatchObject([{ reason: { message: "no" } }, { value: 1 }]);
  });

  test("A shared transaction that cannot begin fails all of its works, and the next one begins again.", async () => {
    const broken = transactionsOf(10, "SELECT name FROM missing");
    const works = [0, 1].map(() => broken.run(async () => 1));
    const missing = { status: "rejected", reason: { code: "42P01" } };
    expect(await Promise.allSettled(works)).toMatchObject([missing, missing]);
    await postgres.query("CREATE TABLE missing AS SELECT 'here' AS name");
    expect(await broken.run(async (name) => name)).toBe("here");
  });
});
