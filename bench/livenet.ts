/**
 * `npm run bench -- livenet [--blocks 24000000] [--transactions 3000000] [--uniks 200000] [--wallets 250000] [--early 1000000]
 * [--assume-valid] [--keep]`
 *
 * Replays a chain of the size of the live network into a new database, and verifies its signatures unless `--assume-valid` is given.
 * Then measures every kind of request with the databases of an early height and of the end: responses must not become slower with the
 * chain.
 */
import { copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { replay } from "../packages/node/src/archive/import.ts";
import { collectInOneThread, limitHeapGrowth } from "../packages/node/src/platform/lifecycle/process.ts";
import { present } from "../packages/node/src/platform/present.ts";
import { readArguments } from "../tools/arguments.ts";
import { familiesOf } from "./api/families.ts";
import { startServers } from "./api/process.ts";
import { type Livenet, loadLivenet } from "./livenet/generate.ts";
import { type Latency, latencies, warm } from "./livenet/latency.ts";
import { openPipeline } from "./pipeline.ts";

const { values } = readArguments("bench livenet", {
  options: {
    blocks: { type: "string", default: "24000000" },
    transactions: { type: "string", default: "3000000" },
    uniks: { type: "string", default: "200000" },
    wallets: { type: "string", default: "250000" },
    early: { type: "string", default: "1000000" },
    "assume-valid": { type: "boolean", default: false },
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

function* slice(chain: Livenet, from: number, to: number): Iterable<Uint8Array> {
  let index = from;
  for (const block of chain.blocks(from)) {
    if (index++ >= to) return;
    yield block;
  }
}

/** Replays the blocks of a range of indexes, and prints a line for each tenth. */
async function replayRange(chain: Livenet, path: string, from: number, to: number): Promise<void> {
  const pipeline = openPipeline(path, chain, {
    threads: availableParallelism(),
    assumeValid: values["assume-valid"] ? chain.last : undefined,
    checkpointThread: true,
  });
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

/** Measures each kind of request with both databases in turns, and prints a line for each. */
async function measureRequests({ files }: Livenet, paths: readonly string[]): Promise<void> {
  const datasets = paths.map((path) => ({ path, files }));
  const servers = await Promise.all(datasets.map((dataset) => startServers(dataset)));
  const families = datasets.map((dataset) => familiesOf(dataset, { isGrowing: true }));
  const shown = ({ medianMs, p99Ms }: Latency) => `${medianMs.toFixed(2)}, ${p99Ms.toFixed(2)}`;
  try {
    for (const [kind, { name }] of present(families[0]).entries()) {
      for (const path of paths) warm(path);
      const targets = servers.map(({ port }, index) => ({
        port,
        requests: present(families[index]?.[kind]).requests,
      }));
      const [first, late] = (await latencies(targets)) as [Latency, Latency];
      console.log(`${name} | ${shown(first)} | ${shown(late)} | ${(late.p99Ms / first.p99Ms).toFixed(2)}`);
    }
  } finally {
    for (const server of servers) server.stop();
  }
}

collectInOneThread();
limitHeapGrowth();
const chain = await loadLivenet(size);
const folder = mkdtempSync(join(tmpdir(), "uniknode-livenet-"));
const path = join(folder, "node.sqlite");
const earlyPath = join(folder, "early.sqlite");
console.log(`${size.blocks} blocks, ${size.transactions} transactions, ${size.uniks} uniks`);
await replayRange(chain, path, 0, early);
copyFileSync(path, earlyPath);
await replayRange(chain, path, early, size.blocks);
const memoryMb = Math.round(process.resourceUsage().maxRSS / 1_024);
console.log(`database ${(statSync(path).size / 1e9).toFixed(2)} GB, peak memory ${memoryMb} MB`);
console.log(`\nrequest | median and p99 at ${early} blocks, ms | at ${size.blocks} | ratio of p99`);
await measureRequests(chain, [earlyPath, path]);
if (values.keep) console.log(path);
else rmSync(folder, { recursive: true, force: true });
