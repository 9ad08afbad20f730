/**
 * `npm run bench -- uniks`: CPU time of the map of uniks beside the execution of blocks (with `--assume-valid`), for a chain with the
 * proportions of the live network and for blocks full of mints; then bytes and verification of resolutions. `npm run bench -- uniks SIZE...`:
 * growth of the tree of facts by one round of 280 updates, each of one property of a unik that has as many properties, and its resolution;
 * with the ratio to the first size. One chain after the other would measure the first one before the code is compiled: rounds alternate.
 */
import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { verifyResolution } from "@uniknode/client/proofs";
import { createRounds } from "@uniknode/protocol";
import { replay } from "../packages/node/src/archive/import.ts";
import { Growth } from "../packages/node/src/facts/growth.ts";
import { logName, NoteSigner } from "../packages/node/src/facts/note.ts";
import { SqliteFactReader } from "../packages/node/src/facts/sqlite/reader.ts";
import { DEFAULT_FROM } from "../packages/node/src/facts/uniks/reader.ts";
import { UnikMap } from "../packages/node/src/facts/uniks/store.ts";
import { createCheckpointReader, resolutionData } from "../packages/node/src/http/facts/routes.ts";
import { present } from "../packages/node/src/platform/present.ts";
import { BlockStore } from "../packages/node/src/store/chain/blocks.ts";
import { type Database, openDatabase } from "../packages/node/src/store/engine/database.ts";
import {
  FULL_BLOCK,
  LONG_UNIK,
  type WrittenChain,
  writtenChain,
} from "../packages/node/test-support/facts/long-unik.ts";
import { type Livenet, loadLivenet } from "./livenet/generate.ts";
import { openPipeline } from "./pipeline.ts";

const CHAINS = [
  {
    name: "proportions of livenet",
    size: { blocks: 230_000, transactions: 28_750, uniks: 1_917, wallets: 2_400 },
  },
  {
    name: "100 transactions in each block, two thirds of them mints and transfers of uniks",
    size: { blocks: 2_300, transactions: 230_000, uniks: 76_666, wallets: 10_000 },
  },
];
const RUNS = 1_000;
const STEP_ROUNDS = 50;
/** Time of a step of a running node. */
const STEP_MS = 5;
/** Measured rounds of updates. */
const ROUNDS = 25;

const cpuUs = (since?: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return user + system;
};

/** Replays a chain, and returns the CPU time for each block in microseconds. */
async function execute(chain: Livenet, path: string): Promise<number> {
  const pipeline = openPipeline(path, chain, { threads: availableParallelism(), assumeValid: chain.last });
  const before = process.cpuUsage();
  const { accepted } = await replay(pipeline.chain, chain.blocks(), { targetHeight: chain.last.height });
  const used = cpuUs(before);
  await pipeline.close();
  await pipeline.verifier.close();
  return used / accepted;
}

/** Adds all rounds to an empty map; returns the CPU time for each block, and the longest time of one round in milliseconds. */
function addRounds(database: Database, { network, last }: Livenet): { blockUs: number; longestMs: number } {
  const map = new UnikMap(database, network);
  const blocks = new BlockStore(database);
  const { roundAt } = createRounds(network);
  let longestMs = 0;
  const before = process.cpuUsage();
  const addNext = (): boolean => {
    const { roundHeight: first, maxDelegates } = roundAt(map.height() + 1);
    const end = first + maxDelegates - 1;
    if (end > last.height) return false;
    const startMs = performance.now();
    const id = present(blocks.header(end)).id;
    while (!map.addRound({ first, last: end, id }, Number.POSITIVE_INFINITY));
    map.publish(end);
    longestMs = Math.max(longestMs, performance.now() - startMs);
    return true;
  };
  // A step of the tree adds several rounds in one transaction.
  const addSome = () => Array.from({ length: STEP_ROUNDS }, addNext).every(Boolean);
  while (database.transaction(addSome, "process death"));
  const blockUs = cpuUs(before) / last.height;
  while (database.transaction(() => map.follow(0, () => undefined), "process death"));
  return { blockUs, longestMs };
}

async function measureResolution(database: Database, { network }: Livenet): Promise<string> {
  const growth = new Growth({ database, network, onTruncated: () => {} });
  while (growth.step(Number.POSITIVE_INFINITY));
  const { privateKey } = generateKeyPairSync("ed25519");
  const key = createPrivateKey(privateKey.export({ type: "pkcs8", format: "pem" }));
  const signer = new NoteSigner(logName(network.description.nethash), key);
  const toCheckpoint = createCheckpointReader(signer);
  const reader = new SqliteFactReader(database, network);
  const uniks = database.prepare<{ id: string }>("SELECT id FROM tokens LIMIT 1000").all();
  let bytes = 0;
  const resolutions: { id: string; resolution: unknown }[] = [];
  const read = process.cpuUsage();
  for (let run = 0; run < RUNS; run++) {
    const { id } = present(uniks[run % uniks.length]);
    const resolution = resolutionData(id, present(await reader.resolution(id, DEFAULT_FROM)), toCheckpoint);
    const text = JSON.stringify(resolution);
    bytes += text.length;
    resolutions.push({ id, resolution: JSON.parse(text) });
  }
  const readUs = cpuUs(read) / RUNS;
  const verify = process.cpuUsage();
  for (const { id, resolution } of resolutions) {
    const { verdict } = verifyResolution(resolution, { id, keys: signer.verifierKey });
    if (verdict !== "proven") throw new Error(`${id}: ${verdict}`);
  }
  const verifyMs = cpuUs(verify) / RUNS / 1_000;
  return `a resolution: ${Math.round(bytes / RUNS)} bytes, read in ${readUs.toFixed(0)} us, verified in ${verifyMs.toFixed(1)} ms of CPU time`;
}

