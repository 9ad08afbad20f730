/** What is due in the queues in memory, and what an outcome on the disk does to them. */
import { beforeEach, expect, test } from "vitest";
import type { Waiting } from "../../../src/store/webhooks/deliveries.ts";
import { createDueCalls } from "../../../src/webhooks/delivery/due.ts";
import { createOutcomes, type Unwritten } from "../../../src/webhooks/delivery/outcomes.ts";
import type { Lane, Queue, Retries } from "../../../src/webhooks/delivery/queue.ts";
import { createQueues, type Queues } from "../../../src/webhooks/delivery/queues.ts";

const NONE: Retries = { retryMs: undefined, hasRetraction: false };

/** First attempts that wait, by webhook. */
let waiting: Record<number, number>;
let retries: Record<number, Retries>;
let begun: string[];
let queues: Queues;

beforeEach(() => {
  waiting = {};
  retries = {};
  begun = [];
  queues = createQueues({
    webhooks: { isStrict: (webhook) => webhook === 9 },
    deliverySource: { retriesOf: (webhook) => retries[webhook] ?? NONE },
  });
});

const deliverySource = {
  next(queue: Queue, lane: Lane): Waiting | undefined {
    const left = lane === "first" ? (waiting[queue.webhook] ?? 0) : 0;
    if (lane === "first") queue.hasFirst = left > 0;
    if (lane === "replay") queue.hasReplay = false;
    if (lane === "retry") queue.retryMs = undefined;
    if (left === 0 && lane !== "retry") return undefined;
    waiting[queue.webhook] = left - 1;
    return { number: left } as Waiting;
  },
};
const dueCalls = (maxConcurrent = 100, maxConcurrentPerWebhook = 2) =>
  createDueCalls(
    { maxConcurrent, maxConcurrentPerWebhook },
    { queues, deliverySource, begin: ({ webhook }, lane) => void begun.push(`${webhook} ${lane}`) },
  );

test("One call of each queue is begun, then the next one of each, up to the bound of a webhook.", () => {
  waiting = { 1: 3, 2: 1 };
  for (const webhook of [1, 2]) queues.open(webhook).isQuick = true;
  expect(dueCalls().begin(0)).toBe(false);
  expect(begun).toEqual(["1 first", "2 first", "1 first"]);
});

test("A strict webhook has one call at a time.", () => {
  waiting = { 9: 3 };
  queues.open(9);
  dueCalls().begin(0);
  expect(begun).toEqual(["9 first"]);
});

test("No more than 32 calls are begun in one go.", () => {
  for (let webhook = 100; webhook < 140; webhook++) {
    waiting[webhook] = 1;
    queues.open(webhook);
  }
  const due = dueCalls();
  expect(due.begin(0)).toBe(true);
  expect(begun).toHaveLength(32);
  expect(due.begin(0)).toBe(false);
  expect(begun).toHaveLength(40);
});

test("The next retry says when to wake, and a queue without work is forgotten.", () => {
  retries = { 1: { retryMs: 700, hasRetraction: false } };
  for (const webhook of [1, 2]) queues.open(webhook);
  const due = dueCalls();
  expect(due.begin(0)).toBe(false);
  expect([...queues.all()].map(({ webhook }) => webhook)).toEqual([1]);
  expect(due.nextMs()).toBe(700);
  due.begin(700);
  expect(begun).toEqual(["1 retry"]);
  expect(due.nextMs()).toBeUndefined();
});

test("A webhook that was changed is read again.", () => {
  const queue = queues.open(1);
  Object.assign(queue, { heldUntilMs: 900, hasFirst: false, isStrict: true });
  retries = { 1: { retryMs: 5, hasRetraction: true } };
  queues.reset(1);
  expect(queue).toMatchObject({
    heldUntilMs: 0,
    hasFirst: true,
    isStrict: false,
    retryMs: 5,
    hasRetraction: true,
  });
});

test("An outcome changes its queue when it is on the disk, and stays where that fails.", () => {
  let isFull = true;
  const outcomes = createOutcomes({
    database: {
      transaction(work) {
        if (isFull) throw new Error("disk full");
        return work();
      },
    },
    queues,
    writeOutcome: ({ attempted }) => (attempted.reason === undefined ? 0 : 50),
    clock: { nowMs: () => 1_000 },
  });
  const queue = queues.open(1);
  queues.begin(queue, "first");
  outcomes.add({
    webhook: 1,
    queue,
    lane: "first",
    attempted: { reason: "HTTP 500" },
  } as unknown as Unwritten);
  expect(outcomes.write).toThrow("disk full");
  expect([outcomes.size(), queue.running.first, queue.heldUntilMs]).toEqual([1, 1, 0]);
  isFull = false;
  retries = { 1: { retryMs: 1_050, hasRetraction: false } };
  outcomes.write();
  expect([outcomes.size(), queue.running.first, queue.heldUntilMs]).toEqual([0, 0, 1_050]);
  expect(queue.retryMs).toBe(1_050);
});
