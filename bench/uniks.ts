/**
 * `npm run bench -- uniks`: CPU time of the map of uniks beside the execution of blocks (with `--assume-valid`), for a chain with the
 * proportions of the live network and for blocks full of mints; then bytes and verification of resolutions.
 */
import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { verifyResolution } from "@uniknode/client/proofs";
import { createRounds } from "@uniknode/protocol";
import { replay } from "../packages/node/src/chain/replay.ts";
import { createGrowth } from "../packages/node/src/facts/growth.ts";
import { createNoteSigner, logName } from "../packages/node/src/facts/note.ts";
import { createSqliteFactReader } from "../packages/node/src/facts/sqlite/reader.ts";
import { createUnikMap } from "../packages/node/src/facts/uniks/store.ts";
import { createCheckpointReader } from "../packages/node/src/http/facts/checkpoint.ts";
import { resolutionData } from "../packages/node/src/http/facts/resolve.ts";
import { present } from "../packages/node/src/platform/present.ts";
import { type Database, openDatabase } from "../packages/node/src/store/engine/database.ts";
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
  const map = createUnikMap(database, network);
  const { roundAt } = createRounds(network);
  let longestMs = 0;
  const before = process.cpuUsage();
  let height = 0;
  const addNext = (): boolean => {
    const { roundHeight, maxDelegates } = roundAt(height + 1);
    const end = roundHeight + maxDelegates - 1;
    if (end > last.height) return false;
    const startMs = performance.now();
    map.addRound(roundHeight, end);
    longestMs = Math.max(longestMs, performance.now() - startMs);
    height = end;
    return true;
  };
  // A step of the tree adds several rounds in one transaction.
  const addSome = () => {
    const isAdded = Array.from({ length: STEP_ROUNDS }, addNext).every(Boolean);
    map.setHeight(height);
    return isAdded;
  };
  while (database.transaction(addSome, "process death"));
  const blockUs = cpuUs(before) / last.height;
  database.transaction(() => map.truncate(0));
  return { blockUs, longestMs };
}

async function measureResolution(database: Database, { network }: Livenet): Promise<string> {
  const growth = createGrowth({ database, network, onTruncated: () => {} });
  while (growth.step(Number.POSITIVE_INFINITY));
  const { privateKey } = generateKeyPairSync("ed25519");
  const key = createPrivateKey(privateKey.export({ type: "pkcs8", format: "pem" }));
  const signer = createNoteSigner(logName(network.description.nethash), key);
  const toCheckpoint = createCheckpointReader(signer);
  const reader = createSqliteFactReader(database, network);
  const uniks = database.prepare<{ id: string }>("SELECT id FROM tokens LIMIT 1000").all();
  let bytes = 0;
  const resolutions: { id: string; resolution: unknown }[] = [];
  const read = process.cpuUsage();
  for (let run = 0; run < RUNS; run++) {
    const { id } = present(uniks[run % uniks.length]);
    const resolution = resolutionData(id, present(await reader.resolution(id)), toCheckpoint);
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

for (const { name, size } of CHAINS) {
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
