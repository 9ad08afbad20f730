/**
 * The clock of a machine, as the processes see it that belong to a folder. Every thread of such a process loads this file before its own
 * code: it moves the clock by the milliseconds in a file of the folder.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SpawnOptions } from "./uniknode.ts";

const LOOK_EVERY_MS = 50;

const fileOf = (folder: string): string => join(folder, "clock");

/** Moves the clock. */
export const setClock = (folder: string, aheadMs: number): void =>
  writeFileSync(fileOf(folder), String(aheadMs));

/** Options of a process that uses this clock; `setClock` must be called before it starts. */
export const clockOptions = (
  folder: string,
): Required<Pick<SpawnOptions, "nodeArguments" | "environment">> => ({
  nodeArguments: ["--import", fileURLToPath(import.meta.url)],
  environment: { UNIKNODE_TEST_CLOCK: fileOf(folder) },
});

const file = process.env.UNIKNODE_TEST_CLOCK;
if (file !== undefined) {
  const now = Date.now;
  let aheadMs = 0;
  const look = () => {
    const text = readFileSync(file, "utf8");
    // A file that a test is writing is empty for a moment. As a 0, it would move the clock for one reading.
    if (text !== "") aheadMs = Number(text);
  };
  look();
  setInterval(look, LOOK_EVERY_MS).unref();
  Date.now = () => now() + aheadMs;
}
