/** Parses times on the command line. */
import { InvalidArgumentError } from "commander";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../platform/clock/durations.ts";

export const TIME = "2026-01-31, 2026-01-31T12:00Z, 2h for two hours ago, or milliseconds since 1970";

const UNIT_MS = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };
/** A date with an optional time; without a zone, it is in UTC. */
const DATE = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/;

/**
 * Converts a date, a time span before now, or a number of milliseconds to milliseconds since 1970.
 *
 * @throws {InvalidArgumentError} on any other text
 */
export function readTime(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (unit !== undefined)
    return Math.max(0, Date.now() - Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS]);
  const [, time, , , zone] = DATE.exec(text) ?? [];
  const ms = DATE.test(text)
    ? Date.parse(time !== undefined && zone === undefined ? `${text}Z` : text)
    : Number.NaN;
  if (Number.isNaN(ms) || ms < 0) throw new InvalidArgumentError(`A time is expected: ${TIME}.`);
  return ms;
}
