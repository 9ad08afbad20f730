/**
 * `npm run bench -- replay [--empty N] [--blocks N] [--transfers N] [--threads N] [--facts] [--history] [--assume-valid] [--keep]`
 *
 * Replays a generated chain into a new database file through the node's own pipeline (verify, execute, durable
 * commit), and verifies the same signatures alone with the same threads in the same run. Prints CPU time next to
 * wall time, because it does not depend on other load of the machine.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { defaultSignatureBackend } from "@uniknode/protocol";
import { replay } from "../packages/node/src/archive/import.ts";
import type { Pin } from "../packages/node/src/chain/assumption.ts";
import type { Chain } from "../packages/node/src/chain/chain.ts";
import { receiveBlock } from "../packages/node/src/chain/pipeline/receive.ts";
import { checksOf } from "../packages/node/src/chain/pipeline/verify.ts";
import { collectInOneThread, limitHeapGrowth } from "../packages/node/src/platform/lifecycle/process.ts";
import { present } from "../packages/node/src/platform/present.ts";
import { selectBackend } from "../packages/node/src/verification/native.ts";
import type { SignatureCheck } from "../packages/node/src/verification/packed-checks.ts";
import type { Verifier } from "../packages/node/src/verification/verifier.ts";
import { readArguments } from "../tools/arguments.ts";
import { type Fixture, loadFixture } from "./fixture.ts";
import { openPipeline } from "./pipeline.ts";

const { values } = readArguments("bench replay", {
  options: {
    empty: { type: "string", default: "50000" },
    blocks: { type: "string", default: "2000" },
    transfers: { type: "string", default: "50" },
    threads: { type: "string", default: String(availableParallelism()) },
    /** Extends the tree of facts, as a node does. */
    facts: { type: "boolean", default: false },
    /** Records earlier states. */
    history: { type: "boolean", default: false },
    /** Pins the last block, so that no signature is verified. */
    "assume-valid": { type: "boolean", default: false },
    /** Keeps the database file. */
    keep: { type: "boolean", default: false },
  },
});
/** At least one: the block above the genesis block is parsed with the rules of version 1. */
const emptyBlocks = Math.max(Number(values.empty), 1);
const fullBlocks = Number(values.blocks);
const transfersPerBlock = Number(values.transfers);
const threads = Number(values.threads);

type Phase = { readonly name: string; readonly from: number; readonly to: number; readonly perBlock: number };

/** Heights by index of the generated block, each kind in quarters to show whether the cost is constant. */
const phases: Phase[] = [
  { name: "empty blocks", from: 0, to: emptyBlocks, perBlock: 0 },
  { name: "transfers", from: emptyBlocks, to: emptyBlocks + fullBlocks, perBlock: transfersPerBlock },
].filter(({ from, to }) => to > from);

/** Known in advance, as by a node that joins a network: blocks far below it get no undo records. The first generated block has height 2. */
const lastHeight = Math.max(...phases.map(({ to }) => to)) + 1;

/** The blocks of a range of indexes. */
async function* slice(fixture: Fixture, from: number, to: number): AsyncIterable<Uint8Array> {
  let index = 0;
  for await (const block of fixture.blocks()) {
    if (index >= to) return;
    if (index++ >= from) yield block;
  }
}

async function lastBlock({ network, blocks }: Fixture): Promise<Pin> {
  let last: Uint8Array | undefined;
  for await (const block of blocks()) last = block;
  const { height, id } = receiveBlock(present(last), network).header;
  return { height, id };
}

/** Wall time and `cpu`, the CPU time of all threads, in seconds. */
type Cost = { readonly clock: number; readonly cpu: number };

function startMeter(): () => Cost {
  const [clock, cpu] = [performance.now(), process.cpuUsage()];
  return () => {
    const { user, system } = process.cpuUsage(cpu);
    return { clock: (performance.now() - clock) / 1e3, cpu: (user + system) / 1e6 };
  };
}

