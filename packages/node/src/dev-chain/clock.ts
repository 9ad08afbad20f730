/** The clock of a dev chain: the clock of the machine plus an offset that only grows and survives restarts. */
import { existsSync } from "node:fs";
import { ConfigError } from "../platform/config-error.ts";
import { writeWholeFile } from "../platform/files/whole-file.ts";
import { readJsonObject } from "../platform/json/json-file.ts";

export type DevClock = {
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Moves the clock forward to a time; without effect when the time is past. On disk when it returns. */
  moveTo(unixMs: number): void;
};

/**
 * A clock with its offset in a file, which is created when the clock is first moved.
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
  const remedy = "start over with --reset, or remove the file to use the machine's time again";
  let content: Record<string, unknown>;
  try {
    content = readJsonObject(path, "the clock of the dev chain");
  } catch (error) {
    throw new ConfigError(`${(error as Error).message}; ${remedy}`);
  }
  const { aheadMs } = content;
  if (typeof aheadMs === "number" && Number.isFinite(aheadMs) && aheadMs >= 0) return aheadMs;
  throw new ConfigError(`the clock of the dev chain ${path} has no valid offset; ${remedy}`);
}
