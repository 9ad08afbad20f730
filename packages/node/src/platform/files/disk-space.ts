/** Free space of the disk that a folder is on. */
import { statfs } from "node:fs/promises";

export type DiskSpace = {
  /** Free bytes for this process at the last measurement; undefined while unknown. */
  freeBytes(): number | undefined;
  close(): void;
};

const INTERVAL_MS = 10_000;

/** Measures periodically, and never waits for a disk that hangs. */
export function measureDiskSpace(folder: string): DiskSpace {
  let freeBytes: number | undefined;
  let isMeasuring = false;

  async function measure(): Promise<void> {
    if (isMeasuring) return;
    isMeasuring = true;
    freeBytes = await statfs(folder).then(
      ({ bavail, bsize }) => bavail * bsize,
      () => undefined,
    );
    isMeasuring = false;
  }

  void measure();
  const timer = setInterval(measure, INTERVAL_MS).unref();
  return { freeBytes: () => freeBytes, close: () => clearInterval(timer) };
}
