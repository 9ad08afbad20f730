import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { HostRates, limitRate } from "../../src/webhooks/delivery/host-rate-limit.ts";
import {
  always,
  blockApplied,
  blockReverted,
  createService,
  createTestClock,
  settle,
} from "../../test-support/webhooks/support.ts";

const open = (webhookHostRate: number) =>
  createService({ options: { webhookHostRate, maxConcurrentPerWebhook: 100 } });

/** Deliveries by host, each with the time since the first one. */
function timesOf({ calls }: ReturnType<typeof open>, host: string): number[] {
  const startMs = present(calls[0]).atMs;
  return calls.filter(({ target }) => new URL(target).host === host).map(({ atMs }) => atMs - startMs);
}

const many = (count: number) => Array.from({ length: count }, (_, index) => blockApplied(index + 1));

test("A host receives a limited number of deliveries per second, from all webhooks together.", async () => {
  const service = open(10);
  const { webhooks, emit, clock, calls } = service;
  for (const path of ["a", "b"]) {
    await webhooks.register.create(always("block.applied", `https://one.example/${path}`));
  }
  await webhooks.register.create(always("block.applied", "https://two.example/"));
  await emit(...many(20));
  // The burst of a second is sent at once, and the rest evenly.
  expect(timesOf(service, "one.example")).toHaveLength(11);
  expect(timesOf(service, "two.example")).toHaveLength(11);
  await clock.advance(1_000);
  expect(timesOf(service, "one.example")).toHaveLength(21);
  expect(timesOf(service, "two.example")).toHaveLength(20);
  await clock.advance(10_000);
  expect(timesOf(service, "one.example").slice(11)).toEqual(
    Array.from({ length: 29 }, (_, index) => (index + 1) * 100),
  );
  expect(calls.filter(({ target }) => target.endsWith("/a")).map(({ message }) => message.height)).toEqual(
    many(20).map(({ height }) => height),
  );
});

test("Other spellings of a NATS server count as the same host.", async () => {
  const service = open(10);
  for (const host of ["nats.example", "NATS.Example:4222", "TLS://user@nats.example:04222"]) {
    const target = host.includes("//") ? `${host}/chain` : `nats://${host}/chain`;
    await service.webhooks.register.create(always("block.applied", target));
  }
  await service.emit(...many(10));
  expect(service.calls).toHaveLength(11);
});

test("A retraction is sent as soon as the rate of its host allows it.", async () => {
  const { webhooks, emit, clock, calls } = open(1);
  await webhooks.register.create(always("block.applied", "https://one.example/a"));
  await webhooks.register.create(always("round.applied", "https://one.example/b"));
  await emit(blockApplied(1));
  await clock.advance(10_000);
  const round = (number: number) => ({ id: `round.applied:x:${number}`, name: "round.applied", height: 5 });
  await emit({ ...round(1), blockId: "x" }, { ...round(2), blockId: "x" });
  await emit(blockReverted(1), blockApplied(2));
  expect(calls).toHaveLength(3);
  await clock.advance(10_000);
  expect(calls.slice(3).map(({ message }) => [message.event, message.height])).toEqual([
    ["block.reverted", 1],
    ["block.applied", 2],
  ]);
});

test("A service without a limit makes no request wait.", async () => {
  const service = open(0);
  await service.webhooks.register.create(always("block.applied", "https://one.example/"));
  await service.emit(...many(50));
  expect(timesOf(service, "one.example")).toHaveLength(50);
});

test("A close does not wait for delayed requests, and they are sent after the next start.", async () => {
  const service = open(1);
  await service.webhooks.register.create(always("block.applied", "https://one.example/"));
  await service.emit(...many(5));
  expect(service.calls).toHaveLength(2);
  const closed = service.webhooks.close();
  await service.clock.advance(0);
  await closed;
  const left = service.database.prepare<{ count: number }>(
    "SELECT count(*) AS count FROM deliveries WHERE state = 'pending'",
  );
  expect(left.get()).toEqual({ count: 3 });
});

/** Time of a clock that was set back, or forward. */
function createClock() {
  const clock = createTestClock();
  let backMs = 0;
  return {
    ...clock,
    nowMs: () => clock.nowMs() - backMs,
    setBack(ms: number) {
      backMs += ms;
    },
  };
}

test("A clock that is set back delays no request.", async () => {
  const clock = createClock();
  const service = createService({
    clock,
    options: { webhookHostRate: 10, maxConcurrentPerWebhook: 100 },
  });
  await service.webhooks.register.create(always("block.applied", "https://one.example/"));
  await service.emit(...many(15));
  clock.setBack(3_600_000);
  await service.emit(...many(40).slice(15));
  expect(service.calls.length).toBeLessThan(20);
  await clock.advance(4_000);
  expect(service.calls).toHaveLength(40);
});

test("A clock that is set forward permits no more requests.", async () => {
  const clock = createClock();
  const service = createService({
    clock,
    options: { webhookHostRate: 10, maxConcurrentPerWebhook: 100 },
  });
  await service.webhooks.register.create(always("block.applied", "https://one.example/"));
  await service.emit(...many(15));
  const before = service.calls.length;
  clock.setBack(-3_600_000);
  await service.emit(...many(40).slice(15));
  expect(service.calls).toHaveLength(before);
});

test("Requests that wait for their host leave the shared slots to others.", async () => {
  const service = createService({
    options: { webhookHostRate: 1, maxConcurrent: 8, maxConcurrentPerWebhook: 8 },
    reply: () => "never",
  });
  const { webhooks, emit, calls } = service;
  for (let id = 1; id <= 10; id++) {
    await webhooks.register.create(always("block.applied", `https://limited.example/${id}`));
  }
  for (const host of ["a", "b"])
    await webhooks.register.create(always("block.applied", `https://${host}.example/`));
  await emit(...many(8));
  const free = calls.filter(({ target }) => !target.includes("limited"));
  // Two each at once: the burst of a second.
  expect(free).toHaveLength(4);
  expect(calls).toHaveLength(6);
});

test("Requests that waited leave nothing in memory.", async () => {
  const clock = createTestClock();
  let made = 0;
  const attempt = limitRate(
    async () => {
      made++;
      return { startedMs: 0, durationMs: 1, status: 200 };
    },
    new HostRates(10, clock),
    clock,
  );
  const { signal } = new AbortController();
  const message = { target: "https://one.example/" } as Parameters<typeof attempt>[0];
  const calls = Array.from({ length: 100 }, () => attempt(message, signal));
  await clock.advance(20_000);
  await Promise.all(calls);
  expect([made, getEventListeners(signal, "abort")]).toEqual([100, []]);
});

test("A waiting request ends with its signal.", async () => {
  const clock = createTestClock();
  const attempt = limitRate(
    async () => ({ startedMs: 0, durationMs: 1, status: 200 }),
    new HostRates(1, clock),
    clock,
  );
  const abort = new AbortController();
  const message = { target: "https://one.example/" } as Parameters<typeof attempt>[0];
  const calls = Array.from({ length: 4 }, () => attempt(message, abort.signal));
  await settle();
  abort.abort();
  expect((await Promise.all(calls)).filter((ended) => ended === undefined)).toHaveLength(2);
});
