/** Costs of blocks and transactions: for the node, a mirror and PostgreSQL. */
import { setTimeout as sleep } from "node:timers/promises";
import { replay } from "../../packages/node/src/archive/import.ts";
import { present } from "../../packages/node/src/platform/present.ts";
import type { Postgres } from "../../packages/node/src/postgres/connection.ts";
import { openDatabase } from "../../packages/node/src/store/engine/database.ts";
import { connect, startPostgres } from "../../packages/node/test-support/postgres/server.ts";
import { type Fixture, loadFixture } from "../fixture.ts";
import { createNodeFolder, runMirror, type Sample } from "../mirror/copies.ts";
import { openPipeline } from "../pipeline.ts";
import { measureSubmissions } from "./submissions.ts";

const SIZE = { emptyBlocks: 20_000, fullBlocks: 1_500, transfersPerBlock: 50 };
/** The genesis block has height 1. */
const LAST_EMPTY = 1 + SIZE.emptyBlocks;
const LAST = LAST_EMPTY + SIZE.fullBlocks;
const TRANSFERS = SIZE.fullBlocks * SIZE.transfersPerBlock;
/** Blocks that warm the code: of a node, and of a mirror at the beginning of each kind of blocks. */
const [WARM_BLOCKS, WARM_FULL_BLOCKS] = [2_000, 300];
/** A mirror catches up from here: the feed has the last 10,000 blocks. */
const FIRST_COPIED = LAST_EMPTY - 8_000;
const US = 1e6;

type Measured = Readonly<Record<string, number>>;

export async function measureChain(): Promise<Measured> {
  const fixture = await loadFixture(SIZE);
  const folder = createNodeFolder(fixture);
  const execution = await measureExecution(fixture, folder.path);
  folder.remove();
  return { ...execution, ...(await measureSubmissions()), ...(await measureMirror(fixture)) };
}

/** Execution with verified signatures and the tree of facts, and the bytes in SQLite. */
async function measureExecution(fixture: Fixture, path: string): Promise<Measured> {
  const pipeline = openPipeline(path, fixture, { threads: 2, facts: true, feedBlocks: 10_000 });
  const blocks: Uint8Array[] = [];
  for await (const block of fixture.blocks()) blocks.push(block);
  async function run(from: number, to: number): Promise<number> {
    const before = process.cpuUsage();
    await replay(pipeline.chain, toAsync(blocks.slice(from, to)));
    while ((pipeline.figures?.().lag ?? 0) > 0) await sleep(5);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  }
  await run(0, WARM_BLOCKS);
  const empty = (await run(WARM_BLOCKS, SIZE.emptyBlocks)) / (SIZE.emptyBlocks - WARM_BLOCKS);
  const afterEmpty = factsOf(path);
  const full = await run(SIZE.emptyBlocks, blocks.length);
  await pipeline.close();
  await pipeline.verifier.close();
  const facts = factsOf(path);
  const blockFacts = afterEmpty / SIZE.emptyBlocks;
  return {
    nodeBlockUs: empty,
    nodeTransferUs: (full - SIZE.fullBlocks * empty) / TRANSFERS,
    blockFacts,
    // The last blocks are not final yet.
    transferFacts: Math.round((facts - afterEmpty) / TRANSFERS),
    ...sqliteBytes(path, facts),
  };
}

async function* toAsync<T>(items: readonly T[]): AsyncIterable<T> {
  yield* items;
}

function factsOf(path: string): number {
  const database = openDatabase(path, { readonly: true });
  const row = database.prepare<{ size: number }>("SELECT max(size) AS size FROM fact_sizes").get();
  database.close();
  return row?.size ?? 0;
}

/** Tables and their indexes, divided by the rows. */
function sqliteBytes(path: string, facts: number): Measured {
  const database = openDatabase(path, { readonly: true });
  const bytes = (tables: readonly string[]) =>
    present(
      database
        .prepare<{ bytes: number }>(
          `SELECT coalesce(sum(pgsize), 0) AS bytes FROM dbstat WHERE name IN
             (SELECT name FROM sqlite_master WHERE tbl_name IN (${tables.map((table) => `'${table}'`).join()}))`,
        )
        .get(),
    ).bytes;
  const wallets = present(
    database.prepare<{ rows: number }>("SELECT count(*) AS rows FROM wallets").get(),
  ).rows;
  const sizes = {
    sqliteBlockBytes: bytes(["blocks", "generators", "rounds"]) / LAST,
    sqliteTransferBytes: bytes(["transactions", "senders", "recipients", "payees"]) / TRANSFERS,
    sqliteWalletBytes: bytes(["wallets"]) / wallets,
    sqliteFactBytes: bytes(["fact_tiles", "fact_sizes"]) / facts,
  };
  database.close();
  return sizes;
}

