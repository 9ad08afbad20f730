/** Measures a node of a version from outside: start, idle, memory. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { present } from "../../packages/node/src/platform/present.ts";
import type { Tree } from "../trees.ts";

/** Figures of one measurement by name; the unit is in the name. */
export type Figures = Readonly<Record<string, number>>;

/** Clock ticks per second of the kernel. */
const TICKS_PER_SECOND = 100;
/** A node releases the memory of its start after 15 to 25 s, in one garbage collection. */
const WARM_UP_MS = 30_000;
const IDLE_MS = 30_000;

type Started = { readonly child: ChildProcess; readonly url: string; stop(): Promise<void> };

/** Starts a dev chain in a folder; settles when it prints its address. */
export async function startDevChain(
  { runtime, folder }: Tree,
  data: string,
  options: readonly string[] = [],
): Promise<Started> {
  const program = join(folder, "packages/node/bin/uniknode.js");
  const all = ["dev", "--data", data, "--http-port", "0", "--log-level", "warn", ...options];
  const child = spawn(runtime, [program, ...all], { stdio: ["ignore", "pipe", "inherit"] });
  const stop = async () => {
    if (child.exitCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  };
  for await (const line of createInterface(child.stdout)) {
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
    if (url === undefined) continue;
    child.stdout.resume();
    return { child, url, stop };
  }
  throw new Error("the node ended before it had an address");
}

/** CPU time of all threads of a process so far, in seconds. */
export function processorSeconds(pid: number): number {
  const [, fields] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const [user, system] = present(fields).split(" ").slice(11, 13).map(Number);
  return (present(user) + present(system)) / TICKS_PER_SECOND;
}

const pssMb = (pid: number): number =>
  Number(present(/^Pss: +(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8")))[1]) / 1024;

/** Time from the second start of a chain to its first response. */
export async function measureStart(tree: Tree): Promise<Figures> {
  const data = mkdtempSync(join(tmpdir(), "uniknode-compare-data-"));
  try {
    await (await startDevChain(tree, data)).stop();
    const began = performance.now();
    const { child, url, stop } = await startDevChain(tree, data);
    await (await fetch(`${url}/api/v2/blockchain`)).arrayBuffer();
    const figures = {
      "first response, ms": performance.now() - began,
      "first response, ms of CPU time": processorSeconds(present(child.pid)) * 1_000,
    };
    await stop();
    return figures;
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

/** Measures a forging dev chain without clients. */
export async function measureIdle(tree: Tree): Promise<Figures> {
  const data = mkdtempSync(join(tmpdir(), "uniknode-compare-data-"));
  try {
    const { child, stop } = await startDevChain(tree, data);
    await sleep(WARM_UP_MS);
    const before = processorSeconds(present(child.pid));
    await sleep(IDLE_MS);
    const figures = {
      "idle, percent of a processor":
        ((processorSeconds(present(child.pid)) - before) / (IDLE_MS / 1_000)) * 100,
      "idle, PSS in MB": pssMb(present(child.pid)),
      "idle, threads": readdirSync(`/proc/${child.pid}/task`).length,
    };
    await stop();
    return figures;
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}
