/** Due deliveries of the queues in memory, and the effects of recorded outcomes. */
import { beforeEach, expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import { type Queue, Queues } from "../../../src/webhooks/delivery/active-queues.ts";
import { DueCalls } from "../../../src/webhooks/delivery/due.ts";
import { Outcomes, type Unwritten } from "../../../src/webhooks/delivery/under-way.ts";
import type { WaitingDelivery } from "../../../src/webhooks/model/deliveries.ts";
import type { QueueState } from "../../../src/webhooks/storage/delivery-queue.ts";
import type { Lane } from "../../../src/webhooks/storage/lanes.ts";

const NONE: QueueState = { isStrict: false, retryAtMs: undefined, hasRetraction: false };

/** Pending first attempts, by webhook. */
let waiting: Record<number, number>;
let states: Record<number, Partial<QueueState>>;
let begun: string[];
let queues: Queues;
/** Owned webhooks; undefined: all. */
let owned: Set<number> | undefined;

beforeEach(() => {
  waiting = {};
  states = { 9: { isStrict: true } };
  begun = [];
  owned = undefined;
  queues = new Queues({
    owns: (webhook) => owned?.has(webhook) ?? true,
    latestMs: () => Number.MAX_SAFE_INTEGER,
    deliveryQueue: {
      states: async (webhooks) => webhooks.map((webhook) => ({ ...NONE, ...states[webhook] })),
    },
  });
});

/** Queues of webhooks, read for the first time. */
async function open(...webhooks: number[]): Promise<Queue[]> {
  for (const webhook of webhooks) queues.refill(webhook);
  await queues.refresh();
  return [...queues.all()].filter(({ webhook }) => webhooks.includes(webhook));
}

const deliverySource = {
  async readAhead() {},
  async next(queue: Queue, lane: Lane): Promise<WaitingDelivery | undefined> {
    const left = lane === "first" ? (waiting[queue.webhook] ?? 0) : 0;
    if (lane === "first") queue.hasFirst = left > 0;
    if (lane === "replay") queue.hasReplay = false;
    if (lane === "retry") queue.retryAtMs = undefined;
    if (left === 0 && lane !== "retry") return undefined;
    waiting[queue.webhook] = left - 1;
    return { number: left } as WaitingDelivery;
  },
};
const dueCalls = (maxConcurrent = 100, maxConcurrentPerWebhook = 2) =>
  new DueCalls(
    { maxConcurrent, maxConcurrentPerWebhook },
    {
      ...{ queues, deliverySource, mayBegin: () => true },
      begin: ({ webhook }, lane) => void begun.push(`${webhook} ${lane}`),
    },
  );

test("One request of each queue starts, then the next one of each, up to the bound of a webhook.", async () => {
  waiting = { 1: 3, 2: 1 };
  for (const queue of await open(1, 2)) queue.isQuick = true;
  expect(await dueCalls().begin(0)).toBe(false);
  expect(begun).toEqual(["1 first", "2 first", "1 first"]);
});

test("A strict webhook has one request at a time.", async () => {
  waiting = { 9: 3 };
  queues.refill(9);
  await dueCalls().begin(0);
  expect(begun).toEqual(["9 first"]);
});

test("At most 32 requests start per run.", async () => {
  for (let webhook = 100; webhook < 140; webhook++) {
    waiting[webhook] = 1;
    queues.refill(webhook);
  }
  const due = dueCalls();
  expect(await due.begin(0)).toBe(true);
  expect(begun).toHaveLength(32);
  expect(await due.begin(0)).toBe(false);
  expect(begun).toHaveLength(40);
});

test("The next retry determines the next run, and an empty queue is dropped from memory.", async () => {
  states[1] = { retryAtMs: 700 };
  for (const webhook of [1, 2]) queues.refill(webhook);
  const due = dueCalls();
  expect(await due.begin(0)).toBe(false);
  expect([...queues.all()].map(({ webhook }) => webhook)).toEqual([1]);
  expect(due.nextMs()).toBe(700);
  await due.begin(700);
  expect(begun).toEqual(["1 retry"]);
  expect(due.nextMs()).toBeUndefined();
});

test("A changed webhook is read again.", async () => {
  const [queue] = await open(1);
  Object.assign(present(queue), { pausedUntilMs: 900, hasFirst: false, ahead: [{ number: 7 }] });
  states[1] = { isStrict: true, retryAtMs: 5, hasRetraction: true };
  queues.refill(1);
  queues.reset(1);
  queues.refill(1);
  await queues.refresh();
  expect(queue).toMatchObject({
    pausedUntilMs: 0,
    hasFirst: true,
    ahead: [],
    isStrict: true,
    retryAtMs: 5,
    hasRetraction: true,
  });
});

test("A change that is reported while states are read is applied by the next read.", async () => {
  const [queue] = await open(1);
  queues.refill(1);
  const reading = queues.refresh();
  queues.reset(1);
  await reading;
  present(queue).hasFirst = false;
  await queues.refresh();
  expect(present(queue).hasFirst).toBe(true);
});

test("A change is kept if the database fails while states are read.", async () => {
  let isDown = true;
  const kept = new Queues({
    owns: () => true,
    latestMs: () => Number.MAX_SAFE_INTEGER,
    deliveryQueue: {
      async states() {
        if (isDown) throw new Error("down");
        return [NONE];
      },
    },
  });
  kept.refill(1);
  await expect(kept.refresh()).rejects.toThrow("down");
  expect([...kept.all()]).toEqual([]);
  isDown = false;
  await kept.refresh();
  expect([...kept.all()]).toMatchObject([{ webhook: 1, hasFirst: true }]);
});

test.each<[string, (owned: Set<number>) => void]>([
  ["given up", (owned) => owned.delete(1)],
  ["removed", () => queues.remove(1)],
  ["restarted", () => queues.restart(1)],
])("A call that was read from a queue does not start if the queue was %s meanwhile.", async (_, change) => {
  const webhooks = new Set([1]);
  owned = webhooks;
  waiting = { 1: 1 };
  queues.refill(1);
  const next = async (queue: Queue, lane: Lane) => {
    const delivery = await deliverySource.next(queue, lane);
    change(webhooks);
    return delivery;
  };
  const due = new DueCalls(
    { maxConcurrent: 100, maxConcurrentPerWebhook: 2 },
    {
      ...{ queues, deliverySource: { ...deliverySource, next }, mayBegin: () => true },
      begin: () => begun.push("called"),
    },
  );
  await due.begin(0);
  expect(begun).toEqual([]);
});

test("An outcome changes its queue when it is on disk, and is kept if the write fails.", async () => {
  let isFull = true;
  const outcomes = new Outcomes({
    deliveryQueue: {
      async record(recorded) {
        if (isFull) throw new Error("disk full");
        return recorded.map(() => ({ isCurrent: true, failures: 1 }));
      },
    },
    queues,
    consequences: {
      decide: ({ webhook }) => ({
        webhook,
        delivery: 1,
        attempt: { startedMs: 0, durationMs: 0 },
        atMs: 0,
      }),
      conclude: () => ({ probeMs: 50, requestedMs: 0 }),
    },
    clock: { steadyMs: () => 1_000 },
  });
  const [queue] = await open(1);
  queues.begin(present(queue), "first");
  outcomes.add({
    webhook: 1,
    queue,
    lane: "first",
    attempted: { reason: "HTTP 500" },
  } as unknown as Unwritten);
  await expect(outcomes.write()).rejects.toThrow("disk full");
  expect([outcomes.waiting(), present(queue).running.first, present(queue).pausedUntilMs]).toEqual([1, 1, 0]);
  isFull = false;
  states[1] = { retryAtMs: 1_050 };
  await outcomes.write();
  expect([outcomes.waiting(), present(queue).running.first, present(queue).pausedUntilMs]).toEqual([
    0, 0, 1_050,
  ]);
  await queues.refresh();
  expect(present(queue).retryAtMs).toBe(1_050);
});

test("A write that lasts blocks no run. The next run applies its outcomes, or reports its failure and writes them again.", async () => {
  const writes: PromiseWithResolvers<void>[] = [];
  let ended = 0;
  const settled: number[] = [];
  const outcomes = new Outcomes({
    deliveryQueue: {
      async record(recorded) {
        const write = Promise.withResolvers<void>();
        writes.push(write);
        await write.promise;
        return recorded.map(() => ({ isCurrent: true, failures: 0 }));
      },
    },
    queues,
    consequences: {
      decide: ({ webhook }) => ({ webhook, delivery: 1, attempt: { startedMs: 0, durationMs: 0 }, atMs: 0 }),
      conclude: () => ({ probeMs: 0, requestedMs: 0 }),
    },
    clock: { steadyMs: () => 0 },
    onSettled: ({ webhook }) => settled.push(webhook),
    onWriteEnded: () => ended++,
  });
  const add = async (webhook: number) => {
    const queue = present((await open(webhook))[0]);
    queues.begin(queue, "first");
    outcomes.add({ webhook, queue, lane: "first", attempted: {} } as unknown as Unwritten);
    return queue;
  };
  const first = await add(1);
  await outcomes.write();
  await add(2);
  await outcomes.write();
  expect([writes.length, outcomes.waiting(), outcomes.isWriting(), first.running.first]).toEqual([
    1,
    1,
    true,
    1,
  ]);
  present(writes[0]).resolve();
  await expect.poll(() => ended).toBe(1);
  // What a run reads before it calls `write` may still contain the delivery.
  expect([settled, first.running.first, outcomes.isWriting()]).toEqual([[], 1, false]);
  await outcomes.write();
  expect([settled, first.running.first, writes.length]).toEqual([[1], 0, 2]);
  present(writes[1]).reject(new Error("disk full"));
  await expect.poll(() => ended).toBe(2);
  await expect(outcomes.write()).rejects.toThrow("disk full");
  expect([outcomes.waiting(), outcomes.isWriting()]).toEqual([1, false]);
  await outcomes.write();
  const all = outcomes.writeAll();
  present(writes[2]).resolve();
  await all;
  expect([settled, outcomes.waiting(), writes.length]).toEqual([[1, 2], 0, 3]);
});
