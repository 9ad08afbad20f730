/**
 * `npm run bench -- mirror [--empty N] [--caught-up N] [--blocks N] [--transfers N] [--profile FOLDER]`
 *
 * Copies a generated chain into PostgreSQL with the real mirror process: first it builds a mirror, then another mirror catches up
 * with blocks of the feed. The node is a thread of this process, and PostgreSQL a server from an npm package without fsync.
 * Prints CPU time of the mirror next to wall time. With `--profile`, the mirror writes a CPU profile of each run into the folder.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { blockToJson } from "@uniknode/protocol";
import type { Pin } from "../packages/node/src/chain/assumption.ts";
import { receiveBlock } from "../packages/node/src/chain/pipeline/receive.ts";
import { replay } from "../packages/node/src/chain/replay.ts";
import { finalHeight } from "../packages/node/src/facts/final.ts";
import { present } from "../packages/node/src/platform/present.ts";
import type { Postgres } from "../packages/node/src/postgres/connection.ts";
import { serveFolder } from "../packages/node/test-support/facts/served.ts";
import { connect, startPostgres } from "../packages/node/test-support/postgres/server.ts";
import { type Running, spawnUniknode } from "../packages/node/test-support/process/uniknode.ts";
import { readArguments } from "../tools/arguments.ts";
import { type Fixture, loadFixture } from "./fixture.ts";
import { openPipeline } from "./pipeline.ts";

const { values } = readArguments("bench mirror", {
  options: {
    /** Blocks without transactions. */
    empty: { type: "string", default: "30000" },
    /** The last of them, with which a mirror catches up. */
    "caught-up": { type: "string", default: "6000" },
    /** Blocks with transfers, which follow. */
    blocks: { type: "string", default: "2000" },
    transfers: { type: "string", default: "50" },
    profile: { type: "string" },
  },
});
const emptyBlocks = Number(values.empty);
const caughtUp = Number(values["caught-up"]);
const fullBlocks = Number(values.blocks);
const transfersPerBlock = Number(values.transfers);
/** The genesis block has height 1. */
const lastEmpty = emptyBlocks + 1;
const last = lastEmpty + fullBlocks;
const TOKEN = "bench";
const FEED_BLOCKS = 10_000;
const POLL_MS = 20;
/** Unit of CPU time in `/proc`, in seconds. */
const TICK_SECONDS = 0.01;

/** The mirror at a moment: wall time and its CPU time in seconds, and its rows. */
type Sample = {
  readonly clock: number;
  readonly cpu: number;
  readonly height: number;
  readonly isReady: boolean;
  /** Height of its tree of final facts. */
  readonly facts: number;
  /** Largest resident memory so far. */
  readonly peakMb: number;
};

async function blockAt(fixture: Fixture, height: number): Promise<Pin> {
  let bytes: Uint8Array | undefined;
  for await (const block of heights(fixture, height, height)) bytes = block;
  return { height, id: receiveBlock(present(bytes), fixture.network).header.id };
}

/** Extends the chain of a data folder up to a height, with its tree of facts, without verifying signatures. */
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

async function* heights({ blocks }: Fixture, first: number, to: number): AsyncIterable<Uint8Array> {
  let height = 2;
  for await (const block of blocks()) {
    if (height > to) return;
    if (height++ >= first) yield block;
  }
}

/** Runs a mirror until it has a block and the final facts below it, and returns samples of its progress. */
async function mirror(fixture: Fixture, url: string, databaseUrl: string, head: number): Promise<Sample[]> {
  const profile = values.profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${values.profile}`];
  const running = spawnUniknode(
    ["mirror", "--node", url, "--token", TOKEN, "--database-url", databaseUrl, "--name", "bench"],
    { nodeArguments: profile },
  );
  const postgres = connect(databaseUrl);
  const samples: Sample[] = [];
  const final = finalHeight(head, fixture.network);
  for (;;) {
    const sample = await sampleOf(postgres, running);
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

async function sampleOf(postgres: Postgres, { child }: Running): Promise<Sample | undefined> {
  const rows = await postgres
    .query<{ height: string; phase: string; facts: string }>(
      "SELECT height, phase, coalesce((SELECT height FROM facts), 0) AS facts FROM head",
    )
    // The tables do not exist yet.
    .catch(() => []);
  const [row] = rows;
  if (!row) return undefined;
  const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return {
    clock: performance.now() / 1_000,
    cpu: (Number(fields[11]) + Number(fields[12])) * TICK_SECONDS,
    height: Number(row.height),
    isReady: row.phase === "ready",
    facts: Number(row.facts),
    peakMb: Math.round(
      Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) / 1_024,
    ),
  };
}

const fixture = await loadFixture({ emptyBlocks, fullBlocks, transfersPerBlock });
const folder = mkdtempSync(join(tmpdir(), "uniknode-bench-mirror-"));
const path = join(folder, "node.sqlite");
const server = await startPostgres({ shared_buffers: "256MB", max_wal_size: "4GB" });

const serve = () =>
  serveFolder(
    folder,
    { feedBlocks: FEED_BLOCKS, webhookToken: TOKEN, webhooks: "off" },
    { files: fixture.files, genesis: fixture.genesis, genesisBlock: blockToJson(fixture.genesis) },
  );

/** Prints the rates between the first samples that fulfil two conditions. */
function report(
  name: string,
  samples: readonly Sample[],
  from: (sample: Sample) => boolean,
  to: (sample: Sample) => boolean,
  progress: (sample: Sample) => number,
): void {
  const start = present(samples.find(from), "a first sample");
  const end = present(samples.find(to), "a last sample");
  const [clock, cpu] = [end.clock - start.clock, end.cpu - start.cpu];
  const blocks = progress(end) - progress(start);
  if (end === start) {
    console.log(`${name}: too short to be measured`);
    return;
  }
  const rate = (count: number) => Math.round(count / clock).toLocaleString("en");
  const transfers =
    progress(end) > lastEmpty && progress(start) >= lastEmpty ? blocks * transfersPerBlock : 0;
  console.log(
    `${name}: ${blocks} blocks in ${clock.toFixed(2)} s, CPU time ${cpu.toFixed(2)} s, peak memory ${end.peakMb} MB: ${rate(blocks)} blocks/s` +
      (transfers > 0 ? `, ${rate(transfers)} transfers/s` : ""),
  );
}

const height = ({ height }: Sample) => height;
const reached = (goal: number) => (sample: Sample) => sample.height >= goal;

await extend(fixture, path, lastEmpty - caughtUp);
let node = await serve();
const following = await server.createDatabase("following");
await mirror(fixture, node.url, following, lastEmpty - caughtUp);
await node.stop();
await extend(fixture, path, last);
node = await serve();
const followed = await mirror(fixture, node.url, following, last);
const built = await mirror(fixture, node.url, await server.createDatabase("built"), last);
await node.stop();
await server.stop();
rmSync(folder, { recursive: true });

const isReady = ({ isReady }: Sample) => isReady;
report(
  "catch up, empty blocks",
  followed,
  ({ height }) => height > lastEmpty - caughtUp,
  reached(lastEmpty),
  height,
);
report("catch up, full blocks", followed, reached(lastEmpty), reached(last), height);
report("build, empty blocks", built, ({ height }) => height > 0, reached(lastEmpty), height);
report("build, full blocks", built, reached(lastEmpty), reached(last), height);
report("build, state and indexes", built, reached(last), isReady, height);
const hasAllFacts = ({ facts }: Sample) => facts >= finalHeight(last, fixture.network);
report("build, facts of the chain", built, isReady, hasAllFacts, ({ facts }) => facts);
