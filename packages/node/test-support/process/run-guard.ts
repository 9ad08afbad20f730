/**
 * Ends the processes of a run of tests, and removes its temporary folder, when the run has ended or was killed: its standard input
 * ends then. A process belongs to the run if its environment, its command line or its working folder names the temporary folder.
 *
 *   node run-guard.ts FOLDER
 */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { RUN_PREFIX } from "./run-folder.ts";

/** Time in which processes can end by themselves: database servers then remove their shared memory. */
const GRACE_MS = 3_000;
const MAX_MS = 60_000;
const POLL_MS = 50;

/** Returns the text of a file or link of another process; empty if it has ended, or belongs to another user. */
function readOf(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

function processesOf(folder: string): number[] {
  const names = (pid: string): boolean =>
    [
      () => readFileSync(`/proc/${pid}/cmdline`, "utf8"),
      () => readFileSync(`/proc/${pid}/environ`, "utf8"),
      () => readlinkSync(`/proc/${pid}/cwd`),
    ].some((read) => readOf(read).includes(folder));
  const ids = process.platform === "linux" ? readdirSync("/proc").filter((name) => /^\d+$/.test(name)) : [];
  return ids.filter((pid) => pid !== `${process.pid}` && names(pid)).map(Number);
}

async function endProcesses(folder: string): Promise<void> {
  const beganMs = performance.now();
  const asked = new Set<number>();
  for (let pids = processesOf(folder); pids.length > 0; pids = processesOf(folder)) {
    const ageMs = performance.now() - beganMs;
    if (ageMs > MAX_MS) return;
    for (const pid of pids) {
      if (ageMs < GRACE_MS && asked.has(pid)) continue;
      asked.add(pid);
      try {
        // A database server ends its connections, and a node ends as after Ctrl-C.
        process.kill(pid, ageMs < GRACE_MS ? "SIGINT" : "SIGKILL");
      } catch {
        // It has just ended.
      }
    }
    await sleep(POLL_MS);
  }
}

function remove(folder: string): void {
  const mounts = readOf(() => readFileSync("/proc/self/mounts", "utf8")).split("\n");
  for (const [, mount = ""] of mounts.map((line) => line.split(" ")))
    if (mount.startsWith(`${folder}/`)) spawnSync("umount", [mount], { stdio: "ignore" });
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Removes the folders of runs whose guard was killed as well. The guard of a run names its folder before it creates it. */
function removeFormer(parent: string): void {
  for (const name of readdirSync(parent)) {
    const folder = join(parent, name);
    if (!name.startsWith(RUN_PREFIX) || processesOf(folder).length > 0) continue;
    try {
      remove(folder);
    } catch {
      // It belongs to another user.
    }
  }
}

const [folder = ""] = process.argv.slice(2);
if (!basename(folder).startsWith(RUN_PREFIX)) throw new Error(`the folder must begin with ${RUN_PREFIX}`);
removeFormer(dirname(folder));
mkdirSync(folder);
chmodSync(folder, 0o755);
process.stdout.write("ready\n");
await once(process.stdin.resume(), "end");
await endProcesses(folder);
remove(folder);
