/** Webhooks of a chain that reorganises. */
import { describe, expect, test } from "vitest";
import { SqlitePastEvents } from "../../src/event-log/sqlite/history.ts";
import { present } from "../../src/platform/present.ts";
import { createForkingChain, network } from "../../test-support/chain/forking.ts";
import { type Call, createService, databasePath, settle } from "../../test-support/webhooks/support.ts";

const everything = {
  events: ["block.*", "transaction.*", "unik.*", "delegate.*", "wallet.*", "round.*"],
  target: "https://receiver.example/hook",
  conditions: [{ key: "nothing", condition: "ne", value: "x" }],
};

const start = async (body: object) => {
  const path = databasePath();
  const fork = createForkingChain(path);
  const service = createService({
    path,
    createPastEvents: (database) => new SqlitePastEvents(database, network),
  });
  await service.webhooks.register.create({ ...everything, ...body });
  /** Settles when all events are delivered. */
  async function deliver(): Promise<Call[]> {
    for (let seen = -1; seen !== service.calls.length; ) {
      seen = service.calls.length;
      service.webhooks.notify();
      await settle();
    }
    return service.calls.splice(0);
  }
  return { ...fork, ...service, deliver };
};

type Message = {
  id: string;
  sequence: number;
  event: string;
  height: number;
  blockId: string;
  reverts?: string;
};
const messagesOf = (calls: readonly Call[]) => calls.map(({ message }) => message as Message);
/** Facts that a receiver regards as true. */
function ledgerOf(messages: readonly Message[]): Map<string, Message> {
  const facts = new Map<string, Message>();
  for (const message of messages) {
    if (message.reverts === undefined) facts.set(message.id, message);
    else {
      expect([message.event, facts.delete(message.reverts)]).toEqual([message.event, true]);
    }
  }
  return facts;
}

