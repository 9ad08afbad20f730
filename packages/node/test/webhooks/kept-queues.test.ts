/** Queues of webhooks that are paused, resumed, or redefined: no delivery is lost (webhooks.md 4.4). */
import { describe, expect, test, vi } from "vitest";
import { createDeliveryRows } from "../../test-support/webhooks/sqlite-register.ts";
import {
  always,
  blockApplied,
  blockReverted,
  type Call,
  createService,
  createTestClock,
  databasePath,
  heights,
  type Reply,
  type Service,
  type ServiceOptions,
  settle,
} from "../../test-support/webhooks/support.ts";

const WRONG = "https://wrong.example/";
const RIGHT = "https://right.example/";

/** A service with a target that fails, and one that accepts deliveries. */
function createMoving({ failure = 500, ...options }: ServiceOptions & { failure?: Reply } = {}) {
  const service = createService({
    ...options,
    reply: ({ target }) => (target === RIGHT ? 200 : failure),
  });
  return { ...service, received: () => service.calls.filter(({ target }) => target === RIGHT) };
}

const blocks = (count: number) => Array.from({ length: count }, (_, index) => blockApplied(index + 1));
const to = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
const sequences = (calls: readonly Call[]) => calls.map(({ message }) => message.sequence);
const idsOf = (calls: readonly Call[]) => calls.map(({ message }) => message.id);

describe("a webhook with another target", () => {
  test.each(["parallel", "strict"])(
    "A webhook with another target sends its complete queue to it at once, in order: %s.",
    async (order) => {
      const { webhooks, emit, clock, log, received } = createMoving();
      await webhooks.register.create({ ...always("block.applied", WRONG), order });
      for (const block of blocks(60)) await emit(block);
      await clock.advance(3_600_000);
      const ids = log(1, 100).map(({ id }) => id);
      await webhooks.register.update("1", { target: RIGHT });
      while (received().length < 60) await settle();
      await settle();
      expect([heights(received()), sequences(received())]).toEqual([to(60), to(60)]);
      expect(idsOf(received())).toEqual(ids.toReversed());
      expect(log(1, 100).every(({ state }) => state === "delivered")).toBe(true);
    },
  );

  test.each(["parallel", "strict"])(
    "A webhook with another target does not wait for requests to the former one: %s.",
    async (order) => {
      const { webhooks, emit, received, log } = createMoving({ failure: "never" });
      await webhooks.register.create({ ...always("block.applied", WRONG), order });
      await emit(...blocks(20));
      await webhooks.register.update("1", { target: RIGHT });
      while (received().length < 20) await settle();
      await settle();
      expect(heights(received())).toEqual(to(20));
      expect(log(1, 1)).toMatchObject([{ state: "delivered", attempts: [{ status: 200 }] }]);
    },
  );

  test("A webhook with another target retracts facts that it received, and not those of the former one.", async () => {
    let isDown = false;
    const { webhooks, emit, calls } = createService({
      reply: ({ target }) => (target === WRONG && isDown ? 500 : 200),
    });
    await webhooks.register.create(always("block.applied", WRONG));
    await emit(blockApplied(1));
    isDown = true;
    await emit(blockApplied(2));
    await webhooks.register.update("1", { target: RIGHT });
    await settle();
    await emit(blockReverted(2), blockReverted(1));
    const received = calls.filter(({ target }) => target === RIGHT);
    expect(received.map(({ message: { event, height } }) => [event, height])).toEqual([
      ["block.applied", 2],
      ["block.reverted", 2],
    ]);
    expect(received[1]?.message.reverts).toBe(received[0]?.message.id);
  });

  test("A webhook with another target has the full retry schedule for each delivery, and ignores former failures.", async () => {
    const { webhooks, emit, clock, calls } = createService({
      options: { retryPausesMs: [1_000, 1_000], suspendAfterMs: 5_000 },
      reply: () => 500,
    });
    await webhooks.register.create(always("block.applied", WRONG));
    await emit(blockApplied(1));
    await clock.advance(1_500);
    await webhooks.register.update("1", { target: RIGHT });
    await clock.advance(60_000);
    expect(calls.map(({ target }) => target)).toEqual([WRONG, WRONG, RIGHT, RIGHT, RIGHT]);
  });

  test("A webhook with another target keeps its queue over a restart in between, however long the queue is.", async () => {
    const path = databasePath();
    const clock = createTestClock();
    const first = createMoving({ path, clock, failure: "never" });
    await first.webhooks.register.create(always("block.applied", WRONG));
    fill(first, 5_000);
    await first.webhooks.register.update("1", { target: RIGHT });
    await first.close();
    const second = createMoving({ path, clock });
    second.webhooks.notify();
    await clock.advance(1_000);
    while (second.log(1, 1)[0]?.state === "pending") await settle();
    expect([...first.received(), ...second.received()].map(({ message }) => message.sequence)).toEqual(
      to(5_000),
    );
  });
});

