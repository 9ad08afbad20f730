/** Lists of pauses in options: numbers with a unit, such as `5s,2m,24h`. */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../platform/clock/durations.ts";
import { present } from "../platform/present.ts";

const UNITS_MS: Readonly<Record<string, number>> = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };
const MAX_PAUSES = 30;
const MAX_PAUSE_MS = 7 * DAY_MS;
const EXPECTED = `a list of 1 to ${MAX_PAUSES} pauses such as 5s,2m,24h, each of 1 second to 7 days, is expected`;

/**
 * Reads one text with commas, or a JSON array of texts.
 *
 * @throws {Error} with a message that names the expected format
 */
export function readPauses(value: unknown): readonly string[] {
  const entries = typeof value === "string" ? value.split(",") : value;
  if (!Array.isArray(entries) || entries.length === 0 || entries.length > MAX_PAUSES)
    throw new Error(EXPECTED);
  return entries.map((entry) => {
    const pause = typeof entry === "string" ? entry.trim() : "";
    // Both comparisons are false for NaN.
    if (parsePauseMs(pause) >= 1_000 && parsePauseMs(pause) <= MAX_PAUSE_MS) return pause;
    throw new Error(EXPECTED);
  });
}

/** Milliseconds of a pause; NaN for a text in another format. */
export function parsePauseMs(pause: string): number {
  const [, number, unit = ""] = /^(\d{1,6})([smhd])$/.exec(pause) ?? [];
  return Number(number) * (UNITS_MS[unit] ?? Number.NaN);
}

/** Returns a pause as text, in the largest unit up to hours. */
export function pauseText(pauseMs: number): string {
  const unit = (["h", "m"] as const).find((unit) => pauseMs % present(UNITS_MS[unit]) === 0) ?? "s";
  return `${pauseMs / present(UNITS_MS[unit])}${unit}`;
}
