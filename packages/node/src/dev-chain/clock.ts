/** The clock of a dev chain: the clock of the machine plus an offset that only grows and survives restarts. */
import { existsSync } from "node:fs";
import { writeWholeFile } from "../platform/files/whole-file.ts";
import { readJsonFile } from "../platform/json/external.ts";
import { formOf } from "../platform/json/form.ts";
import { Type } from "../platform/json/schema.ts";

export type DevClock = {
  /** Returns the milliseconds since 1970. */
  nowMs(): number;
  /** Moves the clock forward to a time; without effect when the time is past. On disk when it returns. */
  moveTo(unixMs: number): void;
};

const CLOCK = {
  purpose: "the clock of the dev chain",
  form: formOf(
    Type.Object({ aheadMs: Type.Number({ minimum: 0, description: "a number of milliseconds" }) }),
  ),
  remedy: "start over with --reset, or remove the file to use the machine's time again",
};

/**
 * Opens a clock with its offset in a file, which is created when the clock is first moved.
 *
 * @throws {ConfigError} when the file is empty or damaged
 */
export function openClock(path: string): DevClock {
  let aheadMs = existsSync(path) ? readJsonFile(path, CLOCK).aheadMs : 0;
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
