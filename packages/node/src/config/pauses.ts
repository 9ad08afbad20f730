/** Lists of pauses in options: numbers with a unit, such as `5s,2m,24h`. */
const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const MAX_PAUSES = 30;
const MAX_PAUSE_MS = 7 * 86_400_000;
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
