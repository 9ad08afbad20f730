/** Suspensions of peers that did not send what they claimed. */
import { expect, test } from "vitest";
import { createSuspensions } from "../../../src/peers/guards/suspensions.ts";

const IP = "203.0.113.7";

test("Each suspension lasts twice as long as the one before, up to a bound.", () => {
  const suspensions = createSuspensions({ firstMs: 10, maxMs: 40 });
  expect(suspensions.has(IP, 0)).toBe(false);
  let at = 0;
  for (const durationMs of [10, 20, 40, 40]) {
    suspensions.add(IP, at);
    expect(suspensions.has(IP, at + durationMs - 1)).toBe(true);
    expect(suspensions.has(IP, at + durationMs)).toBe(false);
    at += durationMs;
  }
  expect(suspensions.has("203.0.113.8", 0)).toBe(false);
});

test("A peer that sends what it claims starts again with the shortest suspension.", () => {
  const suspensions = createSuspensions({ firstMs: 10, maxMs: 40 });
  suspensions.add(IP, 0);
  suspensions.clear(IP);
  expect(suspensions.has(IP, 1)).toBe(false);
  suspensions.add(IP, 0);
  expect(suspensions.has(IP, 10)).toBe(false);
});

test("The addresses of a /64 are suspended together.", () => {
  const suspensions = createSuspensions({ firstMs: 10, maxMs: 40 });
  suspensions.add("2001:db8:1:2::7", 0);
  expect(suspensions.has("2001:db8:1:2::8", 9)).toBe(true);
  expect(suspensions.has("2001:db8:1:3::7", 9)).toBe(false);
});

test("At most ten thousand suspensions are kept, the latest ones.", () => {
  const suspensions = createSuspensions({ firstMs: 10, maxMs: 40 });
  const address = (index: number) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
  for (let index = 0; index <= 10_000; index++) suspensions.add(address(index), 0);
  expect(suspensions.has(address(0), 1)).toBe(false);
  expect(suspensions.has(address(1), 1)).toBe(true);
});
