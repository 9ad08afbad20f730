/** Failures of PostgreSQL, as reads of a snapshot report them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Postgres, type PostgresOptions } from "../../../src/postgres/connection.ts";
import type { Snapshot } from "../../../src/read/port.ts";
import { PostgresReadModel } from "../../../src/read/postgres/read-model.ts";
import { chain } from "../../../test-support/http/chain.ts";
import { writeChain } from "../../../test-support/http/fixture.ts";
import { longer } from "../../../test-support/http/longer.ts";
import { buildMirror } from "../../../test-support/mirror/build.ts";
import {
  connect,
  hasPostgres,
  type PostgresServer,
  startPostgres,
} from "../../../test-support/postgres/server.ts";

const { network } = chain;
let server: PostgresServer;
let url: string;
let postgres: Postgres;
let folder: string;

const openSmall = (options: Partial<PostgresOptions> = {}): Postgres =>
  new Postgres({
    url,
    applicationName: "test",
    maxConnections: 1,
    connectTimeoutMs: 3_000,
    statementTimeoutMs: 30_000,
    isCommitAsynchronous: false,
    onConnectionLost: () => {},
    ...options,
  });

const height = async ({ blocks }: Snapshot) => (await blocks.byHeight(3))?.height;

/** Each read of a property takes this time, until the table is restored. */
const slowDownProperties = (seconds: number) =>
  postgres.query(
    `CREATE FUNCTION slowly(value bytea) RETURNS bytea STABLE LANGUAGE plpgsql AS
       $$ BEGIN PERFORM pg_sleep(${seconds}); RETURN value; END $$;
     ALTER TABLE properties RENAME TO stored_properties;
     CREATE VIEW properties AS SELECT token, key, slowly(value) AS value FROM stored_properties`,
  );
const restoreProperties = () =>
  postgres.query(
    "DROP VIEW properties; ALTER TABLE stored_properties RENAME TO properties; DROP FUNCTION slowly",
  );

describe.skipIf(!hasPostgres)("a read model on PostgreSQL", () => {
  beforeAll(async () => {
    server = await startPostgres();
    url = await server.createDatabase("failures");
    postgres = connect(url);
    folder = mkdtempSync(join(tmpdir(), "uniknode-failures-"));
    (await buildMirror(postgres, writeChain(folder, longer), network)).close();
  });
  afterAll(async () => {
    await postgres?.close();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("A read model on PostgreSQL has no head while the mirror is built.", async () => {
    const model = new PostgresReadModel({ headCacheMs: 0 }, { postgres, network });
    await postgres.query("UPDATE head SET phase = 'blocks'");
    expect(await model.head()).toBeUndefined();
    await expect(model.snapshot(height)).rejects.toMatchObject({ code: "SNAPSHOT_EMPTY", isRetryable: true });
    await postgres.query("UPDATE head SET phase = 'ready'");
    expect(await model.snapshot(height)).toBe(3);
  });

  test("A read model on PostgreSQL completes the reads that were sent with one that fails.", async () => {
    const model = new PostgresReadModel({ readTimeoutMs: 2_000 }, { postgres, network });
    await slowDownProperties(60);
    const results = await model.snapshot((snapshot) =>
      Promise.allSettled([
        height(snapshot),
        snapshot.tokens.countsByType(),
        height(snapshot),
        snapshot.wallets.find("genesis_1"),
        snapshot.blocks.heightAt(20),
      ]),
    );
    await restoreProperties();
    expect(results.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      ...Array.from({ length: 3 }, () => "fulfilled"),
    ]);
    expect(results[1]).toMatchObject({ reason: { code: "SNAPSHOT_TIMEOUT", isRetryable: false } });
    expect(results[2]).toMatchObject({ value: 3 });
  });

  test("A read model on PostgreSQL completes a slow read of a shared transaction in one of its own, after the others.", async () => {
    const model = new PostgresReadModel(
      { sharedReadTimeoutMs: 50, readTimeoutMs: 10_000 },
      { postgres, shared: postgres, network },
    );
    await slowDownProperties(0.3);
    const settled: string[] = [];
    const noted = async <T>(name: string, result: Promise<T>) => {
      await result;
      settled.push(name);
    };
    const slow = () =>
      noted(
        "slow",
        model.snapshot(({ tokens }) => tokens.countsByType()),
      );
    const quick = () => noted("quick", model.snapshot(height));
    await Promise.all([slow(), quick(), slow(), quick(), quick()]);
    await restoreProperties();
    expect(settled).toEqual(["quick", "quick", "quick", "slow", "slow"]);
  });

  test("A read model on PostgreSQL refuses a snapshot while all connections are in use, at once if too many wait.", async () => {
    const small = openSmall();
    const model = new PostgresReadModel({}, { postgres: small, network });
    const begun = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const blocker = model.snapshot(() => {
      begun.resolve();
      return ended.promise;
    });
    await begun.promise;
    await expect(model.snapshot(height)).rejects.toMatchObject({ code: "SNAPSHOT_BUSY", isRetryable: true });
    const impatient = openSmall({ maxWaiting: 0 });
    await expect(
      new PostgresReadModel({}, { postgres: impatient, network }).snapshot(height),
    ).rejects.toMatchObject({ code: "SNAPSHOT_BUSY" });
    ended.resolve();
    await blocker;
    expect(await model.snapshot(height)).toBe(3);
    await Promise.all([small.close(), impatient.close()]);
  });

  test("A read model on PostgreSQL refuses reads after the end of their snapshot.", async () => {
    const model = new PostgresReadModel({}, { postgres, network });
    const ended = await model.snapshot(async (snapshot) => ({ snapshot }));
    // The transaction ends after the result of the work.
    await nextTurn();
    await expect(height(ended.snapshot)).rejects.toMatchObject({ code: "SNAPSHOT_ENDED", isRetryable: true });
  });

  test("A read model on PostgreSQL reads again once the database is back.", async () => {
    const small = openSmall({ connectTimeoutMs: 10_000 });
    const model = new PostgresReadModel({}, { postgres: small, network });
    const broken = model.snapshot(async (snapshot) => {
      await server.crash();
      return height(snapshot);
    });
    await expect(broken).rejects.toMatchObject({ code: "SNAPSHOT_UNREACHABLE", isRetryable: true });
    expect(await model.snapshot(height)).toBe(3);
    await small.close();
  });

  test("A read model on PostgreSQL says that the database cannot be reached.", async () => {
    const nowhere = openSmall({ url: "postgres://127.0.0.1:1/none" });
    const model = new PostgresReadModel({}, { postgres: nowhere, network });
    await expect(model.snapshot(height)).rejects.toMatchObject({
      code: "SNAPSHOT_UNREACHABLE",
      isRetryable: true,
    });
    await expect(model.head()).rejects.toMatchObject({ code: "SNAPSHOT_UNREACHABLE" });
    await nowhere.close();
  });
});
