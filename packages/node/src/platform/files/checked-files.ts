/** Files that are read only if they have the SHA-256 of a list of checksums. */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";

/** Larger files are not read; every recorded file is far smaller. */
const MAX_BYTES = 4_194_304;

/** Reads files of a folder only if they have the SHA-256 that a list of checksums, such as `sha256sums`, names. */
export class CheckedFiles {
  readonly #folder: string;
  readonly #list: string;
  readonly #sums: ReadonlyMap<string, string>;

  /**
   * @param list path of the checksums, in the format of `sha256sum`
   * @throws {Error} if the checksums cannot be read
   */
  constructor(folder: string, list = join(folder, "sha256sums")) {
    this.#folder = folder;
    this.#list = basename(list);
    this.#sums = new Map(
      readBounded(list)
        .toString()
        .matchAll(/^([\da-f]{64}) {2}(\S+)$/gm)
        .map(([, sum = "", name = ""]) => [name, sum]),
    );
    if (this.#sums.size === 0) throw new Error(`${this.#list} has no checksums`);
  }

  has(name: string): boolean {
    return this.#sums.has(name);
  }

  /** @throws {Error} if the file is missing, unreadable, not a file, or has another checksum */
  read(name: string): Buffer {
    const bytes = readBounded(join(this.#folder, name));
    if (createHash("sha256").update(bytes).digest("hex") !== this.#sums.get(name)) {
      throw new Error(`SHA-256 mismatch: ${name} does not match ${this.#list}; install uniknode again`);
    }
    return bytes;
  }
}

/** Does not read pipes or devices, which might never end. */
function readBounded(path: string): Buffer {
  const name = basename(path);
  const file = statSync(path);
  if (!file.isFile()) throw new Error(`${name} is not a file`);
  if (file.size > MAX_BYTES) throw new Error(`${name} has more than ${MAX_BYTES} bytes`);
  return readFileSync(path);
}
