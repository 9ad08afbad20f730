/**
 * `npm run bench -- node-proofs`: CPU time in which a node reads and assembles proofs, over a chain of 23 delegates and three weeks: for a
 * delivery, for a client with a recent checkpoint, and for one whose checkpoint is renewed.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { replay } from "../packages/node/src/archive/import.ts";
import { present } from "../packages/node/src/platform/present.ts";
import { createProveFact } from "../packages/node/src/proofs/assemble.ts";
import { buildProof } from "../packages/node/src/proofs/request.ts";
import type { ReadModel } from "../packages/node/src/read/port.ts";
import { SqliteReadModel } from "../packages/node/src/read/sqlite/read-model.ts";
import { openDatabase } from "../packages/node/src/store/engine/database.ts";
import { type Livenet, loadLivenet } from "./livenet/generate.ts";
import { openPipeline } from "./pipeline.ts";

const SIZE = { blocks: 230_000, transactions: 28_750, uniks: 1_917, wallets: 2_400 };
const RUNS = 300;
/** Blocks near the head, each with another proof. */
const SPREAD = 2_000;

async function fill(chain: Livenet, path: string): Promise<void> {
  const pipeline = openPipeline(path, chain, { threads: availableParallelism(), assumeValid: chain.last });
  await replay(pipeline.chain, chain.blocks(), { targetHeight: chain.last.height });
  await pipeline.close();
  await pipeline.verifier.close();
}

/** Returns the CPU time of one proof in microseconds, and its bytes as JSON. */
async function measure(prove: (index: number) => Promise<unknown>): Promise<string> {
  for (let index = 0; index < RUNS; index++) await prove(index);
  const before = process.cpuUsage();
  let bytes = 0;
  for (let index = 0; index < RUNS; index++) bytes += JSON.stringify(present(await prove(index))).length;
  const { user, system } = process.cpuUsage(before);
  return `${((user + system) / RUNS).toFixed(0)} us of CPU time, ${Math.round(bytes / RUNS)} bytes`;
}

const chain = await loadLivenet(SIZE);
const folder = mkdtempSync(join(tmpdir(), "uniknode-proofs-"));
const path = join(folder, "node.sqlite");
await fill(chain, path);
const database = openDatabase(path);
const model: Pick<ReadModel, "snapshot"> = new SqliteReadModel({}, { database, network: chain.network });
const { height: head } = chain.last;
const heightOf = (index: number) => head - 200 - ((index * 7) % SPREAD);

const proveFact = createProveFact(model, chain.network);
const forRequest = (checkpoint: number | undefined) => (index: number) =>
  model.snapshot(async (snapshot) => {
    const block = present(await snapshot.blocks.byHeight(heightOf(index)));
    return buildProof(snapshot, chain.network, { block, checkpoint });
  });
const forDelivery = async (index: number) => {
  const height = heightOf(index);
  const { id: blockId } = present(await model.snapshot((snapshot) => snapshot.blocks.byHeight(height)));
  return proveFact({ height, blockId, transactionId: undefined, blocksAbove: 23 });
};
console.log(`proof of a delivery: ${await measure(forDelivery)}`);
console.log(`proof for a checkpoint of an hour: ${await measure(forRequest(head - 450))}`);
console.log(
  `proof for a checkpoint of 20 days, which is renewed: ${await measure(forRequest(head - 216_000))}`,
);
database.close();
rmSync(folder, { recursive: true });
