/** `uniknode doctor --database-url`: checks of the database of a mirror. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dalinet } from "@uniknode/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkDatabase } from "../../src/commands/doctor/database.ts";
import type { Finding } from "../../src/commands/doctor/finding.ts";
import { storeIdentity } from "../../src/mirror/node-identity.ts";
import type { Postgres } from "../../src/postgres/connection.ts";
import { chain } from "../../test-support/http/chain.ts";
import { writeChain } from "../../test-support/http/fixture.ts";
import { longer } from "../../test-support/http/longer.ts";
import { buildMirror } from "../../test-support/mirror/build.ts";
import {
  connect,
  hasPostgres,
  type PostgresServer,
  startPostgres,
} from "../../test-support/postgres/server.ts";
import { runMain } from "../../test-support/process/main.ts";

let server: PostgresServer;
let url: string;
let postgres: Postgres;
let folder: string;

const NODE = { core: { version: "5.7.2" }, ports: {}, transactionPool: { dynamicFees: { enabled: false } } };

describe.skipIf(!hasPostgres)("doctor of a database", () => {
  beforeAll(async () => {
    server = await startPostgres();
    url = await server.createDatabase("doctor");
    postgres = connect(url);
    folder = mkdtempSync(join(tmpdir(), "uniknode-doctor-database-"));
    const { epoch, close } = await buildMirror(postgres, writeChain(folder, longer), chain.network);
    close();
    const networkFiles = JSON.stringify({ ...dalinet, genesisBlock: {} });
    await storeIdentity(postgres, { networkFiles, configuration: JSON.stringify(NODE) }, epoch);
  });
  afterAll(async () => {
    await postgres?.close();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const byName = async (databaseUrl = url, nodes: string[] = []): Promise<Record<string, Finding>> =>
    Object.fromEntries((await checkDatabase(databaseUrl, nodes)).map((finding) => [finding.name, finding]));

  test("A mirror that runs passes; settings of tests are warnings.", async () => {
    expect(await byName()).toMatchObject({
      database: {
        state: "ok",
        text: expect.stringMatching(/^PostgreSQL 18\S*, database doctor, user uniknode$/),
      },
      encoding: { state: "ok", text: "UTF8" },
      role: { state: "ok", text: "primary with 0 replicas" },
      connections: { state: "ok", text: expect.stringMatching(/^\d of \d\d in use$/) },
      commits: { state: "warn", text: "fsync off" },
      pooler: { state: "ok", text: expect.stringContaining("none") },
      privileges: { state: "ok", text: "uniknode can read and write" },
      network: { state: "ok", text: expect.stringContaining("dalinet") },
      mirror: { state: "ok", text: expect.stringMatching(/^test writes; block \d+, \d+ s old$/) },
      events: { state: "warn", text: "none is copied yet" },
      lag: { state: "warn", text: "unknown: no node responds" },
    });
  });

  test("A gap in the events is a warning for some days.", async () => {
    await postgres.query("UPDATE event_log SET is_started = true, last_sequence = 12");
    expect((await byName()).events).toMatchObject({ state: "ok", text: "copied up to 12; 0 gaps" });
    const gapAt = (ms: number) =>
      postgres.query("UPDATE event_log SET gaps = 2, last_gap_ms = $1", [Date.now() - ms]);
    await gapAt(1_000);
    expect((await byName()).events).toMatchObject({
      state: "warn",
      text: expect.stringMatching(/^copied up to 12; 2 gaps, the last at 20/),
      remedy: expect.stringContaining("replay"),
    });
    await gapAt(8 * 86_400_000);
    expect((await byName()).events).toMatchObject({ state: "ok", text: "copied up to 12; 2 gaps" });
  });

  test.each([
    [3, "ok"],
    [100, "warn"],
  ])("A database that is %i blocks behind the node has the state %s.", async (behind, state) => {
    const [head] = await postgres.query<{ height: string }>("SELECT height FROM head");
    const height = Number(head?.height) + behind;
    const node = createServer((_request, response) =>
      response.end(JSON.stringify({ data: { block: { height } } })),
    ).listen(0, "127.0.0.1");
    await once(node, "listening");
    const { port } = node.address() as AddressInfo;
    const { lag } = await byName(url, ["http://127.0.0.1:1", `http://127.0.0.1:${port}/`]);
    node.close();
    expect(lag).toMatchObject({ state, text: `${behind} blocks behind the node` });
  });

  test("A mirror that does not run is a warning, and so is one that is being built.", async () => {
    await postgres.query("UPDATE head SET lease_until = now() - interval '1 s'");
    expect((await byName()).mirror).toMatchObject({
      state: "warn",
      text: expect.stringMatching(/^no mirror runs; block/),
    });
    await postgres.query("UPDATE head SET phase = 'blocks'");
    expect((await byName()).mirror).toMatchObject({
      state: "warn",
      text: expect.stringMatching(/^is being built, at block \d+$/),
    });
    await postgres.query("UPDATE head SET phase = 'ready', lease_until = now() + interval '1 h'");
  });

  test("A user who can only read passes for API servers; one who cannot fails.", async () => {
    const reader = url.replace("uniknode@", "reader@");
    await postgres.query("CREATE ROLE reader LOGIN");
    expect((await byName(reader)).privileges).toMatchObject({
      state: "fail",
      remedy: expect.stringContaining("GRANT SELECT"),
    });
    await postgres.query("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader");
    expect((await byName(reader)).privileges).toMatchObject({
      state: "ok",
      text: expect.stringContaining("not for mirrors"),
    });
  });

  test("An empty database, one with another encoding, and one with a newer schema name the next step.", async () => {
    const empty = await server.createDatabase("nothing");
    expect((await byName(empty)).mirror).toMatchObject({
      state: "warn",
      remedy: expect.stringContaining("uniknode mirror"),
    });
    await postgres.query(
      "CREATE DATABASE bytes ENCODING 'SQL_ASCII' LOCALE 'C' LOCALE_PROVIDER libc TEMPLATE template0",
    );
    expect((await byName(url.replace(/doctor$/, "bytes"))).encoding).toMatchObject({
      state: "fail",
      remedy: "create another database: createdb -E UTF8 -T template0 bytes",
    });
    await postgres.query("INSERT INTO migrations VALUES ('9999-future.sql', '')");
    expect((await byName()).schema).toMatchObject({
      state: "fail",
      text: expect.stringMatching(/newer version/),
    });
    await postgres.query("DELETE FROM migrations WHERE name = '9999-future.sql'");
  });

  test("The command checks the database instead of the node, and fails if it cannot be reached.", async () => {
    const passed = await runMain(["doctor", "--database-url", url, "--node", "http://127.0.0.1:1"]);
    expect(passed).toMatchObject({ code: 0, stderr: "" });
    expect(passed.stdout).toMatch(/^ok {4}database {6}PostgreSQL/m);
    expect(passed.stdout).not.toContain("data folder");
    const failed = await runMain(["doctor", "--database-url", "postgres://127.0.0.1:1/nothing"]);
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining("failed checks: database") });
    expect(failed.stdout).toContain("check --database-url");
  });
});
