/** Copies a generated chain into PostgreSQL with the real mirror process, over a node in a thread of this process. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { blockToJson } from "@uniknode/protocol";
import { replay } from "../../packages/node/src/archive/import.ts";
import type { Pin } from "../../packages/node/src/chain/assumption.ts";
import { receiveBlock } from "../../packages/node/src/chain/pipeline/receive.ts";
import { finalHeight } from "../../packages/node/src/facts/final.ts";
import { present } from "../../packages/node/src/platform/present.ts";
import type { Postgres } from "../../packages/node/src/postgres/connection.ts";
import type { Node } from "../../packages/node/src/processes/node/node.ts";
import { serveFolder } from "../../packages/node/test-support/facts/served.ts";
import { connect, type PostgresServer } from "../../packages/node/test-support/postgres/server.ts";
import { type Running, spawnUniknode } from "../../packages/node/test-support/process/uniknode.ts";
import type { Fixture } from "../fixture.ts";
import { openPipeline } from "../pipeline.ts";
import { memoryMbOf } from "../serve/process-memory.ts";
import { ownProcessorMsOf, processorMsOf } from "../serve/processor-time.ts";

const TOKEN = "bench";
const FEED_BLOCKS = 10_000;
const POLL_MS = 20;

/** The mirror at a moment: wall time and CPU time in seconds, and its rows. */
export type Sample = {
  readonly clock: number;
  readonly cpu: number;
  /** CPU time of PostgreSQL in seconds; 0 unless it is measured. */
  readonly databaseCpu: number;
  /** Bytes of the write-ahead log so far. */
  readonly walBytes: number;
  readonly height: number;
  readonly isReady: boolean;
  /** Height of its tree of final facts. */
  readonly facts: number;
  /** Largest resident memory so far. */
  readonly peakMb: number;
};

/** The data folder of a node. */
export type NodeFolder = {
  readonly path: string;
  /** Extends the chain up to a height, with its tree of facts, without verifying signatures. */
  extend(to: number): Promise<void>;
  /** Serves the feed. */
  serve(): Promise<Node>;
  remove(): void;
};

export function createNodeFolder(fixture: Fixture): NodeFolder {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-bench-mirror-"));
  const path = join(folder, "node.sqlite");
  const { files, genesis } = fixture;
  return {
    path,
    extend: (to) => extend(fixture, path, to),
    serve: () =>
      serveFolder(
        folder,
        { feedBlocks: FEED_BLOCKS, webhookToken: TOKEN, webhooks: "off" },
        { files, genesis, genesisBlock: blockToJson(genesis) },
      ),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

async function extend(fixture: Fixture, path: string, to: number): Promise<void> {
  const assumeValid = await blockAt(fixture, to);
  const pipeline = openPipeline(path, fixture, {
    threads: 0,
    facts: true,
    assumeValid,
    feedBlocks: FEED_BLOCKS,
  });
  const first = pipeline.chain.head().height + 1;
  await replay(pipeline.chain, heights(fixture, first, to));
  while ((pipeline.figures?.().lag ?? 0) > 0) await setTimeout(POLL_MS);
  await pipeline.close();
  await pipeline.verifier.close();
}

async function blockAt(fixture: Fixture, height: number): Promise<Pin> {
  let bytes: Uint8Array | undefined;
  for await (const block of heights(fixture, height, height)) bytes = block;
  return { height, id: receiveBlock(present(bytes), fixture.network).header.id };
}

async function* heights({ blocks }: Fixture, first: number, to: number): AsyncIterable<Uint8Array> {
  let height = 2;
  for await (const block of blocks()) {
    if (height > to) return;
    if (height++ >= first) yield block;
  }
}

export type MirrorRun = {
  readonly server: PostgresServer;
  readonly nodeUrl: string;
  readonly databaseUrl: string;
  /** Height of the last block. */
  readonly head: number;
  /** Folder for a CPU profile. */
  readonly profile?: string | undefined;
  /** True to measure the CPU time of PostgreSQL, which costs some milliseconds for each sample. Default: false. */
  readonly measuresDatabase?: boolean;
};

/** Runs a mirror until it has a block and the final facts below it, and returns samples of its progress. */
export async function runMirror({ network }: Fixture, run: MirrorRun): Promise<Sample[]> {
  const { server, nodeUrl, databaseUrl, head, profile, measuresDatabase = false } = run;
  const running = spawnUniknode(
    ["mirror", "--node", nodeUrl, "--token", TOKEN, "--database-url", databaseUrl, "--name", "bench"],
    { nodeArguments: profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`] },
  );
  const postgres = connect(databaseUrl);
  const samples: Sample[] = [];
  const final = finalHeight(head, network);
  for (;;) {
    const sample = await sampleOf(postgres, running, measuresDatabase ? server.pid() : undefined);
    if (sample) samples.push(sample);
    if (sample?.height === head && sample.isReady && sample.facts >= final) break;
    await setTimeout(POLL_MS);
    if (running.child.exitCode !== null) throw new Error(`the mirror ended: ${running.stderr()}`);
  }
  running.child.kill("SIGTERM");
  await running.ended;
  await postgres.close();
  return samples;
}

async function sampleOf(
  postgres: Postgres,
  { child }: Running,
  databasePid: number | undefined,
): Promise<Sample | undefined> {
  const rows = await postgres
    .query<{ height: string; phase: string; facts: string; wal: string }>(
      `SELECT height, phase, coalesce((SELECT height FROM facts), 0) AS facts,
         pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS wal FROM head`,
    )
    // The tables do not exist yet.
    .catch(() => []);
  const [row] = rows;
  if (!row) return undefined;
  return {
    clock: performance.now() / 1_000,
    cpu: ownProcessorMsOf(present(child.pid)) / 1_000,
    databaseCpu: databasePid === undefined ? 0 : processorMsOf(databasePid) / 1_000,
    walBytes: Number(row.wal),
    height: Number(row.height),
    isReady: row.phase === "ready",
    facts: Number(row.facts),
    peakMb: memoryMbOf(present(child.pid), "VmHWM"),
  };
}
