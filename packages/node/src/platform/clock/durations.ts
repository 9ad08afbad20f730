/** Durations in milliseconds, and as text: a number with a unit, such as `5s`. */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const UNITS_MS: Readonly<Record<string, number>> = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

/** Returns the milliseconds of a text such as `5s`, `2m`, `24h` or `7d`; NaN for a text in another format. */
export function parseDurationMs(text: string): number {
  const [, number, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  return Number(number) * (UNITS_MS[unit] ?? Number.NaN);
}

/** Returns a duration as text, in the largest unit up to hours. */
export function durationText(durationMs: number): string {
  if (durationMs % HOUR_MS === 0) return `${durationMs / HOUR_MS}h`;
  return durationMs % MINUTE_MS === 0 ? `${durationMs / MINUTE_MS}m` : `${durationMs / SECOND_MS}s`;
}
