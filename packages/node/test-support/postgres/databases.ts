/** Databases for the tests of one file. */
import { afterAll, beforeAll } from "vitest";
import { present } from "../../src/platform/present.ts";
import type { Postgres } from "../../src/postgres/connection.ts";
import { connect, hasPostgres, type PostgresServer, startPostgres } from "./server.ts";

export type Databases = {
  /** Creates an empty database, and returns its URL. */
  create(): Promise<string>;
  /** Connects to a new, empty database. */
  connect(): Promise<Postgres>;
};

/** Runs a PostgreSQL server during the tests of the file, on machines that have one. */
export function useDatabases(): Databases {
  let server: PostgresServer | undefined;
  let count = 0;
  beforeAll(async () => {
    if (hasPostgres) server = await startPostgres();
  });
  afterAll(() => server?.stop());
  const create = () => present(server, "the PostgreSQL server").createDatabase(`test_${++count}`);
  return { create, connect: async () => connect(await create()) };
}
