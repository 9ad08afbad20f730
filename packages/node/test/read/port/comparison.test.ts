/** Both implementations of the read model give the same results for random requests. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNetwork, type Network } from "@uniknode/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPostgresReadModel } from "../../../src/read/postgres/read-model.ts";
import { createSqliteReadModel } from "../../../src/read/sqlite/read-model.ts";
import { openDatabase } from "../../../src/store/engine/database.ts";
import { blocksOf, openChain, readChain } from "../../../test-support/chain/fixtures.ts";
import { chain } from "../../../test-support/http/chain.ts";
import { writeChain } from "../../../test-support/http/fixture.ts";
import { buildMirror } from "../../../test-support/mirror/build.ts";
import {
  connect,
  hasPostgres,
  type PostgresServer,
  startPostgres,
} from "../../../test-support/postgres/server.ts";
import { type ComparisonOptions, compareReadModels } from "../../../test-support/read/compare.ts";
import { oddChain } from "../../../test-support/read/odd.ts";

let server: PostgresServer;
let databases = 0;

/** Compares the results for a chain in a database file. */
async function compare(path: string, network: Network, options: ComparisonOptions): Promise<void> {
  const postgres = connect(await server.createDatabase(`comparison_${++databases}`));
  const database = openDatabase(path, { readonly: true });
  const mirror = await buildMirror(postgres, path, network);
  const inFile = createSqliteReadModel({}, { database, network });
  const mirrored = createPostgresReadModel({ readTimeoutMs: 30_000 }, { postgres, network });
  try {
    expect(await compareReadModels(inFile, mirrored, options)).toEqual([]);
  } finally {
    inFile.close();
    mirror.close();
    database.close();
    await postgres.close();
  }
}

describe.skipIf(!hasPostgres)("PostgreSQL and SQLite", () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "uniknode-comparison-"));
    server = await startPostgres();
  }, 60_000);
  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("return the same rows of a chain with all types of transactions and odd texts.", async () => {
    await compare(writeChain(folder, oddChain), chain.network, { seed: 1, cases: 250 });
  });

  test.each(["chain-1", "chain-random-1"])("return the same rows of %s.", async (name) => {
    const content = readChain(name);
    const path = join(folder, `${name}.sqlite`);
    const node = openChain(content, path);
    await node.chain.accept(blocksOf(content));
    await node.close();
    await compare(path, createNetwork(content.network), { seed: 2, cases: 100 });
  });
});
