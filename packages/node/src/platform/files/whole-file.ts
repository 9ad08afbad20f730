/** Files that a reader never sees in part, even after a crash; and the wait for the disk. */

import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { CodedError } from "../coded-error.ts";

/**
 * Replaces a small file atomically: a reader sees the old text or the new one, even after a crash, and the new one once
 * this function has returned.
 *
 * @param mode of the file; defaults to the mode that the process gives to new files
 */
export function writeWholeFile(path: string, text: string, mode?: number): void {
  writeFileSync(partOf(path), text, { flush: true, ...(mode !== undefined && { mode }) });
  renameSync(partOf(path), path);
  // Without it, the loss of power could bring back the old text after the caller relied on the new one.
  flushToDisk(dirname(path));
}

/**
 * Creates a file, which appears when it is complete. A killed process leaves a part beside it, which the next call replaces.
 *
 * @throws {CodedError} EEXIST, when the file exists or another process creates it
 */
export async function writeNewFile(
  path: string,
  chunks: Iterable<string> | AsyncIterable<Uint8Array>,
): Promise<void> {
  if (existsSync(path)) throw exists(path);
  const part = partOf(path);
  // A process that still writes the old part does not write to this one.
  rmSync(part, { force: true });
  const handle = await open(part, "wx");
  const { ino } = await handle.stat();
  const isOwn = async () => (await stat(part).catch(() => undefined))?.ino === ino;
  try {
    await pipeline(chunks, handle.createWriteStream({ flush: true }));
    if (existsSync(path) || !(await isOwn())) throw exists(path);
    renameSync(part, path);
    flushToDisk(dirname(path));
  } catch (error) {
    if (await isOwn()) rmSync(part, { force: true });
    throw error;
  }
}

const partOf = (path: string): string => `${path}.part`;

const exists = (path: string) => new CodedError("EEXIST", `${path} already exists`, { isRetryable: false });

/** Returns when a file or the entries of a folder survive the loss of power. */
export function flushToDisk(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
