/** Files that a reader never sees in part, even after a crash; the wait for the disk; and files that are read only with their checksum. */

import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { open, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { CodedError } from "../coded-error.ts";

/**
 * Replaces a small file atomically: a reader sees the old text or the new one, even after a crash.
 *
 * @param mode of the file; defaults to the mode that the process gives to new files
 */
export function writeWholeFile(path: string, text: string, mode?: number): void {
  writeFileSync(partOf(path), text, { flush: true, ...(mode !== undefined && { mode }) });
  renameSync(partOf(path), path);
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

/** Larger files are not read; every recorded file is far smaller. */
const MAX_BYTES = 4_194_304;

export type CheckedFiles = {
  has(name: string): boolean;
  /** @throws {Error} if the file is missing, unreadable, not a file, or has another checksum */
  read(name: string): Buffer;
};

/**
 * Reads files of a folder only if they have the SHA-256 that a list of checksums, such as `sha256sums`, names.
 *
 * @param list path of the checksums, in the format of `sha256sum`
 * @throws {Error} if the checksums cannot be read
 */
export function createCheckedFiles(folder: string, list = join(folder, "sha256sums")): CheckedFiles {
  const sums = new Map(
    readBounded(list)
      .toString()
      .matchAll(/^([\da-f]{64}) {2}(\S+)$/gm)
      .map(([, sum = "", name = ""]) => [name, sum]),
  );
  if (sums.size === 0) throw new Error(`${basename(list)} has no checksums`);
  return {
    has: (name) => sums.has(name),
    read(name) {
      const bytes = readBounded(join(folder, name));
      if (createHash("sha256").update(bytes).digest("hex") !== sums.get(name)) {
        throw new Error(`SHA-256 mismatch: ${name} does not match ${basename(list)}; install uniknode again`);
      }
      return bytes;
    },
  };
}

/** Does not read pipes or devices, which might never end. */
function readBounded(path: string): Buffer {
  const name = basename(path);
  const file = statSync(path);
  if (!file.isFile()) throw new Error(`${name} is not a file`);
  if (file.size > MAX_BYTES) throw new Error(`${name} has more than ${MAX_BYTES} bytes`);
  return readFileSync(path);
}
