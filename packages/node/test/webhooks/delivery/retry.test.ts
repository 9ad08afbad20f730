import { expect, test } from "vitest";
import {
  MAX_RETRY_AFTER_MS,
  nextAttemptAt,
  parseRetryAfterMs,
  probePauseMs,
  targetPauseMs,
} from "../../../src/webhooks/delivery/retry.ts";
import { DEFAULT_RETRY_PAUSES_MS } from "../../../src/webhooks/options.ts";

const AT = 1_700_000_000_000;
const pause = (attempts: number, random: number, retryAfter?: string) => {
  const retryAfterMs = parseRetryAfterMs(retryAfter, AT);
  const at = nextAttemptAt({ attempts, atMs: AT, retryAfterMs }, DEFAULT_RETRY_PAUSES_MS, () => random);
  return at === undefined ? undefined : at - AT;
};

test("Pauses vary by a fifth in both directions.", () => {
  expect(pause(1, 0)).toBe(4_000);
  expect(pause(1, 0.5)).toBe(5_000);
  expect(pause(1, 1)).toBe(6_000);
  expect(pause(9, 0)).toBe(0.8 * 86_400_000);
  expect(pause(10, 0.5)).toBeUndefined();
});

test("Retry-After extends a pause, up to a day, and never shortens it", () => {
  expect(pause(1, 0.5, "60")).toBe(60_000);
  expect(pause(1, 0.5, "1")).toBe(5_000);
  expect(pause(1, 0.5, "99999999999999999999")).toBe(MAX_RETRY_AFTER_MS);
  expect(pause(1, 0.5, new Date(AT + 90_000).toUTCString())).toBe(90_000);
  expect(pause(1, 0.5, new Date(AT - 90_000).toUTCString())).toBe(5_000);
  expect(pause(1, 0.5, "soon")).toBe(5_000);
  expect(pause(1, 0.5, "-5")).toBe(5_000);
  expect(pause(10, 0.5, "60")).toBeUndefined();
});

test("A target is paused only after many failures, and for a limited time.", () => {
  expect([1, 19, 20, 21, 25, 26, 1000].map(probePauseMs)).toEqual([
    0, 0, 5_000, 10_000, 160_000, 300_000, 300_000,
  ]);
});

test("A response with Retry-After applies to all deliveries.", () => {
  expect(targetPauseMs(500, 0)).toBe(0);
  expect(targetPauseMs(503, 60_000)).toBe(60_000);
  expect(targetPauseMs(429, 0)).toBe(5_000);
  expect(targetPauseMs(429, 60_000)).toBe(60_000);
  expect(targetPauseMs(undefined, 0)).toBe(0);
});
