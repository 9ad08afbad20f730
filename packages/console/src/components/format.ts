/** Formats values in the user's locale. */
import { countText } from "./count.ts";

export { countText };

const DECIMALS = 8;
/** Smallest units per token. */
export const UNITS = 10n ** BigInt(DECIMALS);

const separator =
  new Intl.NumberFormat().formatToParts(1.1).find(({ type }) => type === "decimal")?.value ?? ".";

/**
 * Formats an amount with all significant decimals: `1,234.5`.
 *
 * @param amount in the smallest unit, as in the API
 */
export function amountText(amount: string | number | bigint): string {
  const units = BigInt(amount);
  const absolute = units < 0n ? -units : units;
  const decimals = `${absolute % UNITS}`.padStart(DECIMALS, "0").replace(/0+$/, "");
  return `${units < 0n ? "−" : ""}${countText(absolute / UNITS)}${decimals && separator}${decimals}`;
}

/** Formats a count with its noun, given in the plural: `1 transaction`, `2 deliveries`. */
export const countOfText = (count: number, plural: string): string =>
  `${countText(count)} ${count === 1 ? plural.replace(/ies$/, "y").replace(/s$/, "") : plural}`;

const percents = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 2 });
/** Formats a share without trailing zeros: `33.33%`, `50%`. */
export const percentText = (percent: number): string => percents.format(percent / 100);

/** Shortens a long identifier in the middle: `5c6ce775…eb79aa`. */
export const shortened = (id: string, start = 8, end = 6): string =>
  id.length <= start + end + 3 ? id : `${id.slice(0, start)}…${id.slice(-end)}`;

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
/** Formats the time of day in hours and minutes. */
export const clockText = (timeMs: number): string => clock.format(timeMs);

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" });
const UNITS_OF_TIME = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

/** Formats a relative time: `12 sec. ago`, `in 3 min.` */
export function relativeText(timeMs: number, nowMs: number): string {
  const seconds = Math.round((timeMs - nowMs) / 1_000);
  const [unit, size] = UNITS_OF_TIME.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  return relative.format(Math.trunc(seconds / size), unit);
}

const bytes = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];
/** Formats a number of bytes: `12.3 KiB` */
export function bytesText(count: number): string {
  const power = Math.min(Math.floor(Math.log2(Math.max(count, 1)) / 10), BYTE_UNITS.length - 1);
  return `${bytes.format(count / 1_024 ** power)} ${BYTE_UNITS[power]}`;
}

/** Formats a duration with its two largest units: `45 s`, `3 min 5 s`, `2 h 10 min`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const parts = [
    [Math.floor(whole / 86_400), "d"],
    [Math.floor(whole / 3_600) % 24, "h"],
    [Math.floor(whole / 60) % 60, "min"],
    [whole % 60, "s"],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  if (first === -1) return "0 s";
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(" ");
}
