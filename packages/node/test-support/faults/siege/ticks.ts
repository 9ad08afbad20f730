/**
 * Longest tick of the consensus thread. The node under siege loads this file first: its main thread appends the longest ticks of the event
 * loop since the last line to a file, several times a second or as soon as the thread is free again.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";

/** Longest ticks of a period, in milliseconds. */
export type LongestTick = {
  /** Excludes the time in which the thread waited for a processor. */
  readonly ms: number;
  /** Includes that time. */
  readonly wallMs: number;
};

const INTERVAL_MS = 5;
const WRITE_EVERY_MS = 250;
const NANOSECONDS_IN_MS = 1_000_000;
/** A thread that is not free within this time counts as busy since the call. */
const FREE_TIMEOUT_MS = 120_000;
const POLL_MS = 50;

/** Arguments and environment that make a node record its ticks in the file. */
export const tickRecorder = (file: string) => ({
  nodeArguments: ["--import", fileURLToPath(import.meta.url)],
  environment: { UNIKNODE_SIEGE_TICKS: file },
});

/** Total time that this thread was ready to run and waited for a processor; 0 where the system does not count it. */
function waitedMs(): number {
  try {
    return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[1]) / NANOSECONDS_IN_MS;
  } catch {
    return 0;
  }
}

function record(file: string): void {
  let last = { ms: performance.now(), waitedMs: waitedMs() };
  let written = last.ms;
  let [longest, longestWall] = [0, 0];
  setInterval(() => {
    const now = { ms: performance.now(), waitedMs: waitedMs() };
    const wall = Math.max(0, now.ms - last.ms - INTERVAL_MS);
    longest = Math.max(longest, wall - (now.waitedMs - last.waitedMs));
    longestWall = Math.max(longestWall, wall);
    last = now;
    if (now.ms - written < WRITE_EVERY_MS) return;
    appendFileSync(file, `${longest.toFixed(1)} ${longestWall.toFixed(1)}\n`);
    written = now.ms;
    [longest, longestWall] = [0, 0];
  }, INTERVAL_MS).unref();
}

const ownFile = process.env.UNIKNODE_SIEGE_TICKS;
// Threads of the node load this, too.
if (isMainThread && ownFile !== undefined) record(ownFile);

export class TickReader {
  readonly #file: string;
  #read = 0;

  constructor(file: string) {
    this.#file = file;
  }

  #content(): Buffer {
    return existsSync(this.#file) ? readFileSync(this.#file) : Buffer.alloc(0);
  }

  /** Waits until the thread is free, unless the process has ended. Returns the longest ticks since the last call. */
  async take(hasEnded: () => boolean): Promise<LongestTick> {
    const before = this.#content().length;
    const startedMs = performance.now();
    let elapsedMs = 0;
    while (this.#content().length === before && elapsedMs < FREE_TIMEOUT_MS && !hasEnded()) {
      await sleep(POLL_MS);
      elapsedMs = performance.now() - startedMs;
    }
    const content = this.#content();
    const lines = content.subarray(this.#read).toString().split("\n").slice(0, -1);
    this.#read = content.length;
    const busyMs = elapsedMs >= FREE_TIMEOUT_MS ? elapsedMs : 0;
    const longest = (column: number) =>
      Math.max(busyMs, ...lines.map((line) => Number(line.split(" ")[column])));
    return { ms: longest(0), wallMs: longest(1) };
  }
}
