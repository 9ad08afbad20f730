/**
 * Runs the tests of a lane, or all; the last line counts them. Files that fail run again, one after the other: beside each other, thousands
 * of real nodes, browsers and databases can lack the time that one of them needs. The output names them (docs/decisions/0073).
 *
 *   node tools/tests.ts FOLDER [fast|long]
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
  /** Numbers of tests by their state. */
  readonly counts: Readonly<Record<string, number>>;
};

/** Folder with the tests, and the lane with which the names of its projects begin; undefined: all. */
type Selection = { readonly root: string; readonly lane: string | undefined };

/** Runs the files of a lane whose path contains one of the filters, or all files. */
async function runTests({ root, lane }: Selection, filters: string[] = []): Promise<Result> {
  const project = lane === undefined ? {} : { project: [`${lane} *`] };
  const vitest = await startVitest(filters, { root, watch: false, ...project });
  const result = resultOf(vitest);
  await Promise.race([vitest.close(), sleep(CLOSE_MS)]);
  return result;
}

function resultOf({ state }: Vitest): Result {
  const modules = state.getTestModules();
  const isOk = (module: TestModule) => ["passed", "skipped"].includes(module.state());
  const failed = [...new Set(modules.filter((module) => !isOk(module)).map(({ moduleId }) => moduleId))];
  const counts: Record<string, number> = { passed: 0, failed: 0, skipped: 0 };
  for (const module of modules)
    for (const test of module.children.allTests())
      counts[test.result().state] = (counts[test.result().state] ?? 0) + 1;
  const hasOtherErrors = modules.length === 0 || state.getUnhandledErrors().length > 0;
  return {
    failed,
    isOk: failed.length === 0 && !hasOtherErrors,
    canRepeat: failed.length <= MAX_REPEATED && !hasOtherErrors,
    counts,
  };
}

/** Returns whether all tests passed, some of them perhaps alone. */
async function runAll(selection: Selection): Promise<boolean> {
  const { failed, isOk, canRepeat, counts } = await runTests(selection);
  const hasPassed = isOk || (canRepeat && (await repeat(selection, failed)));
  const texts = Object.entries(counts).map(([state, count]) => `${count} ${state}`);
  console.log(`\n${selection.lane ?? "all"} tests: ${texts.join(", ")}${isOk ? "" : " in the first run"}`);
  return hasPassed;
}

/** Runs failed files again; returns whether all of them passed. */
async function repeat(selection: Selection, failed: readonly string[]): Promise<boolean> {
  const names = (paths: readonly string[]) =>
    paths.map((path) => `\n  ${relative(selection.root, path)}`).join("");
  console.log(`\nThese files failed, and run again alone:${names(failed)}`);
  const failedAgain: string[] = [];
  for (const path of failed) {
    if (!(await runTests(selection, [path])).isOk) failedAgain.push(path);
  }
  const passed = failed.filter((path) => !failedAgain.includes(path));
  if (passed.length > 0)
    console.log(
      `\nThese files failed beside others, and passed alone. Look for the reason above:${names(passed)}`,
    );
  if (failedAgain.length > 0) console.log(`\nThese files failed again alone:${names(failedAgain)}`);
  return failedAgain.length === 0;
}

const [root = process.cwd(), lane] = process.argv.slice(2);
// A test that leaves a timer or a socket behind does not keep the process.
process.exit((await runAll({ root, lane })) ? 0 : 1);
