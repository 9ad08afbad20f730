/**
 * Runs all tests. Files that fail run again, one after the other: beside each other, thousands of real nodes, browsers and
 * databases can lack the time that one of them needs. The output names them (docs/decisions/0073).
 *
 *   node tools/tests.ts FOLDER
 */
import { relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startVitest, type TestModule, type Vitest } from "vitest/node";

/** If more files fail, the reason is not chance. */
const MAX_REPEATED = 3;
/** A worker that does not end delays the next run no longer than this. */
const CLOSE_MS = 10_000;

type Result = {
  /** Paths of the files with a failure. */
  readonly failed: readonly string[];
  /** True if all tests passed, and no error occurred outside of tests. */
  readonly isOk: boolean;
  /** True if few files failed, and nothing else. */
  readonly canRepeat: boolean;
};

/** Runs the files whose path contains one of the filters, or all files. */
async function runTests(root: string, filters: string[] = []): Promise<Result> {
  const vitest = await startVitest(filters, { root, watch: false });
  const result = resultOf(vitest);
  await Promise.race([vitest.close(), sleep(CLOSE_MS)]);
  return result;
}

function resultOf({ state }: Vitest): Result {
  const modules = state.getTestModules();
  const isOk = (module: TestModule) => ["passed", "skipped"].includes(module.state());
  const failed = [...new Set(modules.filter((module) => !isOk(module)).map(({ moduleId }) => moduleId))];
  const hasOtherErrors = modules.length === 0 || state.getUnhandledErrors().length > 0;
  return {
    failed,
    isOk: failed.length === 0 && !hasOtherErrors,
    canRepeat: failed.length <= MAX_REPEATED && !hasOtherErrors,
  };
}

/** Returns whether all tests passed, some of them perhaps alone. */
async function runAll(root: string): Promise<boolean> {
  const { failed, isOk, canRepeat } = await runTests(root);
  if (isOk || !canRepeat) return isOk;
  const names = (paths: readonly string[]) => paths.map((path) => `\n  ${relative(root, path)}`).join("");
  console.log(`\nThese files failed, and run again alone:${names(failed)}`);
  const failedAgain: string[] = [];
  for (const path of failed) {
    if (!(await runTests(root, [path])).isOk) failedAgain.push(path);
  }
  const passed = failed.filter((path) => !failedAgain.includes(path));
  if (passed.length > 0)
    console.log(
      `\nThese files failed beside others, and passed alone. Look for the reason above:${names(passed)}`,
    );
  if (failedAgain.length > 0) console.log(`\nThese files failed again alone:${names(failedAgain)}`);
  return failedAgain.length === 0;
}

const [root = process.cwd()] = process.argv.slice(2);
// A test that leaves a timer or a socket behind does not keep the process.
process.exit((await runAll(root)) ? 0 : 1);
