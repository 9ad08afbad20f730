/** Waits for the disk. */
import { closeSync, fsyncSync, openSync } from "node:fs";

/** Returns when a file or the entries of a folder survive the loss of power. */
export function flushToDisk(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
