/**
 * Temporarily full disk: the system refuses writes of the process beyond a file size. Linux, with `prlimit`.
 */
import { execFileSync, spawnSync } from "node:child_process";

/** Returns true if this machine can simulate a full disk. */
export const canFillDisk = (): boolean =>
  process.platform === "linux" && spawnSync("prlimit", ["--version"]).status === 0;

/** Makes every write that extends a file beyond this size fail. */
export const fillDisk = (processId: number, maxBytes: number): void => limit(processId, `${maxBytes}:`);

export const freeDisk = (processId: number): void => limit(processId, "unlimited:");

const limit = (processId: number, soft: string) =>
  void execFileSync("prlimit", ["--pid", String(processId), `--fsize=${soft}`], { stdio: "ignore" });
