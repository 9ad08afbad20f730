/** Longest tick of the consensus thread, as measured by the recorder in the node under siege. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { present } from "../../../packages/node/src/platform/present.ts";

/** Longest ticks of a period, in milliseconds. */
export type LongestTick = {
  /** Excludes the time in which the thread waited for a processor. */
  readonly ms: number;
  /** Includes that time. */
  readonly wallMs: number;
};

export type Ticks = {
  /** Waits until the thread is free, unless the process has ended. Returns the longest ticks since the last call. */
  take(hasEnded: () => boolean): Promise<LongestTick>;
};

const RECORDER = fileURLToPath(new URL("./tick-recorder.ts", import.meta.url));
/** A thread that is not free within this time counts as busy since the call. */
const FREE_TIMEOUT_MS = 120_000;
const POLL_MS = 50;

/** Arguments that make a node record its ticks in the file. */
export const tickRecorder = (file: string) => ({
  nodeArguments: ["--import", RECORDER],
  environment: { UNIKNODE_SIEGE_TICKS: file },
});

export function readTicks(file: string): Ticks {
  let read = 0;
  const size = () => (existsSync(file) ? statSync(file).size : 0);

  /** Milliseconds until the thread writes a line that covers the present. */
  async function untilWritten(hasEnded: () => boolean): Promise<number> {
    const before = size();
    const startedMs = performance.now();
    const elapsedMs = () => performance.now() - startedMs;
    while (size() === before && elapsedMs() < FREE_TIMEOUT_MS && !hasEnded()) await sleep(POLL_MS);
    return elapsedMs();
  }

  return {
    async take(hasEnded) {
      const elapsedMs = await untilWritten(hasEnded);
      const content = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
      const lines = content.subarray(read).toString().split("\n").slice(0, -1);
      read = content.length;
      const values = lines.map((line) => line.split(" ").map(Number));
      const busyMs = elapsedMs >= FREE_TIMEOUT_MS ? elapsedMs : 0;
      return {
        ms: Math.max(busyMs, ...values.map(([ms]) => present(ms))),
        wallMs: Math.max(busyMs, ...values.map(([, wallMs]) => present(wallMs))),
      };
    },
  };
}
