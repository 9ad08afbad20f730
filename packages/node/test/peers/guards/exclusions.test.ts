/** Exclusions of peers that did not send what they claimed. */
import { expect, test } from "vitest";
import { Exclusions } from "../../../src/peers/guards/refusals.ts";

const IP = "203.0.113.7";

test("Each exclusion lasts twice as long as the one before, up to a bound.", () => {
  const exclusions = new Exclusions({ firstMs: 10, maxMs: 40 });
  expect(exclusions.has(IP, 0)).toBe(false);
  let at = 0;
  for (const durationMs of [10, 20, 40, 40]) {
    exclusions.add(IP, at);
    expect(exclusions.has(IP, at + durationMs - 1)).toBe(true);
    expect(exclusions.has(IP, at + durationMs)).toBe(false);
    at += durationMs;
  }
  expect(exclusions.has("203.0.113.8", 0)).toBe(false);
});

test("A peer that sends what it claims starts again with the shortest exclusion.", () => {
  const exclusions = new Exclusions({ firstMs: 10, maxMs: 40 });
  exclusions.add(IP, 0);
  exclusions.clear(IP);
  expect(exclusions.has(IP, 1)).toBe(false);
  exclusions.add(IP, 0);
  expect(exclusions.has(IP, 10)).toBe(false);
});

test("The addresses of a /64 are excluded together.", () => {
  const exclusions = new Exclusions({ firstMs: 10, maxMs: 40 });
  exclusions.add("2001:db8:1:2::7", 0);
  expect(exclusions.has("2001:db8:1:2::8", 9)).toBe(true);
  expect(exclusions.has("2001:db8:1:3::7", 9)).toBe(false);
});

test("At most ten thousand exclusions are kept, the latest ones.", () => {
  const exclusions = new Exclusions({ firstMs: 10, maxMs: 40 });
  const address = (index: number) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`;
  for (let index = 0; index <= 10_000; index++) exclusions.add(address(index), 0);
  expect(exclusions.has(address(0), 1)).toBe(false);
  expect(exclusions.has(address(1), 1)).toBe(true);
});
