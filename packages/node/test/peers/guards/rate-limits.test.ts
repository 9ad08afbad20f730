/** Rate limits of the events of an address (p2p.md 6.3). */
import fc from "fast-check";
import { expect, test } from "vitest";
import { RateLimits, WindowCounter } from "../../../src/peers/guards/rate-limits.ts";
import type { EventName } from "../../../src/peers/wire/events.ts";
import { present } from "../../../src/platform/present.ts";
import { codeOf } from "../wire/hostile.ts";

const limitsOf = (eventsPerSecond = 100) =>
  new RateLimits({ eventsPerSecond, exempt: new Set(["127.0.0.1"]) });
const isCounted = (limits: RateLimits, event: EventName, at: number, address = "203.0.113.7") =>
  codeOf(() => limits.count(address, event, at)) === undefined;

test.each<[EventName, number, number]>([
  ["p2p.peer.getPeers", 1, 1000],
  ["p2p.peer.getStatus", 2, 1000],
  ["p2p.peer.getCommonBlocks", 9, 1000],
  ["p2p.peer.getBlocks", 1, 2000],
  ["p2p.peer.postBlock", 2, 4000],
])("%s: %i in %i ms", (event, events, windowMs) => {
  const limits = limitsOf();
  for (let count = 0; count < events; count++) expect(isCounted(limits, event, 5)).toBe(true);
  expect(isCounted(limits, event, 5, "203.0.113.8")).toBe(true);
  expect(isCounted(limits, event, windowMs + 4)).toBe(false);
  expect(isCounted(limits, event, windowMs + 5)).toBe(true);
  expect(limits.isBlocked("203.0.113.7", windowMs + 5)).toBe(false);
});

test("Other events count together, and too many block the address for a minute.", () => {
  const limits = limitsOf(3);
  for (let count = 0; count < 3; count++)
    expect(isCounted(limits, "p2p.peer.postTransactions", 0)).toBe(true);
  expect(codeOf(() => limits.count("203.0.113.7", "p2p.peer.getStatus", 999))).toBe("RATE_EXCEEDED");
  expect(limits.isBlocked("203.0.113.7", 60_998)).toBe(true);
  expect(limits.isBlocked("203.0.113.8", 60_998)).toBe(false);
  expect(isCounted(limits, "p2p.peer.getStatus", 60_998)).toBe(false);
  expect(limits.isBlocked("203.0.113.7", 60_999)).toBe(false);
  expect(isCounted(limits, "p2p.peer.getStatus", 60_999)).toBe(true);
});

test("Exempt addresses have no limit.", () => {
  const limits = limitsOf(1);
  for (let count = 0; count < 5; count++) {
    expect(isCounted(limits, "p2p.peer.getPeers", 0, "127.0.0.1")).toBe(true);
  }
});

test("A window admits its number of events, and keeps only the keys of one window.", () => {
  const steps = fc.array(fc.tuple(fc.nat(5), fc.nat(60)), { maxLength: 200 });
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 4 }), (events, limit) => {
      const counter = new WindowCounter({ events: limit, windowMs: 100 });
      const windows = new Map<string, number[]>();
      let at = 0;
      for (const [name, pauseMs] of events) {
        at += pauseMs;
        const key = `key ${name}`;
        const [startedAt = Number.NEGATIVE_INFINITY] = windows.get(key) ?? [];
        const window = at - startedAt < 100 ? [...present(windows.get(key)), at] : [at];
        windows.set(key, window);
        expect(counter.take(key, at)).toBe(window.length <= limit);
      }
      expect(counter.size()).toBe(
        [...windows.values()].filter(([startedAt]) => at - present(startedAt) < 100).length,
      );
    }),
  );
});

test("The addresses of a /64 share five times the limit of one address.", () => {
  const limits = limitsOf(100);
  const address = (index: number) => `2001:db8:1:2::${index.toString(16)}`;
  const isPosted = (index: number) => isCounted(limits, "p2p.peer.postBlock", 0, address(index));
  for (let index = 0; index < 5; index++) expect(isPosted(index) && isPosted(index)).toBe(true);
  expect(isPosted(6)).toBe(false);
  expect(isCounted(limits, "p2p.peer.postBlock", 0, "2001:db8:1:3::1")).toBe(true);
});

test("A /64 whose addresses together exceed five times the limit is blocked as a whole.", () => {
  const limits = limitsOf(2);
  const address = (index: number) => `2001:db8:1:2::${index.toString(16)}`;
  for (let index = 0; index < 10; index++) {
    expect(isCounted(limits, "p2p.peer.postTransactions", 0, address(index))).toBe(true);
  }
  expect(isCounted(limits, "p2p.peer.postTransactions", 0, address(11))).toBe(false);
  expect(limits.isBlocked(address(99), 1)).toBe(true);
  expect(limits.isBlocked("2001:db8:1:3::1", 1)).toBe(false);
});
