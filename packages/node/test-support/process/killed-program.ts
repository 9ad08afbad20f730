/** Kills a program that reports each step, at a chosen moment. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** The program is killed some milliseconds after it has printed a number of heights. */
export type Moment = { readonly heights: number; readonly delayMs: number };

/** Heights that the program printed, and true if it finished before it was killed. */
export type Killed = { readonly heights: readonly number[]; readonly isFinished: boolean };

/** Heights that a program prints while it is to be killed: on a busy machine the kill is late, and it would finish. */
const MORE_HEIGHTS = 5;

/**
 * Runs a program that prints a height after each step, and `end` after the last one, until it ends or is killed. The program must wait
 * when it has printed UNIKNODE_TEST_HEIGHTS heights.
 *
 * @throws {Error} if it fails by itself: it would fail again and again
 */
export async function runUntilKilled(
  script: string,
  args: readonly string[],
  moment: Moment,
): Promise<Killed> {
  const child = spawn(process.execPath, [script, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, UNIKNODE_TEST_HEIGHTS: `${moment.heights + MORE_HEIGHTS}` },
  });
  const heights: number[] = [];
  let isFinished = false;
  createInterface(child.stdout).on("line", (line) => {
    if (line === "end") isFinished = true;
    else heights.push(Number(line));
    if (heights.length === moment.heights) setTimeout(() => child.kill("SIGKILL"), moment.delayMs);
  });
  const [code] = await once(child, "close");
  if (code !== null && !isFinished) throw new Error(`${script} ended with code ${code}`);
  return { heights, isFinished };
}
