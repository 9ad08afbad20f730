/** A file system in memory that a test can fill. */
import { execFileSync } from "node:child_process";
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { serverPlace } from "./process.ts";

export type SmallDisk = {
  readonly path: string;
  /** Leaves no space free, and returns a function that frees it again. */
  fill(): () => void;
  remove(): void;
};

const CHUNK = Buffer.alloc(64 * 1024);

/** Returns undefined if this process may not mount file systems. */
export function mountSmallDisk(megabytes: number): SmallDisk | undefined {
  const path = mkdtempSync(join(serverPlace(), "uniknode-disk-"));
  chmodSync(path, 0o755);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=0755`, "tmpfs", path], {
      stdio: "ignore",
    });
  } catch {
    rmSync(path, { recursive: true });
    return undefined;
  }
  return {
    path,
    fill() {
      const file = join(path, "filler");
      const fd = openSync(file, "w");
      try {
        // Ends with ENOSPC; the last writes use what is left of a page.
        for (;;) if (writeSync(fd, CHUNK) < CHUNK.length) break;
      } catch {
        // The disk is full.
      }
      closeSync(fd);
      return () => rmSync(file);
    },
    remove() {
      execFileSync("umount", [path]);
      rmSync(path, { recursive: true });
    },
  };
}
