import { expect, test } from "vitest";
import { Repeats } from "../../../src/platform/logging/logger.ts";

test("A cause is logged once a minute, with the number of omissions.", () => {
  let nowMs = 0;
  const repeats = new Repeats(() => nowMs);
  expect(repeats.note("a")).toBe(0);
  expect(repeats.note("b")).toBe(0);
  for (nowMs = 1_000; nowMs < 60_000; nowMs += 1_000) expect(repeats.note("a")).toBe(undefined);
  expect(repeats.note("a")).toBe(59);
  expect(repeats.note("a")).toBe(undefined);
});

test("The number of remembered causes is bounded.", () => {
  const repeats = new Repeats(() => 0);
  for (let cause = 0; cause <= 100; cause++) repeats.note(String(cause));
  expect(repeats.note("100")).toBe(undefined);
  expect(repeats.note("0")).toBe(0);
});