/** A mirror that catches up from the feed, first with empty blocks, then with full ones. */
async function measureMirror(fixture: Fixture): Promise<Measured> {
  const server = await startPostgres({ fsync: "on", shared_buffers: "256MB", max_wal_size: "4GB" });
  const folder = createNodeFolder(fixture);
  try {
    const databaseUrl = await server.createDatabase("mirrored");
    await folder.extend(FIRST_COPIED);
    const run = async (head: number) => {
      const node = await folder.serve();
      const samples = await runMirror(fixture, {
        ...{ server, nodeUrl: node.url, databaseUrl, head, measuresDatabase: true },
      });
      await node.stop();
      return samples;
    };
    await run(FIRST_COPIED);
    await folder.extend(LAST);
    const samples = await run(LAST);
    const postgres = connect(databaseUrl);
    const bytes = await postgresBytes(postgres);
    await postgres.close();
    return {
      ...costsOf(samples),
      ...bytes,
      ...(await feedBytes(fixture)),
      mirrorMb: present(samples.at(-1)).peakMb,
    };
  } finally {
    await server.stop();
    folder.remove();
  }
}

function costsOf(samples: readonly Sample[]): Measured {
  const first = (condition: (sample: Sample) => boolean) => present(samples.find(condition), "a sample");
  const phase = (start: Sample, end: Sample) => ({
    blocks: end.height - start.height,
    mirrorUs: US * (end.cpu - start.cpu),
    primaryUs: US * (end.databaseCpu - start.databaseCpu),
    walBytes: end.walBytes - start.walBytes,
  });
  const above = (least: number) => first(({ height }) => height >= least);
  const empty = phase(above(FIRST_COPIED + WARM_BLOCKS), above(LAST_EMPTY));
  const full = phase(above(LAST_EMPTY + WARM_FULL_BLOCKS), above(LAST));
  const block = (figure: keyof typeof empty) => empty[figure] / empty.blocks;
  const transfer = (figure: keyof typeof empty) =>
    (full[figure] - full.blocks * block(figure)) / (full.blocks * SIZE.transfersPerBlock);
  return {
    mirrorBlockUs: block("mirrorUs"),
    mirrorTransferUs: transfer("mirrorUs"),
    primaryBlockUs: block("primaryUs"),
    primaryTransferUs: transfer("primaryUs"),
    walBlockBytes: block("walBytes"),
    walTransferBytes: transfer("walBytes"),
  };
}

async function postgresBytes(postgres: Postgres): Promise<Measured> {
  const each = async (tables: readonly string[], counted: string) => {
    const [row] = await postgres.query<{ bytes: string; rows: string }>(
      `SELECT (SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest($1::text[]) AS name) AS bytes,
         (SELECT count(*) FROM ${counted}) AS rows`,
      [tables],
    );
    return Number(row?.bytes) / Number(row?.rows);
  };
  return {
    postgresBlockBytes: await each(["blocks", "rounds"], "blocks"),
    postgresTransferBytes: await each(["transactions", "payees"], "transactions"),
    postgresWalletBytes: await each(["wallets"], "wallets"),
  };
}

/** Bytes of a block in the feed: its bytes in base64, and the changed records. */
async function feedBytes(fixture: Fixture): Promise<Measured> {
  const folder = createNodeFolder(fixture);
  await folder.extend(LAST);
  const database = openDatabase(folder.path, { readonly: true });
  const average = (where: string) =>
    present(
      database
        .prepare<{ bytes: number }>(`SELECT avg(length(changes)) AS bytes FROM feed_changes WHERE ${where}`)
        .get(),
    ).bytes;
  const blocks: Uint8Array[] = [];
  for await (const block of fixture.blocks()) blocks.push(block);
  const size = (block: Uint8Array | undefined) => ((block?.length ?? 0) * 4) / 3;
  const empty = size(blocks[0]) + average(`height BETWEEN 1000 AND ${LAST_EMPTY}`);
  const full = size(blocks.at(-1)) + average(`height > ${LAST_EMPTY}`);
  database.close();
  folder.remove();
  return { feedBlockBytes: empty, feedTransferBytes: (full - empty) / SIZE.transfersPerBlock };
}
