/** Memory and sockets of processes of this machine. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** Returns the resident memory of a process, now or at most so far. */
export function memoryMbOf(pid: number, figure: "VmRSS" | "VmHWM" = "VmRSS"): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(new RegExp(`${figure}:\\s+(\\d+)`).exec(status)?.[1]) / 1_024);
}

/** Returns the number of open sockets of a process. */
export const socketsOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/fd`).filter((descriptor) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${descriptor}`).startsWith("socket:");
    } catch {
      // Closed meanwhile.
      return false;
    }
  }).length;
