/** Deliveries of a block that is reverted. */
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Event } from "../../src/events/catalogue.ts";
import { present } from "../../src/platform/present.ts";
import type { Database } from "../../src/store/engine/database.ts";
import {
  always,
  blockApplied,
  blockReverted,
  type Call,
  createService,
  databasePath,
  type Reply,
  settle,
} from "../../test-support/webhooks/support.ts";

const transaction = (height: number, index: number): Event => ({
  id: `transaction.applied:block${height}:${index}`,
  name: "transaction.applied",
  height,
  blockId: `block${height}`,
  data: { id: `t${height}.${index}`, amount: "9007199254740993" },
});
const transactionReverted = (height: number, index: number): Event => ({
  ...transaction(height, index),
  id: `transaction.reverted:block${height}:${index}`,
  name: "transaction.reverted",
  reverts: transaction(height, index).id,
});
const block = (height: number, transactions = 1): Event[] => [
  ...Array.from({ length: transactions }, (_, index) => transaction(height, index)),
  blockApplied(height),
];
const undo = (height: number, transactions = 1): Event[] => [
  ...Array.from({ length: transactions }, (_, index) => transactionReverted(height, index)).reverse(),
  blockReverted(height),
];
/** Returns another block of the same height. */
const other = (height: number): Event => ({
  ...blockApplied(height),
  id: `block.applied:other${height}`,
  blockId: `other${height}`,
});
const facts = { ...always(), events: ["transaction.applied"] };

const saw = (calls: readonly Call[]) => calls.map(({ message }) => `${message.event} ${message.blockId}`);
/** Returns, for each request, the position of the request whose id it retracts. */
const pairs = (calls: readonly Call[]) =>
  calls.map(({ message }) => calls.findIndex((call) => call.message.id === message.reverts));

