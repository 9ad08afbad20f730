/** The clock of a dev chain: the machine's, moved on by whoever asks, and never back, not by a restart either. */
import { existsSync, readFileSync } from "node:fs";
import { writeWholeFile } from "../store/whole-file.ts";

export type DevClock = {
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Moves the clock on to a time, on disk when it returns; without effect when it is later already. */
  moveTo(unixMs: number): void;
};

/** The clock that is remembered in a file, which appears when the clock is moved. */
export function openClock(path: string): DevClock {
  let aheadMs = existsSync(path)
    ? (JSON.parse(readFileSync(path, "utf8")) as { aheadMs: number }).aheadMs
    : 0;
  const nowMs = () => Date.now() + aheadMs;
  return {
    nowMs,
    moveTo(unixMs) {
      const missingMs = unixMs - nowMs();
      if (missingMs <= 0) return;
      writeWholeFile(path, `${JSON.stringify({ aheadMs: aheadMs + missingMs })}\n`);
      aheadMs += missingMs;
    },
  };
}
