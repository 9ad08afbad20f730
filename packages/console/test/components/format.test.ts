import { expect, test } from "vitest";
import {
  amountText,
  bytesText,
  countOfText,
  durationText,
  percentText,
  relativeText,
  shortened,
} from "../../src/components/format.ts";

test.each([
  ["0", "0"],
  ["1", "0.00000001"],
  ["100000000", "1"],
  ["150000000", "1.5"],
  [1_000_000_000_000, "10,000"],
  [2n ** 80n, "12,089,258,196,146,291.74706176"],
  ["-100000000", "−1"],
])("%s of the smallest unit is %s.", (amount, text) => {
  expect(amountText(amount)).toBe(text);
});

test("Long identifiers are shortened in the middle, short ones are not.", () => {
  expect(shortened("0123456789abcdef0123456789abcdef")).toBe("01234567…abcdef");
  expect(shortened("founder_1")).toBe("founder_1");
});

test("Times are shown relative to now.", () => {
  expect(relativeText(0, 12_000)).toBe("12 sec. ago");
  expect(relativeText(190_000, 0)).toBe("in 3 min.");
  expect(relativeText(0, 0)).toBe("now");
  expect(relativeText(0, 3 * 86_400_000)).toBe("3 days ago");
});

test("Durations have their two largest units.", () => {
  expect([0, 45, 185, 7_800, 90_061].map(durationText)).toEqual([
    "0 s",
    "45 s",
    "3 min 5 s",
    "2 h 10 min",
    "1 d 1 h",
  ]);
});

test("Sizes have a suitable unit.", () => {
  expect([0, 1_023, 1_536, 5 * 1_024 ** 3].map(bytesText)).toEqual(["0 B", "1,023 B", "1.5 KiB", "5 GiB"]);
});

test.each([
  [0, "transactions", "0 transactions"],
  [1, "transactions", "1 transaction"],
  [1, "deliveries", "1 delivery"],
  [2, "deliveries", "2 deliveries"],
])("%d %s is %j.", (count, plural, text) => {
  expect(countOfText(count, plural)).toBe(text);
});

test.each([
  [0, "0%"],
  [50, "50%"],
  [33.333, "33.33%"],
  [99.5, "99.5%"],
])("%f percent has no trailing zeros", (percent, text) => {
  expect(percentText(percent)).toBe(text);
});
