/** Free space of the disk that a folder is on. */
import { statfs } from "node:fs/promises";

export type DiskSpace = {
  /** Bytes that this process can still write, as of a while ago; undefined while that is not known. */
  freeBytes(): number | undefined;
  close(): void;
};

const EVERY_MS = 10_000;

/** Looks from time to time, and waits for no disk that hangs. */
export function measureDiskSpace(folder: string): DiskSpace {
  let freeBytes: number | undefined;
  let isLooking = false;

  async function look(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    freeBytes = await statfs(folder).then(
      ({ bavail, bsize }) => bavail * bsize,
      () => undefined,
    );
    isLooking = false;
  }

  void look();
  const timer = setInterval(look, EVERY_MS).unref();
  return { freeBytes: () => freeBytes, close: () => clearInterval(timer) };
}
