/** Times that commands accept. */
import { InvalidArgumentError } from "commander";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { readTime } from "../../src/commands/webhooks/deliveries.ts";

const NOW = Date.UTC(2026, 0, 31, 12);
beforeAll(() => void vi.useFakeTimers({ now: NOW }));
afterAll(() => void vi.useRealTimers());

test.each([
  ["a date is its first moment in UTC", "2026-01-30", Date.UTC(2026, 0, 30)],
  ["a time without a zone is of UTC", "2026-01-30T10:20", Date.UTC(2026, 0, 30, 10, 20)],
  ["a time with seconds and a zone", "2026-01-30T10:20:30.5+02:00", Date.UTC(2026, 0, 30, 8, 20, 30, 500)],
  ["a time of UTC", "2026-01-30T10:20Z", Date.UTC(2026, 0, 30, 10, 20)],
  ["a span before now", "2h", NOW - 7_200_000],
  ["days before now", "3d", NOW - 3 * 86_400_000],
  ["a span beyond the range of time", "999999d", 0],
  ["milliseconds since 1970", "1769774400000", 1_769_774_400_000],
  ["all time", "0", 0],
])("%s", (_what, text, ms) => {
  expect(readTime(text)).toBe(ms);
});

test.each([
  "",
  "yesterday",
  "2026-13-01",
  "30.01.2026",
  "2026-01-30 10:20",
  "2x",
  "-2h",
  "1960-01-01",
  "1.5h",
])("%j is refused with the accepted formats", (text) => {
  expect(() => readTime(text)).toThrow(InvalidArgumentError);
  expect(() => readTime(text)).toThrow(/2026-01-31T12:00Z, 2h for two hours ago/);
});
