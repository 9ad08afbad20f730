/**
 * Loaded before the program: makes a thread fail when a file appears in the folder of UNIKNODE_TEST_FAULTS,
 * named by the fault and the thread. The number of a thread says nothing: a busy machine starts others before it.
 */
import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isMainThread, threadId } from "node:worker_threads";
import { present } from "../../src/platform/present.ts";

const LOOK_MS = 50;
const folder = present(process.env.UNIKNODE_TEST_FAULTS);

const FAULTS: Readonly<Record<string, (content: string) => void>> = {
  throw: (content) => {
    throw new Error(content);
  },
  reject: (content) => void Promise.reject(new Error(content)),
  /** Blocks the thread until a file with the name of the content appears. */
  hang: (content) => {
    const cell = new Int32Array(new SharedArrayBuffer(4));
    while (!existsSync(join(folder, content))) Atomics.wait(cell, 0, 0, LOOK_MS);
  },
};

const THREADS = [
  [join("serving", "worker."), "serving"],
  ["signature-thread.", "verifier"],
] as const;

/** The code of a worker thread is known only after this module has run. */
function threadName(): string {
  if (isMainThread) return "consensus";
  const module = present(process.argv[1]);
  return THREADS.find(([end]) => module.includes(end))?.[1] ?? "another";
}

/** One of several threads of a name takes the file. */
function take(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  const taken = `${path}.${threadId}`;
  try {
    renameSync(path, taken);
  } catch {
    return undefined;
  }
  const content = readFileSync(taken, "utf8");
  rmSync(taken);
  return content;
}

setInterval(() => {
  for (const [name, fail] of Object.entries(FAULTS)) {
    const content = take(join(folder, `${name}-${threadName()}`));
    if (content !== undefined) fail(content);
  }
}, LOOK_MS).unref();
