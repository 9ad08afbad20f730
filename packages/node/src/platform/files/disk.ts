/** State of a disk: its free space, and why it refused a write. */
import { statfsSync } from "node:fs";
import { statfs } from "node:fs/promises";

/** Pause before the parts of a node write again to a disk that refused. */
export const WRITE_RETRY_MS = 2_000;

export type Trouble = "disk full" | "disk cannot be written";

const FULL: ReadonlySet<string> = new Set(["SQLITE_FULL", "ENOSPC", "EDQUOT"]);
const UNWRITABLE = /^(SQLITE_IOERR|SQLITE_READONLY|EIO$|EROFS$|EFBIG$)/;

/** Returns the trouble with the disk that caused an error, directly or indirectly; undefined for other errors. */
export function troubleOf(error: unknown): Trouble | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code = "" } = cause as { code?: unknown };
    if (typeof code !== "string") continue;
    if (FULL.has(code)) return "disk full";
    if (UNWRITABLE.test(code)) return "disk cannot be written";
  }
  return undefined;
}

/** Returns `disk full at PATH, 0 bytes free`; without the number if it is unknown. */
export function describeTrouble(trouble: Trouble, folder: string): string {
  const freeBytes = freeBytesOf(folder);
  return `${trouble === "disk full" ? trouble : "the disk is not writable"} at ${folder}${freeBytes === undefined ? "" : `, ${freeBytes.toLocaleString("en")} bytes free`}`;
}

function freeBytesOf(folder: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

const MEASURE_INTERVAL_MS = 10_000;

/** Free space of the disk that a folder is on. Measures periodically, and never waits for a disk that hangs. */
export class DiskSpace {
  readonly #folder: string;
  readonly #timer: NodeJS.Timeout;
  #freeBytes: number | undefined;
  #isMeasuring = false;

  constructor(folder: string) {
    this.#folder = folder;
    void this.#measure();
    this.#timer = setInterval(() => void this.#measure(), MEASURE_INTERVAL_MS).unref();
  }

  /** Returns the free bytes for this process at the last measurement; undefined while unknown. */
  freeBytes(): number | undefined {
    return this.#freeBytes;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #measure(): Promise<void> {
    if (this.#isMeasuring) return;
    this.#isMeasuring = true;
    this.#freeBytes = await statfs(this.#folder).then(
      ({ bavail, bsize }) => bavail * bsize,
      () => undefined,
    );
    this.#isMeasuring = false;
  }
}
