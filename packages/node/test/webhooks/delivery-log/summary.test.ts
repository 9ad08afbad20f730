import { expect, test } from "vitest";
import { SUMMARIZED_HOURS, summaryOf } from "../../../src/webhooks/delivery-log/delivery-log.ts";

const HOUR_MS = 3_600_000;
const NOW_MS = 500_000 * HOUR_MS + 60_000;

test("The summary counts the states, and the deliveries that ended in each of the last hours.", () => {
  const createdMs = NOW_MS - 90 * HOUR_MS;
  const { hours, ...counts } = summaryOf(
    {
      deliveries: [
        { state: "pending", createdMs: NOW_MS },
        { state: "delivered", createdMs: NOW_MS, finishedMs: NOW_MS },
        { state: "delivered", createdMs, finishedMs: NOW_MS - HOUR_MS },
        { state: "failed", createdMs, finishedMs: NOW_MS - 23 * HOUR_MS },
        { state: "cancelled", createdMs, finishedMs: NOW_MS },
        // Before the first hour of the summary, and after a clock that was set back.
        { state: "failed", createdMs, finishedMs: NOW_MS - 24 * HOUR_MS },
        { state: "delivered", createdMs, finishedMs: NOW_MS + HOUR_MS },
      ],
      oldestWaitingMs: NOW_MS,
    },
    NOW_MS,
  );
  expect(counts).toEqual({
    count: 7,
    delivered: 3,
    failed: 2,
    cancelled: 1,
    pending: 1,
    sinceMs: createdMs,
    oldestWaitingMs: NOW_MS,
  });
  expect(hours).toHaveLength(SUMMARIZED_HOURS);
  expect(hours.filter(({ delivered, failed }) => delivered + failed > 0)).toEqual([
    { atMs: NOW_MS - 60_000 - 23 * HOUR_MS, delivered: 0, failed: 1 },
    { atMs: NOW_MS - 60_000 - HOUR_MS, delivered: 1, failed: 0 },
    { atMs: NOW_MS - 60_000, delivered: 1, failed: 0 },
  ]);
});

test("The summary without deliveries has all hours empty.", () => {
  expect(summaryOf({ deliveries: [] }, NOW_MS)).toEqual({
    count: 0,
    delivered: 0,
    failed: 0,
    cancelled: 0,
    pending: 0,
    hours: Array.from({ length: 24 }, () => ({ atMs: expect.any(Number), delivered: 0, failed: 0 })),
  });
});
