/** Webhooks that receive the facts of a block only after a number of further blocks. */
import { describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import {
  always,
  blockApplied,
  blockReverted,
  createService,
  createTestClock,
  databasePath,
  heights,
  settle,
} from "../../test-support/webhooks/support.ts";
import { serve } from "./serve.ts";

const deep = (confirmations: number) => ({ ...always(), confirmations });

describe("confirmations", () => {
  test("Confirmations defer facts until that many blocks follow.", async () => {
    const { webhooks, emit, calls } = createService();
    await webhooks.register.create(deep(2));
    await emit(blockApplied(1), blockApplied(2));
    expect(heights(calls)).toEqual([]);
    await emit(blockApplied(3));
    expect(heights(calls)).toEqual([1]);
    await emit(blockApplied(4), blockApplied(5));
    expect(heights(calls)).toEqual([1, 2, 3]);
    expect(calls.map(({ message }) => message.sequence)).toEqual([1, 2, 3]);
    expect(present(calls[0]).message.data).toEqual(blockApplied(1).data);
  });

  test("Confirmations exclude facts of blocks that are reverted before.", async () => {
    const { webhooks, emit, calls } = createService();
    await webhooks.register.create({ ...deep(2), events: ["block.reverted"] });
    await emit(blockApplied(1), blockApplied(2), blockReverted(2), blockReverted(1));
    const other = { ...blockApplied(1), id: "block.applied:other1", blockId: "other1" };
    await emit(other, blockApplied(2), blockApplied(3));
    expect(calls.map(({ message }) => [message.event, message.blockId])).toEqual([
      ["block.applied", "other1"],
    ]);
  });

  test.each([
    [["round.applied"], ["block.reverted 1"]],
    [["transaction.applied"], ["block.reverted 1"]],
    [["block.applied"], []],
    [["block.*"], []],
  ])("Confirmations of reverts and %j exclude only reverts of facts that wait.", async (events, received) => {
    const { webhooks, emit, calls } = createService();
    await webhooks.register.create({ ...always("block.reverted"), events, confirmations: 1 });
    await emit(blockApplied(1), blockReverted(1));
    expect(calls.map(({ message }) => `${message.event} ${message.height}`)).toEqual(received);
  });

  test("Confirmations do not prevent retractions of blocks that are reverted later.", async () => {
    const { webhooks, emit, calls } = createService();
    await webhooks.register.create(deep(1));
    await emit(blockApplied(1), blockApplied(2), blockReverted(2), blockReverted(1));
    expect(calls.map(({ message }) => [message.event, message.height])).toEqual([
      ["block.applied", 1],
      ["block.reverted", 1],
    ]);
    expect(present(calls[1]).message.reverts).toBe(present(calls[0]).message.id);
  });

  test("Confirmations deliver a block that was reverted and applied again once.", async () => {
    const { webhooks, emit, calls } = createService();
    await webhooks.register.create(deep(1));
    await emit(blockApplied(1), blockReverted(1), blockApplied(1), blockApplied(2));
    expect(heights(calls)).toEqual([1]);
  });

  test("Confirmations do not delay events without a block.", async () => {
    const { webhooks, emit, calls } = createService();
    await webhooks.register.create({ ...deep(9), events: ["state.started", "block.forged"] });
    await emit(
      { id: "s", name: "state.started", data: true },
      { ...blockApplied(1), name: "block.forged" },
      blockApplied(1),
    );
    expect(calls.map(({ message }) => message.event).sort()).toEqual(["block.forged", "state.started"]);
  });

  test("Confirmations count blocks that the webhook does not subscribe to.", async () => {
    const { webhooks, emit, calls } = createService();
    const transaction = {
      id: "transaction.applied:block1:0",
      name: "transaction.applied",
      data: { id: "t" },
    };
    await webhooks.register.create({ ...always("transaction.applied"), confirmations: 1 });
    await emit({ ...transaction, height: 1, blockId: "block1" }, blockApplied(1), blockApplied(2));
    expect(calls.map(({ message }) => [message.event, message.height])).toEqual([["transaction.applied", 1]]);
  });

  test("Confirmations are counted for each webhook.", async () => {
    const { webhooks, emit, calls } = createService();
    for (const confirmations of [0, 1, 3]) await webhooks.register.create(deep(confirmations));
    await emit(...[1, 2, 3, 4].map(blockApplied));
    const of = (webhook: number) => heights(calls.filter(({ message }) => message.webhookId === webhook));
    expect([of(1), of(2), of(3)]).toEqual([[1, 2, 3, 4], [1, 2, 3], [1]]);
  });

  test.each([
    [5, 1, [1, 2, 3], [1, 2, 3, 4]],
    [5, 0, [1, 2, 3, 4], [1, 2, 3, 4, 5]],
    [1, 3, [1, 2], [1, 2]],
  ])(
    "Confirmations that change from %i to %i also apply to facts that wait.",
    async (before, after, four, five) => {
      const { webhooks, emit, calls } = createService();
      const { id } = await webhooks.register.create(deep(before));
      await emit(blockApplied(1), blockApplied(2), blockApplied(3));
      await webhooks.register.update(`${id}`, { confirmations: after });
      const delivered = () =>
        heights(calls)
          .map(Number)
          .toSorted((one, other) => one - other);
      await emit(blockApplied(4));
      expect(delivered()).toEqual(four);
      await emit(blockApplied(5));
      expect(delivered()).toEqual(five);
    },
  );

  test("Confirmations are counted correctly after a restart.", async () => {
    const path = databasePath();
    const clock = createTestClock();
    const first = createService({ path, clock });
    await first.webhooks.register.create(deep(2));
    await first.emit(blockApplied(1), blockApplied(2));
    // Logged, but the process ends before it is read.
    first.database.transaction(() => first.eventLog.append([blockApplied(3)]));
    await first.close();
    const second = createService({ path, clock });
    second.webhooks.notify();
    await settle();
    await second.emit(blockApplied(4));
    expect([heights(first.calls), heights(second.calls)]).toEqual([[], [1, 2]]);
  });

  test("Confirmations release very many due facts in several steps, in order.", async () => {
    const { webhooks, emit, database } = createService({ reply: () => "never" });
    await webhooks.register.create(deep(3_000));
    await emit(...Array.from({ length: 2_500 }, (_, index) => blockApplied(index + 1)));
    await emit(blockApplied(9_000));
    const queued = () =>
      database
        .prepare<{ height: number }>("SELECT height FROM deliveries ORDER BY number")
        .all()
        .map(({ height }) => height);
    while (queued().length < 2_500) await settle();
    expect(queued()).toEqual(Array.from({ length: 2_500 }, (_, index) => index + 1));
  });

  test("Confirmations that become fewer release the deferred facts before those of the next block.", async () => {
    const { ask, create, emit, calls } = await serve();
    await create(deep(5));
    await emit(blockApplied(1), blockApplied(2), blockApplied(3));
    await ask("PUT", "/api/webhooks/1", { body: { confirmations: 1 } });
    await emit(blockApplied(4));
    expect(heights(calls)).toEqual([1, 2, 3]);
    await ask("PUT", "/api/webhooks/1", { body: { confirmations: 0 } });
    await emit(blockApplied(5), blockApplied(6));
    expect(heights(calls)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(calls.map(({ message }) => message.sequence)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test("Confirmations do not follow the height of a block that a peer sends.", async () => {
    const { webhooks, emit, calls } = createService();
    await webhooks.register.create(deep(2));
    // It receives block.applied as well, at once.
    await webhooks.register.create({ ...always(), events: ["block.disregarded"] });
    await emit(blockApplied(1), blockApplied(2));
    await emit({ ...blockApplied(9_000), name: "block.disregarded", id: "block.disregarded:9000" });
    expect(heights(calls)).toEqual([1, 2, 9_000]);
    await emit(blockApplied(3));
    expect(heights(calls).slice(3).toSorted()).toEqual([1, 3]);
  });

  test("Confirmations are listed unless they are 0, and can be changed: deferred facts are dropped with the queue.", async () => {
    const { ask, create, emit, calls } = await serve();
    const { body } = await create(deep(2));
    expect(body.data).toMatchObject({ id: 1, confirmations: 2 });
    await emit(blockApplied(1), blockApplied(2));
    expect(await ask("PUT", "/api/webhooks/1", { body: { confirmations: 0, queue: "drop" } })).toMatchObject({
      status: 200,
    });
    expect((await ask("GET", "/api/v2/webhooks/1")).body.data).not.toHaveProperty("confirmations");
    await emit(blockApplied(3));
    expect(heights(calls)).toEqual([3]);
    await ask("PUT", "/api/webhooks/1", { body: { confirmations: 1, queue: "drop" } });
    await emit(blockApplied(4), blockApplied(5));
    expect(heights(calls)).toEqual([3, 4]);
    await ask("DELETE", "/api/webhooks/1");
    await emit(blockApplied(6));
    expect(heights(calls)).toEqual([3, 4]);
  });

  test.each([-1, 1.5, 10_001, "2", null, true])("Confirmations cannot be %j.", async (confirmations) => {
    const { create } = await serve();
    const { status, body } = await create({ confirmations });
    expect([status, body.message]).toEqual([422, '"confirmations" must be an integer from 0 to 10000']);
  });

  test("Confirmations are counted again when a disabled webhook is enabled: deferred facts stay, and none arrive.", async () => {
    const { webhooks, emit, calls } = createService();
    await webhooks.register.create(deep(1));
    await emit(blockApplied(1));
    await webhooks.register.update("1", { enabled: false });
    await emit(blockApplied(2));
    await webhooks.register.update("1", { enabled: true });
    await emit(blockApplied(3), blockApplied(4));
    expect(heights(calls)).toEqual([1, 3]);
  });

  test("Confirmations are counted again when a suspension ends: deferred facts stay, and none arrive.", async () => {
    let status = 410;
    const { webhooks, emit, calls } = createService({ reply: () => status });
    await webhooks.register.create({ ...deep(2), events: ["state.started"] });
    await emit(blockApplied(1), blockApplied(2), { id: "s", name: "state.started", data: true });
    expect(await webhooks.register.find("1")).toHaveProperty("suspended");
    await emit(blockApplied(3));
    status = 200;
    await webhooks.register.update("1", { enabled: true });
    await emit(blockApplied(4), blockApplied(5), blockApplied(6));
    expect(heights(calls)).toEqual([undefined, 1, 2, 4]);
  });

  test.each([0, 1, 5])("Confirmations can change to %i: deferred facts are kept.", async (confirmations) => {
    const { webhooks, emit, calls } = createService();
    await webhooks.register.create(deep(2));
    await emit(blockApplied(1), blockApplied(2));
    await webhooks.register.update("1", { confirmations });
    for (let height = 3; height <= 8; height++) await emit(blockApplied(height));
    const delivered = Array.from({ length: 8 - confirmations }, (_, index) => index + 1);
    expect([...heights(calls)].sort()).toEqual(delivered);
  });
});