describe("a delivered fact", () => {
  test("A delivered fact is retracted by deliveries that name it, with its content, in the log as well.", async () => {
    const { webhooks, emit, calls, log } = createService();
    await webhooks.register.create(facts);
    await emit(...block(7, 2));
    await emit(...undo(7, 2), other(7));
    expect(calls.map(({ message }) => message.event)).toEqual([
      "transaction.applied",
      "transaction.applied",
      "block.applied",
      "transaction.reverted",
      "transaction.reverted",
      "block.reverted",
      "block.applied",
    ]);
    expect(pairs(calls)).toEqual([-1, -1, -1, 1, 0, 2, -1]);
    expect(calls.map(({ message }) => message.sequence)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    for (const [taking, taken] of [
      [3, 1],
      [4, 0],
      [5, 2],
    ] as const) {
      const { data, height, blockId } = present(calls[taken]).message;
      expect(present(calls[taking]).message).toMatchObject({ data, height, blockId });
    }
    expect(log(1, 10).map(({ isUndone = false }) => isUndone)).toEqual([
      ...[false, false, false, false],
      ...[true, true, true],
    ]);
  });

  test("A delivered fact is retracted once, whether the webhook subscribes to reverts or not.", async () => {
    const { webhooks, emit, calls } = createService();
    await webhooks.register.create(always());
    await webhooks.register.create({ ...always(), events: ["block.reverted"] });
    await emit(blockApplied(1), blockReverted(1));
    const of = (webhook: number) => calls.filter(({ message }) => message.webhookId === webhook);
    expect(saw(of(1))).toEqual(["block.applied block1", "block.reverted block1"]);
    expect(saw(of(2))).toEqual(["block.applied block1", "block.reverted block1"]);
    expect([pairs(of(1)), pairs(of(2))]).toEqual([
      [-1, 0],
      [-1, 0],
    ]);
  });

  test("A delivered fact is the only kind that is retracted.", async () => {
    const { webhooks, emit, calls } = createService();
    await webhooks.register.create({
      ...always(),
      conditions: [{ key: "height", condition: "eq", value: "1" }],
    });
    await emit(blockApplied(1), blockApplied(2), blockReverted(2), blockReverted(1));
    expect(saw(calls)).toEqual(["block.applied block1", "block.reverted block1"]);
  });

  test("A delivered fact is not sent again.", async () => {
    const { webhooks, emit, calls } = createService();
    await webhooks.register.create(always());
    await emit(blockApplied(1), blockReverted(1));
    await expect(webhooks.log.retry("1", "1")).rejects.toThrow(
      expect.objectContaining({ code: "DELIVERY_UNDONE" }),
    );
    await webhooks.log.retry("1", "2");
    await settle();
    expect(saw(calls)).toEqual(["block.applied block1", "block.reverted block1", "block.reverted block1"]);
  });
});

test("A webhook that subscribes only to reverts receives those of blocks that were never delivered to it.", async () => {
  const { webhooks, emit, calls } = createService();
  await webhooks.register.create(always("block.reverted"));
  await emit(blockApplied(1), blockReverted(1));
  expect(saw(calls)).toEqual(["block.reverted block1"]);
  expect(present(calls[0]).message).not.toHaveProperty("reverts");
});

test("The wallet after a revert is delivered in addition to the retraction of its former state.", async () => {
  const { webhooks, emit, calls } = createService();
  await webhooks.register.create(always("wallet.saved"));
  const saved = (balance: string, change: object = {}): Event => ({
    id: "wallet.saved:block1:A",
    name: "wallet.saved",
    height: 1,
    blockId: "block1",
    data: { address: "A", balance },
    ...change,
  });
  const after = saved("1", { id: "wallet.saved:block1:A:reverted", reverts: "wallet.saved:block1:A" });
  await emit(saved("2"), blockReverted(1), after, saved("2"), blockReverted(1), after);
  expect(calls.map(({ message }) => [message.event, (message.data as { balance: string }).balance])).toEqual([
    ["wallet.saved", "2"],
    ["wallet.saved.reverted", "2"],
    ["wallet.saved", "1"],
    ["wallet.saved", "2"],
    ["wallet.saved.reverted", "2"],
    ["wallet.saved", "1"],
  ]);
  expect(pairs(calls)).toEqual([-1, 0, -1, -1, 3, -1]);
  expect(new Set(calls.map(({ message }) => message.id)).size).toBe(6);
});

/** Service whose target responds when the test says so, by the kind and the block of the message. */
function createWaiting(order: string) {
  const open = new Map<string, (reply: Reply) => void>();
  const service = createService({
    reply: (call) => new Promise<Reply>((resolve) => open.set(present(saw([call])[0]), resolve)),
  });
  return {
    ...service,
    register: () => service.webhooks.register.create({ ...always(), order }),
    async respond(what: string, reply: Reply = 200) {
      present(open.get(what))(reply);
      await settle();
    },
  };
}

describe.each(["parallel", "strict"])("in %s order", (order) => {
  test("A delivery in flight ends before it is retracted, and fails for good.", async () => {
    const { register, emit, calls, respond, log, clock } = createWaiting(order);
    await register();
    await emit(blockApplied(1));
    await emit(blockReverted(1), other(1));
    expect(saw(calls)).toEqual(["block.applied block1"]);
    await respond("block.applied block1", 500);
    expect(saw(calls)).toEqual(["block.applied block1", "block.reverted block1"]);
    await respond("block.reverted block1");
    expect(saw(calls)).toEqual(["block.applied block1", "block.reverted block1", "block.applied other1"]);
    await clock.advance(3_600_000);
    expect(saw(calls)).toHaveLength(3);
    expect(log(1, 3).at(-1)).toMatchObject({
      state: "cancelled",
      isUndone: true,
      reason: "its block was undone",
      attempts: [{ status: 500 }],
    });
  });

  test("A delivery in flight that succeeds is retracted as well.", async () => {
    const { register, emit, calls, respond, log } = createWaiting(order);
    await register();
    await emit(blockApplied(1));
    await emit(blockReverted(1));
    await respond("block.applied block1");
    expect(saw(calls)).toEqual(["block.applied block1", "block.reverted block1"]);
    expect(log(1, 2).at(-1)).toMatchObject({ state: "delivered", isUndone: true });
  });

  test("A delivery that waits for its retry is not retried.", async () => {
    const { register, emit, calls, respond, clock } = createWaiting(order);
    await register();
    await emit(blockApplied(1));
    await respond("block.applied block1", 500);
    await emit(blockReverted(1), other(1));
    await respond("block.reverted block1");
    await respond("block.applied other1");
    await clock.advance(3_600_000);
    expect(saw(calls)).toEqual(["block.applied block1", "block.reverted block1", "block.applied other1"]);
  });

  test("A delivery without an attempt is sent first, in its order.", async () => {
    const { register, emit, calls, respond } = createWaiting(order);
    await register();
    await emit(blockApplied(1), blockReverted(1), other(1));
    for (const what of ["block.applied block1", "block.reverted block1", "block.applied other1"])
      await respond(what);
    expect(saw(calls)).toEqual(["block.applied block1", "block.reverted block1", "block.applied other1"]);
    expect(pairs(calls)).toEqual([-1, 0, -1]);
  });
});

test("A delivery that failed for good is retracted, because its receiver may have received it.", async () => {
  const { webhooks, emit, calls, log } = createService({
    options: { retryPausesMs: [] },
    reply: ({ message }) => (message.event === "block.applied" ? new Error("reset") : 200),
  });
  await webhooks.register.create(always());
  await emit(blockApplied(1));
  expect(log(1, 1)).toMatchObject([{ state: "failed" }]);
  await emit(blockReverted(1));
  expect(pairs(calls)).toEqual([-1, 0]);
  expect(await webhooks.log.retryAll("1", { since: 0 })).toEqual({ retried: 0 });
});

test("A retraction delays all later deliveries until it is acknowledged or fails for good.", async () => {
  const replies: Reply[] = [500, 500, 200, 500, 500];
  const { webhooks, emit, calls, clock } = createService({
    options: { retryPausesMs: [1_000, 2_000] },
    reply: ({ message }) => (message.event === "block.reverted" ? present(replies.shift()) : 200),
  });
  await webhooks.register.create(always());
  await emit(blockApplied(1), blockReverted(1), other(1));
  const delivered = ["block.applied block1", "block.reverted block1"];
  expect(saw(calls)).toEqual(delivered);
  await clock.advance(1_000);
  expect(saw(calls)).toEqual([...delivered, "block.reverted block1"]);
  await clock.advance(2_000);
  expect(saw(calls).slice(3)).toEqual(["block.reverted block1", "block.applied other1"]);
  calls.length = 0;
  await emit(blockApplied(2), blockReverted(2), other(2));
  await clock.advance(1_000);
  expect(saw(calls)).toEqual(["block.applied block2", "block.reverted block2", "block.reverted block2"]);
  replies.push(500);
  await clock.advance(2_000);
  expect(saw(calls).slice(3)).toEqual(["block.reverted block2", "block.applied other2"]);
});

describe("a disabled webhook whose block is reverted", () => {
  test("A disabled webhook whose block is reverted receives the retraction first when it is enabled again.", async () => {
    const { webhooks, emit, calls, clock } = createService();
    await webhooks.register.create(always());
    await emit(blockApplied(1));
    await webhooks.register.update("1", { enabled: false });
    await emit(blockReverted(1), other(1));
    await clock.advance(3_600_000);
    expect(saw(calls)).toEqual(["block.applied block1"]);
    await webhooks.register.update("1", { enabled: true });
    await emit(blockApplied(2));
    expect(saw(calls)).toEqual(["block.applied block1", "block.reverted block1", "block.applied block2"]);
    expect(pairs(calls)).toEqual([-1, 0, -1]);
  });

  test("A disabled webhook whose block is reverted receives the retraction first when a ping lifts its suspension.", async () => {
    const { webhooks, emit, calls, clock } = createService({
      reply: ({ message }) => (message.height === 2 && message.event === "block.applied" ? 410 : 200),
    });
    await webhooks.register.create(always());
    await emit(blockApplied(1), blockApplied(2));
    await emit(blockReverted(2), blockReverted(1), other(1));
    await clock.advance(3_600_000);
    expect(saw(calls)).toEqual(["block.applied block1", "block.applied block2"]);
    await webhooks.ping("1");
    await emit(blockApplied(3));
    expect(saw(calls).filter((what) => !what.startsWith("ping"))).toEqual([
      "block.applied block1",
      "block.applied block2",
      "block.reverted block2",
      "block.reverted block1",
      "block.applied block3",
    ]);
  });

  test("A disabled webhook receives queued retractions at another target, except for facts that it did not receive.", async () => {
    const { webhooks, emit, calls } = createService();
    await webhooks.register.create(always());
    await emit(blockApplied(1), blockApplied(2));
    await webhooks.register.update("1", { enabled: false });
    await emit(blockReverted(2));
    await webhooks.register.update("1", { target: "https://other.example/" });
    await webhooks.register.update("1", { enabled: true });
    await emit(blockReverted(1), blockApplied(3));
    expect(saw(calls)).toEqual([
      "block.applied block1",
      "block.applied block2",
      "block.reverted block2",
      "block.applied block3",
    ]);
  });

  test("A disabled webhook whose block is reverted receives nothing of a dropped queue at another target.", async () => {
    const { webhooks, emit, calls } = createService();
    await webhooks.register.create(always());
    await emit(blockApplied(1), blockApplied(2));
    await webhooks.register.update("1", { enabled: false });
    await emit(blockReverted(2));
    await webhooks.register.update("1", { target: "https://other.example/", queue: "drop" });
    await webhooks.register.update("1", { enabled: true });
    await emit(blockReverted(1), blockApplied(3));
    expect(saw(calls)).toEqual(["block.applied block1", "block.applied block2", "block.applied block3"]);
  });
});

describe("an update that drops the queue while a block is reverted", () => {
  test("An update that drops the queue while a block is reverted cancels the queue, except retractions.", async () => {
    let status = 500;
    const { webhooks, emit, calls, log, clock } = createService({ reply: () => status });
    await webhooks.register.create(always());
    await emit(blockApplied(1));
    await emit(blockReverted(1), other(1));
    await webhooks.register.update("1", {
      conditions: always().conditions,
      event: "state.started",
      queue: "drop",
    });
    expect(log(1, 3).map(({ event, state }) => [event, state])).toEqual([
      ["block.applied", "cancelled"],
      ["block.reverted", "pending"],
      ["block.applied", "cancelled"],
    ]);
    status = 200;
    await clock.advance(5_000);
    expect(saw(calls).at(-1)).toBe("block.reverted block1");
    expect(log(1, 2).at(-1)).toMatchObject({ state: "delivered", reverts: present(log(1, 3).at(-1)).id });
  });

  test("An update that drops the queue for another target leaves only retractions of deliveries that it received.", async () => {
    const { webhooks, emit, calls } = createService();
    await webhooks.register.create(always());
    await emit(blockApplied(1), blockApplied(2));
    await webhooks.register.update("1", { target: "https://other.example/", queue: "drop" });
    await webhooks.log.retry("1", "1");
    await settle();
    await emit(blockReverted(2), blockReverted(1));
    expect(saw(calls).slice(2)).toEqual(["block.applied block1", "block.reverted block1"]);
    expect(calls.slice(2).every(({ target }) => target.includes("other"))).toBe(true);
  });
});

describe("a dropped queue", () => {
  test("A dropped queue leaves no facts to retract that its target never received.", async () => {
    const { webhooks, emit, calls, log } = createService({
      reply: ({ message }) => (message.height === 1 ? 500 : 200),
    });
    await webhooks.register.create({ ...always(), order: "strict" });
    // Block 2 waits for block 1, whose attempt failed.
    await emit(blockApplied(1), blockApplied(2));
    await webhooks.register.update("1", { queue: "drop" });
    expect(log(1, 2).map(({ state, attempts }) => [state, attempts.length])).toEqual([
      ["cancelled", 0],
      ["cancelled", 1],
    ]);
    await emit(blockReverted(2), blockReverted(1));
    expect(saw(calls)).toEqual(["block.applied block1", "block.reverted block1"]);
  });

  test("A dropped queue does not send its retractions again to a target that never received their facts.", async () => {
    const { webhooks, emit, calls, log } = createService();
    await webhooks.register.create(always());
    await emit(blockApplied(1));
    await webhooks.register.update("1", { enabled: false });
    await emit(blockReverted(1));
    await webhooks.register.update("1", {
      target: "https://other.example/",
      queue: "drop",
      enabled: true,
    });
    expect(log(1, 2).map(({ event, state }) => [event, state])).toEqual([
      ["block.reverted", "cancelled"],
      ["block.applied", "delivered"],
    ]);
    expect(await webhooks.log.retryAll("1", { state: "all" })).toEqual({ retried: 0 });
    await expect(webhooks.log.retry("1", "2")).rejects.toMatchObject({ code: "DELIVERY_UNDONE" });
    await settle();
    expect(saw(calls)).toEqual(["block.applied block1"]);
  });
});

test("A block that is applied and reverted again is another fact each time.", async () => {
  const { webhooks, emit, calls } = createService();
  await webhooks.register.create(always());
  await emit(blockApplied(1), blockReverted(1), blockApplied(1), blockReverted(1), blockApplied(1));
  expect(pairs(calls)).toEqual([-1, 0, -1, 2, -1]);
  expect(new Set(calls.map(({ message }) => message.id)).size).toBe(5);
});

describe("a block with more facts than one step retracts", () => {
  const FACTS = 2_345;
  const TOTAL = 2 * (FACTS + 1);
  type Message = { id: string; event: string; reverts?: string };

  /** Deliveries in the queue, in order. */
  const queueOf = (database: Database): Message[] =>
    database
      .prepare<Message & { reverts: string | null }>(
        "SELECT id, event, reverts FROM deliveries ORDER BY number",
      )
      .all()
      .map(({ reverts, ...rest }) => ({ ...rest, ...(reverts !== null && { reverts }) }));

  /** Simulates the state of a receiver. */
  function check(messages: readonly Message[]): void {
    const held: string[] = [];
    for (const { id, event, reverts } of messages) {
      if (reverts === undefined) held.push(id);
      // The last fact that the receiver has, except the block itself, which is retracted last.
      else if (event === "block.reverted") expect(held.splice(0)).toEqual([reverts]);
      else expect(held.splice(-2, 1)).toEqual([reverts]);
    }
    expect([held, messages.length]).toEqual([[], TOTAL]);
  }

  test("A block with more facts than one step retracts is retracted in order.", async () => {
    const { webhooks, emit, database } = createService({ reply: () => "never" });
    await webhooks.register.create(facts);
    await emit(...block(1, FACTS), ...undo(1, FACTS));
    while (queueOf(database).length < TOTAL) await settle();
    check(queueOf(database));
  });

  test("A block with more facts than one step retracts is retracted in order even if the process ends meanwhile.", async () => {
    const path = databasePath();
    const run = () => createService({ path, reply: () => "never" });
    const first = run();
    await first.webhooks.register.create(facts);
    await first.emit(...block(1, FACTS));
    while (queueOf(first.database).length < FACTS + 1) await settle();
    first.database.transaction(() => first.eventLog.append(undo(1, FACTS)));
    await first.close();
    const lengths: number[] = [];
    while ((lengths.at(-1) ?? 0) < TOTAL) {
      const next = run();
      // One step.
      next.webhooks.notify();
      await setImmediate();
      lengths.push(queueOf(next.database).length);
      if (lengths.at(-1) === TOTAL) check(queueOf(next.database));
      await next.close();
    }
    expect(lengths.length).toBeGreaterThan(2);
  });
});
