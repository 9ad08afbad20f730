/**
 * Kills a process that catches up with a chain, again and again. After each kill, no committed block may be lost, and every block and
 * transaction must be found by its id.
 *
 * As a program, it is that process: it prints the height after each commit, and `end` after the last block.
 *
 *   node catch-up.ts PATH
 */
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { blockFromTrustedBytes } from "@uniknode/protocol";
import { type Fixture, loadFixture } from "../../bench/fixture.ts";
import { openPipeline } from "../../bench/pipeline.ts";
import { replay } from "../../packages/node/src/archive/import.ts";
import { inspectDatabase } from "../../packages/node/src/archive/integrity/damage.ts";
import type { Pin } from "../../packages/node/src/chain/assumption.ts";
import { present } from "../../packages/node/src/platform/present.ts";
import { openReader } from "../../packages/node/src/store/engine/migrations.ts";
import type { Figures, Run, Scenario } from "../../packages/node/test-support/faults/scenario.ts";
import { runUntilKilled } from "../../packages/node/test-support/process/killed-program.ts";

/** Ids of the chain fill the first levels of their indexes, and reach the last one. */
const SIZE = { emptyBlocks: 50_000, fullBlocks: 500, transfersPerBlock: 60 };
/** Commits between the start of a process and its kill. */
const MAX_COMMITS = 40;
/** The kill hits any instruction between two commits. */
const MAX_DELAY_MS = 30;
const INSPECTION_MS = 2_000;

export const scenario: Scenario = {
  description: "a process that replays 50,500 blocks is killed, and must find every block and transaction",
  minutes: 1,
  faultNames: [],
  run: runCatchUp,
};

/** @throws {AssertionError} naming what was lost, with the number of the kill */
async function runCatchUp({ random, folder, seconds, log }: Run): Promise<Figures> {
  const { fixture, last } = await loadChain();
  const endMs = performance.now() + seconds * 1_000;
  let kills = 0;
  for (let chain = 1; performance.now() < endMs; chain++) {
    const path = join(folder, `${chain}.sqlite`);
    for (let isComplete = false; !isComplete && performance.now() < endMs; kills++) {
      const moment = { heights: random.integer(1, MAX_COMMITS), delayMs: random.below(MAX_DELAY_MS) };
      const { heights, isFinished } = await runUntilKilled(import.meta.filename, [path], moment);
      const height = heights.at(-1) ?? 0;
      isComplete = isFinished;
      const kill = `kill ${kills + 1}`;
      const { damage } = inspectDatabase(path, {
        blocks: { network: fixture.network, forMs: INSPECTION_MS },
      });
      assert.equal(damage, undefined, `${kill}: ${damage}`);
      const head = headOf(path);
      assert(head >= height, `${kill}: block ${height} was committed, the head is ${head}`);
      log(`${kill}: ${isFinished ? "caught up" : `at height ${height}`}`);
    }
    if (headOf(path) === last.height) checkTotals(path);
    rmSync(path, { force: true });
  }
  return { kills };
}

async function loadChain(): Promise<{ readonly fixture: Fixture; readonly last: Pin }> {
  const fixture = await loadFixture(SIZE);
  let bytes: Uint8Array | undefined;
  for await (const block of fixture.blocks()) bytes = block;
  const { height, id } = blockFromTrustedBytes(present(bytes, "the last block"), fixture.network).header;
  return { fixture, last: { height, id } };
}

const headOf = (path: string): number => count(path, "SELECT max(height) AS n FROM blocks");

/** Entries of each index: those of removed or repeated blocks would be superfluous. */
function checkTotals(path: string): void {
  const full = count(path, "SELECT count(*) AS n FROM blocks WHERE typeof(id) = 'blob'");
  assert.equal(count(path, "SELECT count(*) AS n FROM block_ids"), full);
  const transfers = SIZE.fullBlocks * SIZE.transfersPerBlock;
  const others = count(path, "SELECT count(*) AS n FROM transactions WHERE height = 1");
  assert.equal(count(path, "SELECT count(*) AS n FROM transaction_ids"), transfers + others);
  for (const level of [0, 1, 2])
    assert.notEqual(count(path, `SELECT count(*) AS n FROM block_ids WHERE level = ${level}`), 0);
}

function count(path: string, sql: string): number {
  const database = openReader(path);
  try {
    return database.prepare<{ n: number }>(sql).get()?.n ?? 0;
  } finally {
    database.close();
  }
}

async function catchUp(path: string): Promise<void> {
  const { fixture, last } = await loadChain();
  const pipeline = openPipeline(path, fixture, { threads: 1, assumeValid: last });
  const { height } = pipeline.chain.head();
  console.log(height);
  async function* blocksAbove(from: number): AsyncIterable<Uint8Array> {
    let next = 2;
    for await (const block of fixture.blocks()) if (next++ > from) yield block;
  }
  const { refusal } = await replay(pipeline.chain, blocksAbove(height), {
    targetHeight: last.height,
    onProgress: (accepted) => console.log(height + accepted),
  });
  if (refusal) throw new Error(`a block was refused: ${refusal.kind}`);
  await pipeline.close();
  await pipeline.verifier.close();
  console.log("end");
}

if (import.meta.main) await catchUp(present(process.argv[2], "the path of the database"));
