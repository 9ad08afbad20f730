/**
 * `npm run bench -- switch [--depth N] [--transfers N]`
 *
 * Switches from the top blocks of a generated chain to a longer branch (decision 10). Prints the time to verify the
 * branch, concurrently with other work, and the length of the tick that blocks all other work.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { collectInOneThread, limitHeapGrowth } from "../packages/node/src/platform/lifecycle/process.ts";
import { readArguments } from "../tools/arguments.ts";
import { loadFixture } from "./fixture.ts";
import { openPipeline } from "./pipeline.ts";

const { values } = readArguments("bench switch", {
  options: { depth: { type: "string", default: "5000" }, transfers: { type: "string", default: "0" } },
});
const depth = Number(values.depth);
const transfersPerBlock = Number(values.transfers);

collectInOneThread();
limitHeapGrowth();
const isEmpty = transfersPerBlock === 0;
const fixture = await loadFixture({
  emptyBlocks: isEmpty ? depth + 10 : 10,
  fullBlocks: isEmpty ? 0 : depth,
  transfersPerBlock,
});
const folder = mkdtempSync(join(tmpdir(), "uniknode-switch-"));
const { chain, verifier, close } = openPipeline(join(folder, "chain.sqlite"), fixture, { threads: 2 });
const blocks: Uint8Array[] = [];
for await (const block of fixture.blocks()) blocks.push(block);
await chain.accept(blocks.slice(0, -1));
const { height } = chain.head();
// The branch begins with the same blocks, because there is only one chain.
const branch = blocks.slice(-depth);
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const start = performance.now();
const outcomes = await chain.switchTo(height - depth + 1, branch);
const seconds = (performance.now() - start) / 1000;
await new Promise((resolve) => setTimeout(resolve, 10));
delay.disable();
if (outcomes.at(-1)?.kind !== "Accepted") throw new Error(`refused: ${JSON.stringify(outcomes.at(-1))}`);

console.log(
  `${depth - 1} blocks left for ${depth} of ${transfersPerBlock} transfers in ${seconds.toFixed(2)} s,`,
);
console.log(`  event loop blocked for ${(delay.max / 1e9).toFixed(2)} s`);
console.log(`peak memory ${Math.round(process.resourceUsage().maxRSS / 1024)} MB`);
await close();
await verifier.close();
rmSync(folder, { recursive: true, force: true });
