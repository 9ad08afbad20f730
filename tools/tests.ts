/**
 * Runs the tests of a lane, or all. The last lines name the failed ones, and count all.
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

/** Returns the last lines of the run: a line for each test or file that failed, with its first error, and the counts. */
function summarize({ state }: Vitest, lane = "all"): string[] {
  const counts: Record<string, number> = { passed: 0, failed: 0, skipped: 0 };
  const failures: string[] = [];
  const note = (name: string, [error]: readonly { message: string }[] = []) =>
    failures.push(`failed: ${name}: ${error?.message.split("\n", 1)[0] ?? "no error is known"}`);
  for (const module of state.getTestModules()) {
    if (module.errors().length > 0) note(module.relativeModuleId, module.errors());
    for (const test of module.children.allTests()) {
      const { state: result, errors } = test.result();
      counts[result] = (counts[result] ?? 0) + 1;
      if (result === "failed") note(`${module.relativeModuleId} > ${test.fullName}`, errors);
    }
  }
  for (const error of state.getUnhandledErrors()) note("outside of tests", [error as { message: string }]);
  const texts = Object.entries(counts).map(([result, count]) => `${count} ${result}`);
  return [...failures, `${lane} tests: ${texts.join(", ")}`];
}

const [root = process.cwd(), lane] = process.argv.slice(2);
const project = lane === undefined ? {} : { project: [`${lane} *`] };
const vitest = await startVitest([], { root, watch: false, ...project });
const isOk = hasPassed(vitest);
const summary = summarize(vitest, lane);
await Promise.race([vitest.close(), sleep(CLOSE_MS)]);
console.log(`\n${summary.join("\n")}`);
// A test that leaves a timer or a socket behind does not keep the process.
process.exit(isOk ? 0 : 1);
