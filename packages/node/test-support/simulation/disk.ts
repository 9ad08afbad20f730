/** A disk that is full for a while: the system lets the process write no file beyond a size. Linux, with `prlimit`. */
import { execFileSync, spawnSync } from "node:child_process";

/** Returns true if this machine can fill a disk. */
export const canFillDisk = (): boolean =>
  process.platform === "linux" && spawnSync("prlimit", ["--version"]).status === 0;

/** From now on a write that makes a file longer than this fails. */
export const fillDisk = (processId: number, maxBytes: number): void => limit(processId, `${maxBytes}:`);

export const freeDisk = (processId: number): void => limit(processId, "unlimited:");

const limit = (processId: number, soft: string) =>
  void execFileSync("prlimit", ["--pid", String(processId), `--fsize=${soft}`], { stdio: "ignore" });
