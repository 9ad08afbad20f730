/** CPU time of processes of this machine. */
import { readdirSync, readFileSync } from "node:fs";

const TICK_MS = 10;

type Times = { readonly parent: number; readonly ownMs: number; readonly endedMs: number };

/** Returns the CPU time of a process and of its children, including ended ones. */
export function processorMsOf(pid: number): number {
  const own = timesOf(pid);
  if (!own) return 0;
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const times = timesOf(Number(name));
      return times?.parent === pid ? [times.ownMs] : [];
    });
  return own.ownMs + own.endedMs + children.reduce((sum, ms) => sum + ms, 0);
}

/** Returns the CPU time of a process, without its children. */
export const ownProcessorMsOf = (pid: number): number => timesOf(pid)?.ownMs ?? 0;

/** Returns the CPU time of the main thread of a process. */
export const mainThreadMsOf = (pid: number): number => timesOf(pid, `task/${pid}/stat`)?.ownMs ?? 0;

function timesOf(pid: number, file = "stat"): Times | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/${file}`, "utf8");
    // The name of the program may contain spaces.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const at = (index: number) => Number(fields[index]);
    return {
      parent: at(1),
      ownMs: (at(11) + at(12)) * TICK_MS,
      endedMs: (at(13) + at(14)) * TICK_MS,
    };
  } catch {
    return undefined;
  }
}
