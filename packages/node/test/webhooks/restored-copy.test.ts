/** A node that starts with an older copy of its data folder, and gets the same blocks again. */
import { copyFileSync } from "node:fs";
import { expect, test } from "vitest";
import { SqlitePastEvents } from "../../src/event-log/sqlite/history.ts";
import { present } from "../../src/platform/present.ts";
import { createForkingChain, network } from "../../test-support/chain/forking.ts";
import {
  type Call,
  createService,
  createTestClock,
  databasePath,
  settle,
  type TestClock,
} from "../../test-support/webhooks/support.ts";

const EVERYTHING = {
  events: ["block.*", "transaction.*", "unik.*", "delegate.*", "wallet.*", "round.*", "peer.*"],
  target: "https://receiver.example/hook",
  conditions: [{ key: "always", condition: "ne", value: "never" }],
};

function open(path: string, clock: TestClock) {
  const fork = createForkingChain(path);
  const service = createService({
    ...{ path, clock },
    createPastEvents: (database) => new SqlitePastEvents(database, network),
  });
  /** Settles when all events are delivered. */
  async function deliver(): Promise<Call[]> {
    for (let seen = -1; seen !== service.calls.length; ) {
      seen = service.calls.length;
      service.webhooks.notify();
      await settle();
    }
    return service.calls.splice(0);
  }
  const close = async () => {
    await service.close();
    await fork.close();
  };
  return { ...fork, ...service, deliver, close };
}

const positionOf = ({ webhook, headers }: Call) =>
  [webhook, headers["webhook-epoch"], headers["webhook-sequence"]].join();

/** Starts with a block whose events are delivered. Returns the copies of the database at that time, and later blocks with their calls. */
async function sendBlocks() {
  const [path, copy] = [databasePath(), databasePath()];
  const clock = createTestClock();
  const before = open(path, clock);
  for (const confirmations of [0, 1]) await before.webhooks.register.create({ ...EVERYTHING, confirmations });
  await before.forge();
  const calls = await before.deliver();
  await before.close();
  copyFileSync(path, copy);

  const later = open(path, clock);
  const blocks = [
    await later.forge([later.transfer(0, 5n), later.mint(1)]),
    await later.forge(),
    await later.forge([later.transfer(1, 7n)]),
  ];
  await repeatLast(later, blocks);
  const sent = await later.deliver();
  await later.close();
  await clock.advance(60_000);
  return {
    calls,
    sent,
    blocks,
    bodies: new Map(sent.map(({ id, body }) => [id, body])),
    restored: open(copy, clock),
  };
}

/** Reverts the last block, and takes it again. */
async function repeatLast(
  { chain, take }: ReturnType<typeof open>,
  blocks: readonly Uint8Array[],
): Promise<void> {
  await chain.revertTo(chain.head().height - 1);
  await take(present(blocks.at(-1)));
}

test("An older copy that gets the same blocks sends the same body for each id in a higher epoch, and no pair of epoch and sequence twice.", async () => {
  const { calls, sent, blocks, bodies, restored } = await sendBlocks();
  // Shifts the sequences of the webhooks and of the event log.
  await restored.emit({ id: "peer.added:1", name: "peer.added", data: { ip: "192.0.2.1" } });
  for (const block of blocks) await restored.take(block);
  await repeatLast(restored, blocks);
  const again = await restored.deliver();

  const repeated = again.filter(({ id }) => bodies.has(id));
  expect(repeated).toHaveLength(sent.length);
  expect(repeated.some(({ message }) => message.reverts !== undefined)).toBe(true);
  expect(repeated.filter(({ id, body }) => body !== bodies.get(id))).toEqual([]);

  const all = [...calls, ...sent, ...again];
  expect(all.every(({ headers }) => Number(headers["webhook-sequence"]) > 0)).toBe(true);
  expect(new Set(all.map(positionOf)).size).toBe(all.length);
  const epochs = [...new Set(all.map(({ headers }) => Number(headers["webhook-epoch"])))];
  expect(epochs).toHaveLength(3);
  expect(epochs).toEqual(epochs.toSorted((a, b) => a - b));
});

test("A replay in an older copy sends the same bodies as before.", async () => {
  const { blocks, bodies, restored } = await sendBlocks();
  const { register, replays } = restored.webhooks;
  await register.update("1", { enabled: false });
  for (const block of blocks) await restored.take(block);
  await restored.deliver();
  await register.update("1", { enabled: true });
  await replays.start("1", { fromHeight: 3, toHeight: 4 });
  const replayed = await restored.deliver();
  // On a busy machine, a step of the replay may end before it has created a delivery.
  while ((await replays.find("1")).state === "running") replayed.push(...(await restored.deliver()));
  const repeated = replayed.filter(({ id, message }) => message.webhookId === 1 && bodies.has(id));
  expect(repeated.map(({ message }) => message.event)).toEqual(
    expect.arrayContaining(["transaction.applied", "unik.minted", "block.applied"]),
  );
  expect(repeated.filter(({ id, body }) => body !== bodies.get(id))).toEqual([]);
});

test("An event without a block has another id if it is logged again at the same position of the log.", async () => {
  const event = { id: "transaction.forged:1", name: "transaction.forged", data: { id: "1" } };
  const ids = await Promise.all(
    [0, 1].map(async (later) => {
      const { webhooks, emit, calls, clock } = createService();
      await clock.advance(later);
      await webhooks.register.create({ ...EVERYTHING, confirmations: 0 });
      await emit(event);
      expect(calls.map(({ message }) => message.timestamp)).toEqual([clock.nowMs()]);
      return calls[0]?.id;
    }),
  );
  expect(ids[0]).not.toBe(ids[1]);
});
