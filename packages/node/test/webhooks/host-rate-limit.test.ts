import { expect, test } from "vitest";
import { always, blockApplied, createService } from "../../test-support/webhooks/support.ts";

const open = (maxPerSecondPerHost: number) =>
  createService({ options: { maxPerSecondPerHost, maxConcurrentPerWebhook: 100 } });

/** Deliveries by host, each with the time since the first one. */
function timesOf({ calls }: ReturnType<typeof open>, host: string): number[] {
  const startMs = calls[0]!.atMs;
  return calls.filter(({ target }) => new URL(target).host === host).map(({ atMs }) => atMs - startMs);
}

const many = (count: number) => Array.from({ length: count }, (_, index) => blockApplied(index + 1));

test("a host gets so many deliveries a second, from all webhooks together", async () => {
  const service = open(10);
  const { webhooks, emit, clock, calls } = service;
  for (const path of ["a", "b"]) {
    await webhooks.register.create(always("block.applied", `https://one.example/${path}`));
  }
  await webhooks.register.create(always("block.applied", "https://two.example/"));
  await emit(...many(20));
  // What it may have in a second comes at once, and the rest evenly.
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

test("without a limit no call waits", async () => {
  const service = open(0);
  await service.webhooks.register.create(always("block.applied", "https://one.example/"));
  await service.emit(...many(50));
  expect(timesOf(service, "one.example")).toHaveLength(50);
});

test("closing does not wait for delayed calls, and they are made after the next start", async () => {
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
