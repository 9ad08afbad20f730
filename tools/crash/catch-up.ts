/**
 * Kills a process that catches up with a chain, at seeded random moments, until it has caught up; then begins anew. Checks after
 * each kill that no committed block is lost, and that every block and transaction is found by its id.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Network } from "@uniknode/protocol";
import { inspectDatabase } from "../../packages/node/src/archive/integrity/damage.ts";
import { openReader } from "../../packages/node/src/store/engine/migrations.ts";
import { createRandom } from "../../packages/node/test-support/crash/random.ts";
import { loadCatchUp, TRANSACTIONS } from "./catch-up-chain.ts";

type CatchUpRun = { readonly kills: number; readonly seed: number; readonly log: (line: string) => void };

/** Commits between the start of a process and its kill. */
const MAX_COMMITS = 40;
/** The kill hits any instruction between two commits. */
const MAX_DELAY_MS = 30;
const INSPECTION_MS = 2_000;

/** @throws {AssertionError} naming what was lost, with the number of the kill */
export async function runCatchUpKills({ kills, seed, log }: CatchUpRun): Promise<void> {
  const random = createRandom(seed);
  const { fixture, last } = await loadCatchUp();
  const folder = mkdtempSync(join(tmpdir(), "uniknode-crash-"));
  try {
    for (let kill = 1, chain = 1; kill <= kills; chain++) {
      const path = join(folder, `${chain}.sqlite`);
      for (let isComplete = false; !isComplete && kill <= kills; kill++) {
        const moment = { commits: 1 + Math.floor(random() * MAX_COMMITS), delayMs: random() * MAX_DELAY_MS };
        const { height, isFinished } = await runUntilKilled(path, moment);
        isComplete = isFinished;
        check(path, fixture.network, { kill, height });
        log(`kill ${kill}: ${isFinished ? "caught up" : `at height ${height}`}`);
      }
      if (headOf(path) === last.height) checkTotals(path);
      rmSync(path, { force: true });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns the last height that the process printed. */
async function runUntilKilled(
  path: string,
  { commits, delayMs }: { readonly commits: number; readonly delayMs: number },
): Promise<{ readonly height: number; readonly isFinished: boolean }> {
  const script = join(import.meta.dirname, "catching-up.ts");
  const child = spawn(process.execPath, [script, path], { stdio: ["ignore", "pipe", "inherit"] });
  let [height, lines, isFinished] = [0, 0, false];
  createInterface(child.stdout).on("line", (line) => {
    if (line === "end") isFinished = true;
    else height = Number(line);
    if (++lines === commits) setTimeout(() => child.kill("SIGKILL"), delayMs);
  });
  const [code] = await once(child, "close");
  assert(code === null || isFinished, "the process that catches up failed");
  return { height, isFinished };
}

function check(
  path: string,
  network: Network,
  run: { readonly kill: number; readonly height: number },
): void {
  const { damage } = inspectDatabase(path, { blocks: { network, forMs: INSPECTION_MS } });
  assert.equal(damage, undefined, `kill ${run.kill}: ${damage}`);
  const head = headOf(path);
  assert(head >= run.height, `kill ${run.kill}: block ${run.height} was committed, the head is ${head}`);
}

const headOf = (path: string): number => count(path, "SELECT max(height) AS n FROM blocks");

/** Entries of each index: those of removed or repeated blocks would be superfluous. */
function checkTotals(path: string): void {
  const full = count(path, "SELECT count(*) AS n FROM blocks WHERE typeof(id) = 'blob'");
  assert.equal(count(path, "SELECT count(*) AS n FROM block_ids"), full);
  const others = "SELECT count(*) AS n FROM transactions WHERE height = 1";
  assert.equal(count(path, "SELECT count(*) AS n FROM transaction_ids"), TRANSACTIONS + count(path, others));
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
