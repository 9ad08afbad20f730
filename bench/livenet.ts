/**
 * `npm run bench -- livenet [--blocks 24000000] [--transactions 3000000] [--uniks 200000] [--wallets 250000] [--early 1000000] [--keep]`
 *
 * Replays a chain of the size of the live network into a new database, without verifying signatures, as `--assume-valid` does; and
 * measures every kind of request at an early height and at the end: responses must not become slower with the chain.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { replay } from "../packages/node/src/chain/replay.ts";
import { collectInOneThread, limitHeapGrowth } from "../packages/node/src/platform/lifecycle/heap.ts";
import { present } from "../packages/node/src/platform/present.ts";
import { readArguments } from "../tools/arguments.ts";
import { familiesOf } from "./api/families.ts";
import { startServers } from "./api/process.ts";
import { type Livenet, loadLivenet } from "./livenet/generate.ts";
import { percentile } from "./livenet/latency.ts";
import { openPipeline } from "./pipeline.ts";

const { values } = readArguments("bench livenet", {
  options: {
    blocks: { type: "string", default: "24000000" },
    transactions: { type: "string", default: "3000000" },
    uniks: { type: "string", default: "200000" },
    wallets: { type: "string", default: "250000" },
    early: { type: "string", default: "1000000" },
    keep: { type: "boolean", default: false },
  },
});
const size = {
  blocks: Number(values.blocks),
  transactions: Number(values.transactions),
  uniks: Number(values.uniks),
  wallets: Number(values.wallets),
};
const early = Math.min(Number(values.early), size.blocks);

async function* slice(chain: Livenet, from: number, to: number): AsyncIterable<Uint8Array> {
  let index = 0;
  for await (const block of chain.blocks()) {
    if (index >= to) return;
    if (index++ >= from) yield block;
  }
}

/** Replays the blocks of a range of indexes, and prints a line for each tenth. */
async function replayRange(chain: Livenet, path: string, from: number, to: number): Promise<void> {
  const pipeline = openPipeline(path, chain, { threads: availableParallelism(), assumeValid: chain.last });
  const [startMs, cpu] = [performance.now(), process.cpuUsage()];
  let [shown, shownMs] = [0, startMs];
  const step = (to - from) / 10;
  const { accepted, refusal } = await replay(pipeline.chain, slice(chain, from, to), {
    targetHeight: chain.last.height,
    onProgress(done) {
      if (done - shown < step) return;
      const nowMs = performance.now();
      const microseconds = (1_000 * (nowMs - shownMs)) / (done - shown);
      console.log(
        `  height ${from + done}: ${microseconds.toFixed(1)} us for each block since the last line`,
      );
      [shown, shownMs] = [done, nowMs];
    },
  });
  if (accepted !== to - from)
    throw new Error(`block ${from + accepted + 2} was refused: ${JSON.stringify(refusal)}`);
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (performance.now() - startMs) / 1_000;
  console.log(
    `blocks ${from + 2} to ${to + 1}: ${Math.round(seconds)} s, ${((1e6 * seconds) / accepted).toFixed(1)} us and ${((user + system) / accepted).toFixed(1)} us of CPU time for each block`,
  );
  await pipeline.close();
  await pipeline.verifier.close();
}

/** Returns the 99th percentile of each kind of request, in ms. */
async function measureRequests({ files }: Livenet, path: string): Promise<Map<string, number>> {
  const dataset = { path, files };
  const servers = await startServers(dataset);
  const figures = new Map<string, number>();
  try {
    for (const { name, requests } of familiesOf(dataset)) {
      figures.set(name, await percentile(servers.port, requests));
    }
  } finally {
    servers.stop();
  }
  return figures;
}

collectInOneThread();
limitHeapGrowth();
const chain = await loadLivenet(size);
const folder = mkdtempSync(join(tmpdir(), "uniknode-livenet-"));
const path = join(folder, "node.sqlite");
console.log(`${size.blocks} blocks, ${size.transactions} transactions, ${size.uniks} uniks`);
await replayRange(chain, path, 0, early);
const before = await measureRequests(chain, path);
await replayRange(chain, path, early, size.blocks);
const after = await measureRequests(chain, path);
console.log(
  `database ${(statSync(path).size / 1e9).toFixed(2)} GB, peak memory ${Math.round(process.resourceUsage().maxRSS / 1_024)} MB`,
);
console.log(`\nrequest | p99 at ${early} blocks, ms | at ${size.blocks} | ratio`);
for (const [name, p99Ms] of after) {
  const earlyMs = present(before.get(name));
  console.log(`${name} | ${earlyMs.toFixed(2)} | ${p99Ms.toFixed(2)} | ${(p99Ms / earlyMs).toFixed(2)}`);
}
if (values.keep) console.log(path);
else rmSync(folder, { recursive: true, force: true });