type Growing = { readonly cpuMs: number; readonly longestMs: number; readonly steps: number };

/** Extends the tree in steps as a running node does; returns the CPU time, and that of the longest step. */
function grow({ database, network }: WrittenChain): Growing {
  const growth = new Growth({ database, network, onTruncated: () => {} });
  let [cpuMs, longestMs, steps] = [0, 0, 0];
  for (let isBehind = true; isBehind; steps++) {
    const before = process.cpuUsage();
    isBehind = growth.step(performance.now() + STEP_MS);
    const stepMs = cpuUs(before) / 1_000;
    cpuMs += stepMs;
    longestMs = Math.max(longestMs, stepMs);
    // Another thread of a node copies the write-ahead log.
    if (steps % 100 === 0) database.checkpoint();
  }
  return { cpuMs, longestMs, steps };
}

const growingText = ({ cpuMs, longestMs, steps }: Growing) =>
  `${cpuMs.toFixed(0)} ms of CPU time in ${steps} steps, the longest ${longestMs.toFixed(1)} ms`;

type LongUnik = {
  readonly size: number;
  readonly chain: WrittenChain;
  readonly rounds: Growing[];
  /** CPU time in microseconds, by request. */
  readonly requests: Map<string, number[]>;
};

/** Builds the map of a unik with a number of properties. */
function openLongUnik(size: number, folder: string): LongUnik {
  const chain = writtenChain(join(folder, `${size}.sqlite`));
  chain.append([chain.mint()]);
  chain.addProperties(1, size);
  chain.finalize();
  console.log(`${size} properties: ${growingText(grow(chain))}`);
  return { size, chain, rounds: [], requests: new Map(REQUESTS.map(([name]) => [name, []])) };
}

const REQUESTS = [
  ["owner and first page", DEFAULT_FROM],
  ["one property", ["ab".repeat(32)]],
] as const;

async function measureRound({ size, chain, rounds, requests }: LongUnik, round: number): Promise<void> {
  const keys = Array.from(
    { length: FULL_BLOCK },
    (_, index) => 1 + (((round * FULL_BLOCK + index) * 7_919) % size),
  );
  chain.append(keys.map((key, index) => chain.update({ [`key-${key}`]: `changed ${round} ${index}` })));
  chain.finalize();
  rounds.push(grow(chain));
  chain.database.checkpoint();
  const reader = new SqliteFactReader(chain.database, chain.network);
  for (const [name, from] of REQUESTS) {
    const read = process.cpuUsage();
    for (let run = 0; run < RUNS / ROUNDS; run++) present(await reader.resolution(LONG_UNIK, from));
    present(requests.get(name)).push(cpuUs(read) / (RUNS / ROUNDS));
  }
}

/** Measures uniks with numbers of properties, in alternation. */
async function measureLongUniks(sizes: readonly number[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-uniks-"));
  const uniks = sizes.map((size) => openLongUnik(size, folder));
  for (let round = 0; round < ROUNDS; round++) for (const unik of uniks) await measureRound(unik, round);
  const first = new Map<string, number>();
  const ratio = (name: string, value: number): string => {
    if (!first.has(name)) first.set(name, value);
    return `${(value / present(first.get(name))).toFixed(2)} times the first`;
  };
  for (const { size, chain, rounds, requests } of uniks) {
    const cpuMs = medianOf(rounds.map((round) => round.cpuMs));
    const steps = medianOf(rounds.map((round) => round.steps));
    const longest = rounds.map(({ longestMs }) => longestMs);
    console.log(
      `${size} properties: a round with ${FULL_BLOCK} updates: ${cpuMs.toFixed(0)} ms of CPU time (${ratio("round", cpuMs)}) in ${steps} steps, the longest ${medianOf(longest).toFixed(1)} ms; of ${ROUNDS} rounds ${Math.max(...longest).toFixed(1)} ms`,
    );
    for (const [name, costs] of requests) {
      const us = medianOf(costs);
      console.log(`  resolution of ${name}: ${us.toFixed(0)} us of CPU time (${ratio(name, us)})`);
    }
    chain.database.close();
  }
  rmSync(folder, { recursive: true });
}

const medianOf = (values: readonly number[]): number =>
  present(values.toSorted((a, b) => a - b)[values.length >> 1]);

const sizes = process.argv.slice(2).map(Number);
if (sizes.length > 0) await measureLongUniks(sizes);

for (const { name, size } of sizes.length > 0 ? [] : CHAINS) {
  const chain = await loadLivenet(size);
  const folder = mkdtempSync(join(tmpdir(), "uniknode-uniks-"));
  const path = join(folder, "node.sqlite");
  const executeUs = await execute(chain, path);
  const database = openDatabase(path);
  const { blockUs, longestMs } = addRounds(database, chain);
  console.log(
    `${name}: execution ${executeUs.toFixed(1)} us for each block, map ${blockUs.toFixed(2)} us (${((100 * blockUs) / executeUs).toFixed(1)} %), longest round ${longestMs.toFixed(1)} ms`,
  );
  console.log(`  ${await measureResolution(database, chain)}`);
  database.close();
  rmSync(folder, { recursive: true });
}
