import { expect, test } from "vitest";
import { createRepeats } from "../../../src/platform/logging/logger.ts";

test("A cause is logged once a minute, with the number of omissions.", () => {
  let nowMs = 0;
  const { note } = createRepeats(() => nowMs);
  expect(note("a")).toBe(0);
  expect(note("b")).toBe(0);
  for (nowMs = 1_000; nowMs < 60_000; nowMs += 1_000) expect(note("a")).toBe(undefined);
  expect(note("a")).toBe(59);
  expect(note("a")).toBe(undefined);
});

test("The number of remembered causes is bounded.", () => {
  const { note } = createRepeats(() => 0);
  for (let cause = 0; cause <= 100; cause++) note(String(cause));
  expect(note("100")).toBe(undefined);
  expect(note("0")).toBe(0);
});
