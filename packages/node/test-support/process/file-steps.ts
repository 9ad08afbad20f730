/**
 * Ends work before a chosen step on the file system. As a module for `--import`, it kills the process before the step with the number
 * UNIKNODE_TEST_KILL_AT on paths that begin with UNIKNODE_TEST_KILL_IN, or sends it the signal UNIKNODE_TEST_SIGNAL.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const STEPS = [
  ...(["mkdirSync", "openSync", "writeFileSync", "copyFileSync", "createWriteStream"] as const),
  ...(["renameSync", "chmodSync", "rmSync", "rmdirSync"] as const),
];

/** Calls a function with the path before each step. @returns a function that ends this */
function beforeSteps(onStep: (path: unknown) => void): () => void {
  const originals = STEPS.map((name) => [name, fs[name]] as const);
  for (const [name, original] of originals) {
    Object.assign(fs, {
      [name](...args: never[]) {
        onStep(args[0]);
        return Reflect.apply(original, fs, args);
      },
    });
  }
  syncBuiltinESMExports();
  return () => {
    for (const [name, original] of originals) Object.assign(fs, { [name]: original });
    syncBuiltinESMExports();
  };
}

/**
 * Lets work do a number of steps. All further steps fail, even those of a cleanup, as after a kill.
 *
 * @returns true if the work was stopped
 */
export async function isStoppedAfter(steps: number, work: () => unknown): Promise<boolean> {
  let done = 0;
  const end = beforeSteps(() => {
    if (done++ >= steps) throw new Error("stopped by the test");
  });
  try {
    await work();
  } catch (error) {
    if (done <= steps) throw error;
  } finally {
    end();
  }
  return done > steps;
}

const {
  UNIKNODE_TEST_KILL_AT,
  UNIKNODE_TEST_KILL_IN: folder,
  UNIKNODE_TEST_SIGNAL: signal = "SIGKILL",
} = process.env;
if (folder !== undefined) {
  let left = Number(UNIKNODE_TEST_KILL_AT);
  beforeSteps((path) => {
    if (String(path).startsWith(folder)) left -= 1;
    if (left === 0) process.kill(process.pid, signal);
  });
}