/** Inserts deliveries into the queue, most of them as retries that are due tomorrow. */
function fill({ database }: Pick<Service, "database">, length: number): void {
  const deliveries = createDeliveryRows(database);
  const content = deliveries.insertContent();
  database.transaction(() => {
    for (let index = 0; index < length; index++) {
      const message = { webhook: 1, id: `${index}`, sequence: index + 1, event: "block.applied" };
      const number = deliveries.insert({ ...message, height: index + 1, content }, 0);
      if (index % 4 !== 0) deliveries.postpone(number, 2_000_000_000_000, "HTTP 500");
    }
  });
}

describe("a paused webhook", () => {
  test("A paused webhook keeps its queue, sends nothing, and continues at once when it is resumed.", async () => {
    let status = 500;
    const { webhooks, emit, calls, clock, log } = createService({ reply: () => status });
    await webhooks.register.create(always());
    for (const block of blocks(40)) await emit(block);
    await webhooks.register.update("1", { enabled: false });
    const before = calls.length;
    status = 200;
    await emit(blockApplied(41));
    await clock.advance(86_400_000);
    expect(calls).toHaveLength(before);
    await webhooks.register.update("1", { enabled: true });
    while (calls.length < before + 40) await settle();
    await settle();
    expect(sequences(calls.slice(before))).toEqual(to(40));
    expect(log(1, 100).map(({ state }) => state)).toEqual(to(40).map(() => "delivered"));
    await emit(blockApplied(42));
    expect(calls.at(-1)?.message).toMatchObject({ height: 42, sequence: 41 });
  });

  test("A paused webhook keeps its queue over a restart.", async () => {
    const path = databasePath();
    const clock = createTestClock();
    const first = createService({ path, clock, reply: () => 500 });
    await first.webhooks.register.create(always());
    await first.emit(...blocks(5));
    await first.webhooks.register.update("1", { enabled: false });
    await first.close();
    const second = createService({ path, clock });
    second.webhooks.notify();
    await clock.advance(86_400_000);
    expect(second.calls).toEqual([]);
    await second.webhooks.register.update("1", { enabled: true });
    await settle();
    expect(heights(second.calls)).toEqual(to(5));
  });

  test("A paused webhook queues events that occurred before, even unmatched ones.", async () => {
    const { webhooks, eventLog, database, calls } = createService();
    await webhooks.register.create(always());
    database.transaction(() => eventLog.append(blocks(700)));
    // The update waits for two seconds at most, in which a busy machine may not match all events.
    const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now());
    await webhooks.register.update("1", { enabled: false }).finally(() => clock.mockRestore());
    await webhooks.register.update("1", { enabled: true });
    while (calls.length < 700) await settle();
    expect(heights(calls)).toEqual(to(700));
  });

  test("A paused webhook retracts a fact of its queue after the fact, with another target as well.", async () => {
    const { webhooks, emit, received } = createMoving({ failure: "never" });
    await webhooks.register.create({ ...always("block.applied", WRONG), order: "strict" });
    await emit(...blocks(3));
    await webhooks.register.update("1", { enabled: false });
    await emit(blockReverted(3));
    await webhooks.register.update("1", { target: RIGHT, enabled: true });
    await settle();
    expect(received().map(({ message: { event, height } }) => [event, height])).toEqual([
      ["block.applied", 1],
      ["block.applied", 2],
      ["block.applied", 3],
      ["block.reverted", 3],
    ]);
    expect(received()[3]?.message.reverts).toBe(received()[2]?.message.id);
  });
});

describe("a webhook with another definition", () => {
  test("A webhook with another definition sends events that matched the former one, and then those of the new one.", async () => {
    const { webhooks, emit, calls, clock } = createService({ reply: () => 500 });
    await webhooks.register.create({ ...always(), order: "strict" });
    await emit(...blocks(3));
    await webhooks.register.update("1", { event: "block.forged", events: null, order: "parallel" });
    await emit(blockApplied(4), { ...blockApplied(5), id: "f", name: "block.forged" });
    await clock.advance(60_000);
    expect(new Set(heights(calls))).toEqual(new Set([1, 2, 3, 5]));
  });

  test("A webhook with another definition cancels its queue with an update for only that, and logs the number.", async () => {
    const { webhooks, emit, calls, clock, log } = createService({ reply: () => 500 });
    await webhooks.register.create(always());
    await emit(...blocks(3));
    await webhooks.register.update("1", { queue: "keep" });
    expect(log(1, 9).map(({ state }) => state)).toEqual(["pending", "pending", "pending"]);
    await webhooks.register.update("1", { queue: "drop" });
    const before = calls.length;
    await clock.advance(86_400_000);
    expect(calls).toHaveLength(before);
    expect(log(1, 9)).toMatchObject(
      to(3).map(() => ({ state: "cancelled", reason: "the webhook was updated" })),
    );
  });

  test.each(["no", true, null, 1])(
    "A webhook with another definition refuses %j for the queue.",
    async (queue) => {
      const { webhooks } = createService();
      await webhooks.register.create({ ...always(), queue: "drop" });
      await expect(webhooks.register.update("1", { queue })).rejects.toThrow('"queue" must be');
    },
  );
});
