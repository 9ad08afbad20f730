/** Measures a node of a version from outside: start, rest, memory under load. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { present } from "../../packages/node/src/platform/present.ts";
import { shoot } from "../api/load.ts";
import type { Tree } from "../trees.ts";

/** Figures of one measurement by name; the unit is in the name. */
export type Figures = Readonly<Record<string, number>>;

/** Clock ticks per second of the kernel. */
const TICKS_PER_SECOND = 100;
/** A node releases the memory of its start after 15 to 25 s, in one garbage collection. */
const WARM_UP_MS = 30_000;
const IDLE_MS = 30_000;

/** Lists that the load reads in turns, with as many connections. */
const LISTS = ["transactions", "blocks", "wallets", "uniks"];
const CONNECTIONS = 64;
/** Different pages of each list, which differ in their limit and offset. */
const LIMITS = Array.from({ length: 40 }, (_, index) => 100 - index);
const OFFSETS = [0, 1, 2, 3, 4];
const LOAD_SECONDS = 5;

type Started = { readonly child: ChildProcess; readonly url: string; stop(): Promise<void> };

/** Starts a dev chain in a folder; settles when it prints its address. */
async function startDevChain(
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

/**
 * Resident memory or its peak so far, shared pages included: the proportional one would be less for the version whose
 * runtime runs the benchmark.
 */
const residentMb = (pid: number, kind: "VmRSS" | "VmHWM" = "VmRSS"): number => {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(present(new RegExp(`^${kind}:\\s+(\\d+) kB`, "m").exec(status))[1]) / 1024;
};

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

/** Runs a measurement of a new dev chain, which ends with it, whether it fails or not. */
export async function withDevChain(
  tree: Tree,
  options: readonly string[],
  measure: (started: Started) => Promise<Figures>,
): Promise<Figures> {
  const data = mkdtempSync(join(tmpdir(), "uniknode-compare-data-"));
  try {
    const started = await startDevChain(tree, data, options);
    return await measure(started).finally(started.stop);
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

/** Measures a forging dev chain without clients. */
export const measureIdle = (tree: Tree): Promise<Figures> =>
  withDevChain(tree, [], async ({ child }) => {
    const pid = present(child.pid);
    await sleep(WARM_UP_MS);
    const before = processorSeconds(pid);
    await sleep(IDLE_MS);
    return {
      "idle, percent of a processor": ((processorSeconds(pid) - before) / (IDLE_MS / 1_000)) * 100,
      "idle, resident MB": residentMb(pid),
      "idle, threads": readdirSync(`/proc/${pid}/task`).length,
    };
  });

/** Measures the memory of a dev chain whose clients request pages as soon as it serves. */
export const measureLoad = (tree: Tree): Promise<Figures> =>
  withDevChain(tree, ["--rate-limit", "0"], async ({ child, url }) => {
    const pid = present(child.pid);
    for (const list of LISTS) {
      const pages = OFFSETS.flatMap((offset) =>
        LIMITS.map((limit) => ({
          method: "GET" as const,
          path: `/api/v2/${list}?limit=${limit}&offset=${offset}`,
        })),
      );
      const load = { connections: CONNECTIONS, seconds: LOAD_SECONDS };
      const { failed } = await shoot(Number(new URL(url).port), pages, load);
      if (failed > 0) throw new Error(`${failed} requests for pages of ${list} failed`);
    }
    const peakMb = residentMb(pid, "VmHWM");
    await sleep(WARM_UP_MS);
    return { "load, peak resident MB": peakMb, "after load, resident MB": residentMb(pid) };
  });
