import { describe, expect, test } from "vitest";
import { MetaStore } from "../../src/store/node/meta.ts";
import { deliveryId } from "../../src/webhooks/matching/drafts.ts";
import {
  always,
  blockApplied,
  blockReverted,
  createService,
  databasePath,
  type ServiceOptions,
} from "../../test-support/webhooks/support.ts";

/** Id and number of each message, as a receiver sees them. */
async function receive(events: ReturnType<typeof blockApplied>[], options: ServiceOptions = {}) {
  const { webhooks, emit, calls, close } = createService(options);
  await webhooks.register.create(always());
  for (const event of events) await emit(event);
  await close();
  return calls.map(({ message }) => ({ id: message.id, sequence: message.sequence, height: message.height }));
}

describe("the id of a delivery", () => {
  test("The id of a delivery is derived from the fact and the webhook alone.", async () => {
    const blocks = [blockApplied(1), blockApplied(2)];
    const first = await receive(blocks);
    // Another node with another history of the log.
    const second = await receive([{ id: "x", name: "block.forged" }, ...blocks]);
    expect(second).toEqual(first);
    expect(first[0]?.id).not.toBe(first[1]?.id);
  });

  test("The id of a delivery differs between webhooks, networks, events and their repetitions.", () => {
    const fact = { id: "block.applied:x", height: 9, timesReverted: 0 };
    const ids = [
      deliveryId("n", 1, fact),
      deliveryId("n", 2, fact),
      deliveryId("m", 1, fact),
      deliveryId("n", 1, { ...fact, id: "block.applied:y" }),
      deliveryId("n", 1, { ...fact, timesReverted: 1 }),
      deliveryId("n", 1, { id: fact.id, logSequence: 0, createdMs: 1 }),
      deliveryId("n", 1, { id: fact.id, logSequence: 1, createdMs: 1 }),
      deliveryId("n", 1, { id: fact.id, logSequence: 1, createdMs: 2 }),
    ];
    expect(new Set(ids).size).toBe(ids.length);
    expect(deliveryId("n", 1, fact)).toBe(ids[0]);
    // A literal, so that it stays fixed: receivers store ids for years.
    expect(ids[0]).toBe("msg_000000095f8bd24bb0a89414e4835ea9");
  });

  test("The id of a delivery depends on the nethash of the network.", async () => {
    const path = databasePath();
    const { database, close } = createService({ path });
    new MetaStore(database).write("nethash", "ab");
    await close();
    const [message] = await receive([blockApplied(1)], { path });
    expect(message?.id).toBe(
      deliveryId("ab", 1, { id: "block.applied:block1", height: 1, timesReverted: 0 }),
    );
  });

  test("The id of a delivery of a block that was reverted and applied again is new, whenever the node restarts.", async () => {
    const path = databasePath();
    const first = await receive([blockApplied(7), blockReverted(7)], { path });
    const { webhooks, emit, calls } = createService({ path });
    webhooks.notify();
    await emit(blockApplied(7), blockReverted(7), blockApplied(7));
    const ids = [...first.map(({ id }) => id), ...calls.map(({ message }) => message.id)];
    const facts = ["0", "1", "2"].map((times) =>
      deliveryId("", 1, { id: "block.applied:block7", height: 7, timesReverted: Number(times) }),
    );
    expect(ids.filter((id) => facts.includes(id as string))).toEqual(facts);
  });

  test("The id of a delivery of an event that can happen again depends on its sequence in the log.", async () => {
    const { webhooks, emit, calls } = createService();
    await webhooks.register.create(always("transaction.pool.removed"));
    const removed = { id: "transaction.pool.removed:t", name: "transaction.pool.removed", data: { id: "t" } };
    await emit(removed);
    await emit(removed);
    expect(new Set(calls.map(({ message }) => message.id)).size).toBe(2);
  });
});

describe("the sequence of a webhook", () => {
  test("The sequence of a webhook has no gaps, whichever events the webhook does not receive.", async () => {
    const { webhooks, emit, calls } = createService();
    const even = { key: "height", condition: "regexp", value: "[02468]$" };
    await webhooks.register.create(always());
    await webhooks.register.create({ ...always(), conditions: [even] });
    await webhooks.register.create(always("block.reverted"));
    await emit(...[1, 2, 3, 4].map(blockApplied), blockReverted(4));
    const of = (webhook: number) =>
      calls.flatMap(({ message }) => (message.webhookId === webhook ? [message.sequence] : []));
    // Block 4 was applied and reverted: the second receives both.
    expect([of(2), of(3)]).toEqual([[1, 2, 3], [1]]);
    expect(of(1).slice(0, 4)).toEqual([1, 2, 3, 4]);
  });

  test("The sequence of a webhook continues after a restart, an update and an older cursor.", async () => {
    const path = databasePath();
    await receive([blockApplied(1), blockApplied(2)], { path });
    const { webhooks, emit, calls, eventLog } = createService({ path });
    eventLog.moveCursor("webhooks", 0);
    await emit(blockApplied(3));
    await webhooks.register.update("1", { enabled: true });
    await webhooks.ping("1");
    await emit(blockApplied(4));
    expect(calls.map(({ message }) => message.sequence)).toEqual([3, undefined, 4]);
  });
});
