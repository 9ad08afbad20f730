/** Webhooks whose conditions are designed to keep the node busy. */
import { expect, onTestFinished, test } from "vitest";
import type { Event } from "../../src/events/catalogue.ts";
import { present } from "../../src/platform/present.ts";
import { MAX_EVENT_STEPS } from "../../src/subscriptions/conditions/cost.ts";
import type { MatchingObserver } from "../../src/subscriptions/conditions/slices.ts";
import { DEFAULT_WEBHOOK_OPTIONS } from "../../src/webhooks/options.ts";
import { always, createService, databasePath, settle } from "../../test-support/webhooks/support.ts";

const text = (length: number) => Array.from({ length }, (_, index) => "ab"[((index * 7) % 3) % 2]).join("");
const happened = (count: number, length = 200): Event => ({
  id: `peer.added:${count}`,
  name: "peer.added",
  data: { ip: `${count}`, text: text(length) },
});
const expensive = {
  event: "peer.added",
  target: "http://expensive.example/",
  conditions: [
    // Matches at once if it is evaluated first; the others never stop costing.
    ...Array.from({ length: 49 }, () => ({
      key: "text",
      condition: "regexp",
      value: "(a|b)*a(a|b){3}[^ab]{9}",
    })),
    { key: "ip", condition: "ne", value: "" },
  ],
};

test("A webhook whose conditions cost too much is suspended with the reason, and others receive every event once.", async () => {
  const seen = { slowed: 0, suspended: 0 };
  const matching: MatchingObserver = {
    spent() {},
    slowed: () => void seen.slowed++,
    suspended: () => void seen.suspended++,
  };
  const { webhooks, emit, calls } = createService({ matching });
  for (let count = 0; count < 10; count++) await webhooks.register.create(expensive);
  await webhooks.register.create(always("peer.added"));
  for (let count = 0; count < 40; count++) await emit(happened(count));
  await expect
    .poll(async () =>
      (await webhooks.register.list({ offset: 0, limit: 20 })).webhooks.filter(({ suspended }) => suspended),
    )
    .toHaveLength(10);
  expect(seen).toEqual({ slowed: 10, suspended: 10 });
  expect(present((await webhooks.register.find("1")).suspended).reason).toMatch(
    /^the conditions take more than \d+ steps per event on average$/,
  );
  const ids = calls.filter(({ target }) => !target.includes("expensive")).map(({ message }) => message.data);
  expect(ids).toHaveLength(40);
  expect(new Set(ids.map((data) => (data as { ip: string }).ip)).size).toBe(40);
});

test("A suspended webhook has received all earlier events, and an update reactivates it.", async () => {
  const { webhooks, emit, calls } = createService();
  await webhooks.register.create(expensive);
  for (let count = 0; count < 40; count++) await emit(happened(count));
  const sent = calls.map(({ message }) => (message.data as { ip: string }).ip);
  expect(sent).toEqual(Array.from(sent, (_, index) => `${index}`));
  expect(sent.length).toBeGreaterThan(5);
  expect(sent.length).toBeLessThan(40);
  await webhooks.register.update("1", { conditions: [{ key: "ip", condition: "ne", value: "" }] });
  await emit(happened(100));
  expect(present(calls.at(-1)).message.data).toMatchObject({ ip: "100" });
});

test("A process that ends between two slices matches every event exactly once.", async () => {
  const path = databasePath();
  const first = createService({ path });
  for (let count = 0; count < 3; count++)
    await first.webhooks.register.create({ ...expensive, events: ["peer.removed"] });
  const length = 4;
  const events = Array.from({ length: 120 }, (_, count) => happened(count, length));
  void first.emit(...events);
  await first.close();
  const before = first.calls.length;
  const second = createService({ path });
  onTestFinished(second.close);
  second.webhooks.notify();
  await expect
    .poll(() => new Set([...first.calls, ...second.calls].map(({ message }) => `${message.id}`)).size)
    .toBe(360);
  const numbers = second.database
    .prepare<{ webhook: number; count: number; last: number }>(
      "SELECT webhook, count(*) AS count, max(sequence) AS last FROM deliveries GROUP BY webhook",
    )
    .all();
  expect(before).toBeLessThan(360);
  expect(numbers.map(({ count, last }) => [count, last])).toEqual(Array(3).fill([120, 120]));
});

/** Returns an event that exceeds the step limit. */
function happenedAtLength(count: number): Event {
  const elements = Math.ceil(MAX_EVENT_STEPS / 49 / 200 / 10);
  return { ...happened(count), data: Array.from({ length: elements }, () => ({ text: text(200) })) };
}

test("A suspended webhook gets no delivery that was read ahead before.", async () => {
  const { promise: responded, resolve: respond } = Promise.withResolvers<number>();
  // A target that responds quickly gets its deliveries read ahead.
  const service = createService({ reply: () => (service.calls.length <= 4 ? 200 : responded) });
  const { webhooks, emit, calls } = service;
  await webhooks.register.create(expensive);
  await emit(...Array.from({ length: 40 }, (_, index) => happened(index, 1)));
  const begun = 4 + DEFAULT_WEBHOOK_OPTIONS.maxConcurrentPerWebhook;
  expect(calls).toHaveLength(begun);
  await emit(happenedAtLength(40));
  expect(await webhooks.register.find("1")).toHaveProperty("suspended");
  respond(200);
  await settle();
  expect(calls).toHaveLength(begun);
});

test("One event that exceeds the step limit suspends the webhook, and matching continues.", async () => {
  const { webhooks, emit, calls } = createService();
  await webhooks.register.create(expensive);
  await emit(happenedAtLength(0));
  expect(present((await webhooks.register.find("1")).suspended).reason).toBe(
    `the conditions take more than ${MAX_EVENT_STEPS} steps for one event`,
  );
  await webhooks.register.create(always("peer.added"));
  await emit(happened(1));
  await settle();
  expect(calls).toHaveLength(1);
});

test("A dry run of conditions that cost too much is refused with the reason.", async () => {
  const { webhooks } = createService({
    chain: Array.from({ length: 60 }, (_, height) => [{ ...happened(height), name: "block.applied" }]),
  });
  const body = { ...expensive, event: "block.applied", blocks: 60 };
  await expect(webhooks.dryRun(body)).rejects.toThrow(
    '"conditions" are too expensive: the conditions take more than',
  );
});

test("Patterns that are too large together are refused.", async () => {
  const { webhooks } = createService();
  const conditions = Array.from({ length: 20 }, () => ({
    key: "text",
    condition: "regexp",
    value: "a{100}",
  }));
  await expect(webhooks.register.create({ ...expensive, conditions })).rejects.toThrow("1024 instructions");
});
