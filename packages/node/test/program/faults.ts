/**
 * Loaded before the program: makes a thread fail when a file appears in the folder of UNIKNODE_TEST_FAULTS,
 * named by the fault and the number of the thread: 0 is consensus, 1 serves, the next ones verify.
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { threadId } from "node:worker_threads";
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

setInterval(() => {
  for (const [name, fail] of Object.entries(FAULTS)) {
    const path = join(folder, `${name}-${threadId}`);
    if (!existsSync(path)) continue;
    const content = readFileSync(path, "utf8");
    rmSync(path);
    fail(content);
  }
}, LOOK_MS).unref();