/** Cost of verifying only the signatures of a phase. */
async function verifyAlone(fixture: Fixture, { from, to }: Phase, verifier: Verifier): Promise<Cost> {
  let [clock, cpu] = [0, 0];
  let checks: SignatureCheck[] = [];
  const run = async () => {
    const stop = startMeter();
    await verifier.verify(checks);
    const cost = stop();
    clock += cost.clock;
    cpu += cost.cpu;
    checks = [];
  };
  for await (const bytes of slice(fixture, from, to)) {
    const block = receiveBlock(bytes, fixture.network);
    checks.push(...checksOf(block, fixture.network).signatures);
    if (checks.length >= 5_000) await run();
  }
  await run();
  return { clock, cpu };
}

/** Cost of a phase, and the seconds of each of its quarters. */
async function replayPhase(
  fixture: Fixture,
  { from, to }: Phase,
  chain: Chain,
): Promise<Cost & { quarters: number[] }> {
  const quarters: number[] = [];
  const stop = startMeter();
  let start = performance.now();
  const size = to - from;
  const { accepted, refusal } = await replay(chain, slice(fixture, from, to), {
    targetHeight: lastHeight,
    onProgress: (done) => {
      while (quarters.length < 4 && done >= Math.ceil((size * (quarters.length + 1)) / 4)) {
        const now = performance.now();
        quarters.push((now - start) / 1000);
        start = now;
      }
    },
  });
  if (accepted !== size)
    throw new Error(`block ${from + accepted + 2} was refused: ${JSON.stringify(refusal)}`);
  // The tree is part of the work, even if it follows the blocks.
  while ((figures?.().lag ?? 0) > 0) await setTimeout(5);
  return { ...stop(), quarters };
}

collectInOneThread();
limitHeapGrowth();
const fixture = await loadFixture({ emptyBlocks, fullBlocks, transfersPerBlock });
const folder = mkdtempSync(join(tmpdir(), "uniknode-replay-"));
const path = join(folder, "chain.sqlite");
const { facts, history } = values;
const assumeValid = values["assume-valid"] ? await lastBlock(fixture) : undefined;
const options = { threads, facts, history, assumeValid };
const { chain, verifier, figures, close } = openPipeline(path, fixture, options);

const rate = (count: number, seconds: number) => `${Math.round(count / seconds).toLocaleString("en")}/s`;
const micros = (seconds: number, count: number) => `${((1e6 * seconds) / count).toFixed(0)} us`;
const percent = (part: number, whole: number) => `${Math.round((100 * part) / whole)} %`;

const replayed: Awaited<ReturnType<typeof replayPhase>>[] = [];
for (const phase of phases) replayed.push(await replayPhase(fixture, phase, chain));
const tree = figures?.();
const peakMb = process.resourceUsage().maxRSS / 1024;
await close();

// The threads choose it in the same way.
const { name: signatures } = threads > 0 ? await selectBackend() : defaultSignatureBackend;
console.log(`Node ${process.versions.node}, ${availableParallelism()} cores, ${threads} verifier threads`);
console.log(assumeValid ? "signatures are not verified" : `signatures by ${signatures}`);
for (const [index, phase] of phases.entries()) {
  const { name, from, to, perBlock } = phase;
  const blocks = to - from;
  const signatures = blocks * (1 + perBlock);
  const { clock, cpu, quarters } = present(replayed[index]);
  const alone = await verifyAlone(fixture, phase, verifier);
  console.log(`${name}: ${blocks} blocks, ${blocks * perBlock} transactions in ${clock.toFixed(1)} s`);
  console.log(`  ${rate(blocks, clock)} blocks, ${rate(blocks * perBlock, clock)} transactions`);
  console.log(`  by quarter: ${quarters.map((quarter) => rate(blocks / 4, quarter)).join(", ")} blocks`);
  console.log(
    `  ${signatures} signatures alone: ${alone.clock.toFixed(1)} s, ${rate(signatures, alone.clock)}`,
  );
  console.log(`  ${percent(alone.clock, clock)} of the bare signature speed by the clock`);
  console.log(`  ${percent(alone.cpu, cpu)} by processor time: ${micros(cpu, signatures)} a signature,`);
  console.log(`    of which ${micros(alone.cpu, signatures)} are its verification`);
}
console.log(`peak memory ${Math.round(peakMb)} MB, database ${Math.round(statSync(path).size / 1e6)} MB`);
if (tree) console.log(`tree of facts: ${tree.size} leaves, ${tree.lag} final blocks behind`);
await verifier.close();
if (values.keep) console.log(path);
else rmSync(folder, { recursive: true, force: true });
