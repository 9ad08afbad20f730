/** The clock of a dev chain: the machine's, moved on by whoever asks, and never back, not by a restart either. */
import { existsSync } from "node:fs";
import { ConfigError } from "../platform/config-error.ts";
import { writeWholeFile } from "../platform/files/whole-file.ts";
import { readJsonObject } from "../platform/json/json-file.ts";

export type DevClock = {
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Moves the clock on to a time, on disk when it returns; without effect when it is later already. */
  moveTo(unixMs: number): void;
};

/**
 * The clock that is remembered in a file, which appears when the clock is moved.
 *
 * @throws {ConfigError} when the file is empty or damaged
 */
export function openClock(path: string): DevClock {
  let aheadMs = existsSync(path) ? readAheadMs(path) : 0;
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

function readAheadMs(path: string): number {
  const remedy = "start over with --reset, or remove the file to have the machine's time again";
  let content: Record<string, unknown>;
  try {
    content = readJsonObject(path, "the clock of the dev chain");
  } catch (error) {
    throw new ConfigError(`${(error as Error).message}; ${remedy}`);
  }
  const { aheadMs } = content;
  if (typeof aheadMs === "number" && Number.isFinite(aheadMs) && aheadMs >= 0) return aheadMs;
  throw new ConfigError(`the clock of the dev chain ${path} says no time; ${remedy}`);
}
