/** Responses while the database of an API server cannot be used. */
import { afterEach, expect, test } from "vitest";
import { Postgres } from "../../src/postgres/connection.ts";
import { PostgresReadModel } from "../../src/read/postgres/read-model.ts";
import { chain } from "../../test-support/http/chain.ts";
import { type Fixture, openFixture } from "../../test-support/http/fixture.ts";

let fixture: Fixture;
let postgres: Postgres;
afterEach(async () => {
  await fixture.close();
  await postgres.close();
});

/** Nothing listens on this port. */
function openServer(maxWaiting: number): void {
  postgres = new Postgres({
    url: "postgres://127.0.0.1:1/none",
    applicationName: "test",
    maxConnections: 1,
    maxWaiting,
    statementTimeoutMs: 1_000,
    isCommitAsynchronous: false,
    onConnectionLost: () => {},
  });
  const readModel = new PostgresReadModel({}, { postgres, network: chain.network });
  fixture = openFixture({}, { readModel });
}

test.each([
  [1, "DATABASE_UNREACHABLE"],
  [0, "NODE_BUSY"],
])("With %i places for requests that wait for a connection, the code is %s.", async (maxWaiting, code) => {
  openServer(maxWaiting);
  const { statusCode, headers } = await fixture.get("/api/blocks");
  expect([statusCode, headers["error-code"], headers["retry-after"]]).toEqual([503, code, "10"]);
});
