/** Reads files of a folder only if their SHA-256 is the one in the folder's `sha256sums`. */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const SUMS = "sha256sums";
/** Larger files are not read; every recorded file is far smaller. */
const MAX_BYTES = 4_194_304;

export type CheckedFiles = {
  has(name: string): boolean;
  /** @throws {Error} if the file is missing, unreadable, not a file, or has another checksum */
  read(name: string): Buffer;
};

/** @throws {Error} if the checksums cannot be read */
export function createCheckedFiles(folder: string): CheckedFiles {
  const sums = new Map(
    readBounded(folder, SUMS)
      .toString()
      .matchAll(/^([\da-f]{64}) {2}(\S+)$/gm)
      .map(([, sum, name]) => [name!, sum!]),
  );
  if (sums.size === 0) throw new Error(`${SUMS} has no checksums`);
  return {
    has: (name) => sums.has(name),
    read(name) {
      const bytes = readBounded(folder, name);
      if (createHash("sha256").update(bytes).digest("hex") !== sums.get(name)) {
        throw new Error(`SHA-256 mismatch: ${name} does not match ${SUMS}; install uniknode again`);
      }
      return bytes;
    },
  };
}

/** Does not read pipes or devices, which might never end. */
function readBounded(folder: string, name: string): Buffer {
  const path = join(folder, name);
  const file = statSync(path);
  if (!file.isFile()) throw new Error(`${name} is not a file`);
  if (file.size > MAX_BYTES) throw new Error(`${name} has more than ${MAX_BYTES} bytes`);
  return readFileSync(path);
}
