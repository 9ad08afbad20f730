/**
 * Loaded into the node under siege before its own code: measures the ticks of the event loop of its main thread, which
 * runs consensus. Appends a line with the longest ticks since the line before to a file, several times a second or as
 * soon as the thread is free again.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const file = process.env.UNIKNODE_SIEGE_TICKS;
const INTERVAL_MS = 5;
const WRITE_EVERY_MS = 250;
const NANOSECONDS_IN_MS = 1_000_000;

/** Total time that this thread was ready to run and waited for a processor; 0 where the system does not count it. */
function waitedMs(): number {
  try {
    return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[1]) / NANOSECONDS_IN_MS;
  } catch {
    return 0;
  }
}

function record(path: string): void {
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
    appendFileSync(path, `${longest.toFixed(1)} ${longestWall.toFixed(1)}\n`);
    written = now.ms;
    [longest, longestWall] = [0, 0];
  }, INTERVAL_MS).unref();
}

// Threads of the node load this, too.
if (isMainThread && file !== undefined) record(file);
