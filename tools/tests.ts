/**
 * Runs the tests of a lane, or all; the last line counts them.
 *
 *   node tools/tests.ts FOLDER [fast|long]
 */
import { setTimeout as sleep } from "node:timers/promises";
import { startVitest, type Vitest } from "vitest/node";

/** A worker that does not end delays the end of the run no longer than this. */
const CLOSE_MS = 10_000;

/** Returns whether tests ran, all of them passed, and no error occurred outside of tests. */
function hasPassed({ state }: Vitest): boolean {
  const modules = state.getTestModules();
  const failed = modules.filter((module) => !["passed", "skipped"].includes(module.state()));
  return modules.length > 0 && failed.length === 0 && state.getUnhandledErrors().length === 0;
}

/** Returns the numbers of tests by their state. */
function countTests({ state }: Vitest): Record<string, number> {
  const counts: Record<string, number> = { passed: 0, failed: 0, skipped: 0 };
  for (const module of state.getTestModules())
    for (const test of module.children.allTests())
      counts[test.result().state] = (counts[test.result().state] ?? 0) + 1;
  return counts;
}

const [root = process.cwd(), lane] = process.argv.slice(2);
const project = lane === undefined ? {} : { project: [`${lane} *`] };
const vitest = await startVitest([], { root, watch: false, ...project });
const isOk = hasPassed(vitest);
const texts = Object.entries(countTests(vitest)).map(([state, count]) => `${count} ${state}`);
await Promise.race([vitest.close(), sleep(CLOSE_MS)]);
console.log(`\n${lane ?? "all"} tests: ${texts.join(", ")}`);
// A test that leaves a timer or a socket behind does not keep the process.
process.exit(isOk ? 0 : 1);
