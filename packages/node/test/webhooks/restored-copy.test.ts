/** A node that starts with an older copy of its data folder, and gets the same blocks again. */
import { copyFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createPastEvents } from "../../src/event-log/sqlite/history.ts";
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
    createPastEvents: (database) => createPastEvents(database, network),
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

const positionOf = ({ headers }: Call) => [headers["webhook-epoch"], headers["webhook-sequence"]].join();

test("An older copy that gets the same blocks sends the same ids in a higher epoch, and no pair of epoch and sequence twice.", async () => {
  const [path, copy] = [databasePath(), databasePath()];
  const clock = createTestClock();
  const before = open(path, clock);
  await before.webhooks.register.create(EVERYTHING);
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
  const reverted = later.chain.head().height - 1;
  await later.chain.revertTo(reverted);
  await later.take(blocks[2] as Uint8Array);
  const sent = await later.deliver();
  await later.close();

  await clock.advance(60_000);
  const restored = open(copy, clock);
  // Shifts the sequences of the webhook and of the event log.
  await restored.emit({ id: "peer.added:1", name: "peer.added", data: { ip: "192.0.2.1" } });
  for (const block of blocks) await restored.take(block);
  await restored.chain.revertTo(reverted);
  await restored.take(blocks[2] as Uint8Array);
  const again = await restored.deliver();

  const ids = new Set(sent.map(({ id }) => id));
  const repeated = again.filter(({ id }) => ids.has(id));
  expect(repeated.length).toBeGreaterThan(20);
  expect(repeated.some(({ message }) => message.reverts !== undefined)).toBe(true);

  const all = [...calls, ...sent, ...again];
  expect(all.every(({ headers }) => Number(headers["webhook-sequence"]) > 0)).toBe(true);
  expect(new Set(all.map(positionOf)).size).toBe(all.length);
  const [first = Number.NaN, second, third] = [
    ...new Set(all.map(({ headers }) => Number(headers["webhook-epoch"]))),
  ];
  expect(second).toBeGreaterThan(first);
  expect(third).toBeGreaterThan(second ?? Number.NaN);
});
