/** Both implementations of the read model give the same results for random requests. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNetwork, type Network } from "@uniknode/protocol";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ReadModel } from "../../../src/read/port.ts";
import { PostgresReadModel } from "../../../src/read/postgres/read-model.ts";
import { SqliteReadModel } from "../../../src/read/sqlite/read-model.ts";
import { openDatabase } from "../../../src/store/engine/database.ts";
import { blocksOf, openChain, readChain } from "../../../test-support/chain/fixtures.ts";
import { chain } from "../../../test-support/http/chain.ts";
import { writeChain } from "../../../test-support/http/fixture.ts";
import { buildMirror } from "../../../test-support/mirror/build.ts";
import { useDatabases } from "../../../test-support/postgres/databases.ts";
import { hasPostgres } from "../../../test-support/postgres/server.ts";
import { type ComparisonOptions, compareReadModels } from "../../../test-support/read/compare.ts";
import { oddChain } from "../../../test-support/read/odd.ts";

const databases = useDatabases();
let folder: string;

type Models = { readonly inFile: ReadModel; readonly mirrored: ReadModel };

/** Runs `work` with both read models of a chain in a database file. */
async function withModels(path: string, network: Network, work: (models: Models) => Promise<void>) {
  const postgres = await databases.connect();
  const database = openDatabase(path, { readonly: true });
  const mirror = await buildMirror(postgres, path, network);
  const inFile = new SqliteReadModel({}, { database, network });
  const mirrored = new PostgresReadModel(
    // Every page beyond the first rows starts at an entry of the offset cache.
    { readTimeoutMs: 30_000, offsetCacheStep: 3 },
    { postgres, shared: postgres, network },
  );
  try {
    await work({ inFile, mirrored });
  } finally {
    inFile.close();
    mirror.close();
    database.close();
    await postgres.close();
  }
}

const compare = (path: string, network: Network, options: ComparisonOptions) =>
  withModels(path, network, async ({ inFile, mirrored }) => {
    expect(await compareReadModels(inFile, mirrored, options)).toEqual([]);
  });

/** Writes a chain of the vectors into a database file. */
async function writeVectors(name: string): Promise<{ path: string; network: Network }> {
  const content = readChain(name);
  const path = join(folder, `${name}.sqlite`);
  const node = openChain(content, path);
  await node.chain.accept(blocksOf(content));
  await node.close();
  return { path, network: createNetwork(content.network) };
}

describe.skipIf(!hasPostgres)("PostgreSQL and SQLite", () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "uniknode-comparison-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("PostgreSQL and SQLite return the same rows of a chain with all types of transactions and odd texts.", async () => {
    await compare(writeChain(folder, oddChain), chain.network, { seed: 1, cases: 250 });
  });

  test.each(["chain-1", "chain-random-1"])(
    "PostgreSQL and SQLite return the same rows of %s.",
    async (name) => {
      const { path, network } = await writeVectors(name);
      await compare(path, network, { seed: 2, cases: 100 });
    },
  );

  test("PostgreSQL and SQLite return the same far pages of blocks and of transactions between heights.", async () => {
    const { path, network } = await writeVectors("chain-random-3");
    const limit = 3;
    const directions = ["asc", "desc"] as const;
    const filters = [
      {},
      { height: { from: 5 } },
      { height: { to: 80 } },
      { timestamp: { from: 40, to: 1_000 } },
    ];
    const pages = filters.flatMap((filter) =>
      directions.flatMap((direction) =>
        [0, 60, 80, ...Array.from({ length: 30 }, (_, index) => 98 + 5 * index)].map((offset) => ({
          ...{ filter, direction, range: { offset, limit } },
        })),
      ),
    );
    const read = (model: ReadModel) =>
      model.snapshot(async ({ blocks, transactions }) => {
        const found = [];
        for (const { filter, direction, range } of pages) {
          const order = { direction, sequence: range.offset % 2 === 0 ? direction : "asc" } as const;
          const listed = await transactions.list(filter, { field: "timestamp", ...order }, range);
          const { rows, totalCount } = await blocks.list(filter, { field: "height", direction }, range);
          const ids = [listed.rows, rows].map((some) => some.map(({ id }) => id));
          found.push([filter, direction, range, ids, listed.totalCount, totalCount]);
        }
        return found;
      });
    await withModels(path, network, async ({ inFile, mirrored }) => {
      expect(await read(mirrored)).toEqual(await read(inFile));
    });
  });
});
