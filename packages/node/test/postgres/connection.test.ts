/** Connections to PostgreSQL that break, and reads of one commit. */
import pg from "pg";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Postgres, type PostgresValue } from "../../src/postgres/connection.ts";
import { prepared, type ReadingClient, Reads } from "../../src/postgres/reads.ts";
import {
  connect,
  hasPostgres,
  type PostgresServer,
  startPostgres,
} from "../../test-support/postgres/server.ts";

let server: PostgresServer;
let url: string;
let postgres: Postgres;

const TIMEOUT_MS = 1_000;
const ONE = prepared("SELECT $1::integer AS one");
/** Fails for 0. */
const DIVIDED = prepared("SELECT 1 / $1::integer AS one");

describe.skipIf(!hasPostgres)("a connection to PostgreSQL", () => {
  beforeAll(async () => {
    server = await startPostgres();
    url = await server.createDatabase("test");
    postgres = connect(url);
  });
  afterAll(async () => {
    await postgres?.close();
    await server?.stop();
  });

  test("A connection to PostgreSQL that breaks between two statements fails its transaction, and only that.", async () => {
    const transaction = postgres.transaction("READ WRITE", async ({ query }) => {
      await query("SELECT 1");
      await server.crash();
      await query("SELECT 1");
    });
    await expect(transaction).rejects.toThrow();
    expect(await postgres.query("SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  test("A transaction on a connection that PostgreSQL has ended fails with the reason.", async () => {
    const short = new Postgres({
      ...{ url, applicationName: "test", maxConnections: 1, statementTimeoutMs: TIMEOUT_MS },
      ...{ isCommitAsynchronous: false, maxTransactionIdleMs: 10, onConnectionLost: () => {} },
    });
    const transaction = short.transaction("READ WRITE", async ({ query }) => {
      const [row] = await query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
      const sessions = () => postgres.query("SELECT 1 FROM pg_stat_activity WHERE pid = $1", [row?.pid ?? 0]);
      await expect.poll(sessions).toEqual([]);
      await query("SELECT 1");
    });
    const error = await transaction.catch((failure) => failure);
    // The statement itself has the reason if it was sent before the end was known.
    expect([error.code, error.cause?.code]).toContain("25P03");
    await short.close();
  });

  test("A connection to PostgreSQL reports its loss without the statements that it has prepared.", async () => {
    const lost = Promise.withResolvers<Error>();
    const idle = new Postgres({
      ...{ url, applicationName: "test", maxConnections: 1, statementTimeoutMs: TIMEOUT_MS },
      ...{ isCommitAsynchronous: false, hasFewStatements: true, onConnectionLost: lost.resolve },
    });
    await idle.query("SELECT $1::integer AS prepared", [1]);
    await server.crash();
    const lines: string[] = [];
    pino({}, { write: (line: string) => void lines.push(line) }).warn({ err: await lost.promise }, "lost");
    expect(lines.join()).toContain('"type":"');
    expect(lines.join()).not.toContain("AS prepared");
    await idle.close();
  });

  test("A connection to PostgreSQL reads one commit, whatever is written meanwhile.", async () => {
    await postgres.query("CREATE TABLE numbers AS SELECT 1 AS number");
    const count = () =>
      postgres.reads({ timeoutMs: TIMEOUT_MS }, async (query) => {
        await query("SELECT 1");
        await postgres.query("INSERT INTO numbers VALUES (2)");
        return query("SELECT number FROM numbers");
      });
    expect(await count()).toEqual([{ number: 1 }]);
    expect(await count()).toEqual([{ number: 1 }, { number: 2 }]);
  });

  test("A connection to PostgreSQL builds for longer than a statement may take, and limits the statements after the transaction.", async () => {
    const limited = new Postgres({
      ...{ url, applicationName: "test", maxConnections: 1, statementTimeoutMs: 200 },
      ...{ isCommitAsynchronous: false, onConnectionLost: () => {} },
    });
    await limited.transaction("READ WRITE", ({ build }) =>
      build("SELECT pg_sleep(0.5); SELECT pg_sleep(0.1)"),
    );
    const late = limited.transaction("READ WRITE", ({ query }) => query("SELECT pg_sleep(0.5)"));
    await expect(late).rejects.toMatchObject({ code: "57014" });
    await limited.close();
  });

  test("A connection to PostgreSQL passes arrays with every kind of element.", async () => {
    const texts = ["", "NULL", "null", null, " a ", 'a"b', "a\\b", '\\"', "{a,b}", "a\nb", "ä€😀", "'"];
    const numbers = ["9007199254740993", 0, -1, null];
    const flags = [true, false, null];
    const bytes = [new Uint8Array([0, 34, 92]), null];
    const select =
      "SELECT $1::text[] AS texts, $2::bigint[] AS numbers, $3::boolean[] AS flags, $4::bytea[] AS bytes";
    expect(await postgres.query(select, [texts, numbers, flags, bytes])).toEqual([
      {
        texts,
        numbers: ["9007199254740993", "0", "-1", null],
        flags,
        bytes: [Buffer.from([0, 34, 92]), null],
      },
    ]);
    expect(await postgres.query("SELECT $1::text[] AS texts", [[]])).toEqual([{ texts: [] }]);
    const nested = [
      ["a", "b"],
      ['"', null],
    ];
    expect(await postgres.query("SELECT $1::text[] AS texts", [nested])).toEqual([{ texts: nested }]);
  });

  test("A connection to PostgreSQL does not write in reads.", async () => {
    const written = postgres.reads({ timeoutMs: TIMEOUT_MS }, (query) => query("CREATE TABLE others ()"));
    await expect(written).rejects.toMatchObject({ code: "25006" });
  });

  test("A connection to PostgreSQL completes statements that were sent behind one that fails, prepared or not.", async () => {
    for (let round = 0; round < 3; round++) {
      const results = await postgres.reads({ timeoutMs: TIMEOUT_MS }, (query) =>
        Promise.allSettled([
          query(DIVIDED, [0]),
          query(ONE, [1]),
          query(DIVIDED, [1]),
          query("SELECT 1 AS one"),
          query(ONE, [1]),
          query(DIVIDED, [0]),
          query(ONE, [1]),
        ]),
      );
      const one = { status: "fulfilled", value: [{ one: 1 }] };
      const failed = { status: "rejected", reason: { code: "22012" } };
      expect(results).toMatchObject([failed, one, one, one, one, failed, one]);
    }
  });

  test("A connection reports that the transaction did not begin in time, whatever its statements report.", async () => {
    const client = new pg.Client({ connectionString: url, pipeline: true });
    await client.connect();
    // On a machine without a free processor, beginning can take longer than a statement may.
    const slow: ReadingClient<PostgresValue> = {
      query: ({ text, values }) =>
        client.query({
          text: text.replace(/;\s+SAVEPOINT reads$/, "; SELECT pg_sleep(1); SAVEPOINT reads"),
          ...(values && { values: [...values] }),
        }),
    };
    const reads = new Reads(slow, { timeoutMs: 50 });
    const results = await Promise.allSettled([reads.query("SELECT 1"), reads.query(ONE, [1])]);
    await reads.end();
    const late = { status: "rejected", reason: expect.objectContaining({ code: "POSTGRES_TIMEOUT" }) };
    expect(results).toEqual([late, late]);
    await client.end();
  });

  test("A connection to PostgreSQL ends a statement whose time is up.", async () => {
    const late = postgres.reads({ timeoutMs: 10 }, (query) => query("SELECT pg_sleep(10)"));
    await expect(late).rejects.toMatchObject({ code: "POSTGRES_TIMEOUT", isRetryable: false });
  });
});