describe.each(["parallel", "strict"])("a fork, delivered in %s order,", (order) => {
  test("A fork retracts every fact of the reverted blocks before it delivers the new ones.", async () => {
    const { chain, forge, transfer, mint, deliver } = await start({ order });
    await forge();
    const below = messagesOf(await deliver());
    await forge([transfer(0, 5n), mint(1)]);
    await forge([transfer(2, 6n)]);
    const undone = messagesOf(await deliver());
    await chain.revertTo(2);
    await forge([transfer(0, 7n)], 1);
    await forge();
    await forge();
    const messages = messagesOf(await deliver());

    const isRetraction = ({ reverts }: Message) => reverts !== undefined;
    const reversals = messages.filter(isRetraction);
    const isFact = ({ event }: Message) => !event.endsWith(".forged") && !event.endsWith(".received");
    expect(new Set(reversals.map(({ reverts }) => reverts))).toEqual(
      new Set(undone.filter(isFact).map(({ id }) => id)),
    );
    // The higher block is reverted first, its facts in reverse order and the block itself last.
    expect(reversals.map(({ event, height }) => `${height} ${event}`)).toEqual(
      [...Map.groupBy(undone, ({ height }) => height)].reverse().flatMap(([height, facts]) => {
        const names = facts.map(({ event }) => event).reverse();
        const [block, ...others] = names;
        return [...others, present(block)].map((name) => {
          const isPlain = name === "block.applied" || name === "transaction.applied";
          return `${height} ${isPlain ? name.replace("applied", "reverted") : `${name}.reverted`}`;
        });
      }),
    );
    expect(reversals.map(({ event }) => event)).toEqual(
      expect.arrayContaining([
        "unik.minted.reverted",
        "wallet.saved.reverted",
        "transaction.reverted",
        "block.reverted",
      ]),
    );
    const firstOfNew = messages.findIndex(
      ({ blockId, event }) =>
        event === "transaction.applied" && !undone.some((fact) => fact.blockId === blockId),
    );
    expect(messages.slice(firstOfNew).filter(isRetraction)).toEqual([]);

    const held = ledgerOf([...below, ...undone, ...messages]);
    const applied = [...held.values()].filter(({ event }) => event === "block.applied");
    expect(applied.map(({ height }) => height)).toEqual([2, 3, 4, 5]);
    expect(present(applied.at(-1)).blockId).toBe(chain.head().id);
  });

  test("A fork delivers a branch that is applied again as new facts.", async () => {
    const { chain, forge, take, transfer, deliver } = await start({ order });
    await forge();
    const old = [await forge([transfer(0, 5n)]), await forge()];
    const before = messagesOf(await deliver());
    await chain.revertTo(2);
    await forge([], 1);
    await chain.revertTo(2);
    for (const bytes of old) await take(bytes);
    const after = messagesOf(await deliver());
    const held = ledgerOf([...before, ...after]);
    const heldBefore = ledgerOf(before);
    // Wallets after a revert are delivered in addition.
    const facts = (messages: Map<string, Message>) =>
      [...messages.values()]
        .filter(({ event }) => event !== "wallet.saved")
        .map(({ event, height, blockId }) => `${height} ${event} ${blockId}`);
    expect(facts(held)).toEqual(facts(heldBefore));
    const ids = [...before, ...after].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

test("A webhook with enough confirmations receives nothing of a fork.", async () => {
  const { chain, forge, transfer, deliver } = await start({ confirmations: 2 });
  await forge();
  await forge([transfer(0, 5n)]);
  await forge();
  expect(
    messagesOf(await deliver())
      .map(({ height }) => height)
      .every((height) => height === 2),
  ).toBe(true);
  await chain.revertTo(2);
  await forge([transfer(0, 6n)], 1);
  const kept = chain.head();
  await forge();
  expect(await deliver()).toEqual([]);
  await forge();
  const messages = messagesOf(await deliver());
  expect(messages.map(({ event }) => event)).toContain("transaction.applied");
  expect(new Set(messages.map(({ blockId }) => blockId))).toEqual(new Set([kept.id]));
  expect(messages.every(({ reverts }) => reverts === undefined)).toBe(true);
});

test("A replay delivers the events of the current branch, with the ids of live events.", async () => {
  const { chain, forge, take, transfer, mint, deliver, webhooks, clock } = await start({
    // Past states of wallets are not stored.
    events: ["block.*", "transaction.*", "unik.*", "round.*"],
    order: "strict",
  });
  await forge();
  const old = [await forge([transfer(0, 5n), mint(1)]), await forge([transfer(2, 6n)])];
  await chain.revertTo(2);
  await forge([transfer(0, 7n)], 1);
  await chain.revertTo(2);
  for (const bytes of old) await take(bytes);
  const live = ledgerOf(messagesOf(await deliver()));
  await webhooks.replays.start("1", { fromHeight: 2, toHeight: 100 });
  while ((await webhooks.replays.find("1")).state === "running") await clock.advance(5);
  const replayed = messagesOf(await deliver());
  expect(replayed.map(({ id }) => id)).toEqual([...live.keys()]);
  expect(replayed).toEqual([...live.values()]);
});

test("A block that is reverted during its replay leaves no delivery.", async () => {
  const { chain, forge, transfer, deliver, webhooks, clock, calls } = await start({ order: "strict" });
  await forge();
  for (let height = 3; height <= 12; height++) await forge([transfer(0, BigInt(height))]);
  const live = ledgerOf(messagesOf(await deliver()));
  await webhooks.replays.start("1", { fromHeight: 2, toHeight: 12 });
  await clock.advance(0);
  await chain.revertTo(6);
  await forge([transfer(1, 1n)], 1);
  while ((await webhooks.replays.find("1")).state === "running") {
    // A replay that a slow machine has not finished yet waits for the revert to be matched.
    webhooks.notify();
    await clock.advance(5);
  }
  const later = messagesOf(await deliver());
  const held = ledgerOf([...live.values(), ...later]);
  const blocks = [...held.values()].filter(({ event }) => event === "block.applied");
  expect(new Set(blocks.map(({ height }) => height))).toEqual(new Set([2, 3, 4, 5, 6, 7]));
  expect(present(blocks.find(({ height }) => height === 7)).blockId).toBe(chain.head().id);
  expect(calls).toEqual([]);
});

test("A replay delivers the genesis block, which no live event reports.", async () => {
  const { chain, forge, deliver, webhooks, clock } = await start({
    events: ["block.applied", "transaction.applied"],
  });
  await forge();
  await deliver();
  await webhooks.replays.start("1", { fromHeight: 1, toHeight: 1 });
  while ((await webhooks.replays.find("1")).state === "running") await clock.advance(5);
  const genesis = present(chain.blocks.block(1));
  const messages = messagesOf(await deliver()).sort((a, b) => a.sequence - b.sequence);
  expect(messages.map(({ event, blockId }) => [event, blockId])).toEqual([
    ...genesis.transactions.map(() => ["transaction.applied", genesis.header.id]),
    ["block.applied", genesis.header.id],
  ]);
});
