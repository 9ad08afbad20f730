/** Blocks and transactions from peers (p2p.md 7.5, 7.6 and 11). */
import {
  type Block,
  builders,
  type EncodedBlock,
  encodeBlock,
  forgeBlock,
  keysFromPassphrase,
  transactionToJson,
} from "@uniknode/protocol";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Outcome } from "../../src/chain/outcome.ts";
import { seal } from "../../src/dev-chain/network.ts";
import { BlockObservations } from "../../src/peers/block-broadcast.ts";
import { DoubleForging, InboundBlocks, type InboundBlocksDeps } from "../../src/peers/inbound-blocks.ts";
import {
  InboundTransactions,
  type InboundTransactionsDeps,
  type Items,
} from "../../src/peers/transactions.ts";
import { type Caller, ReplyError } from "../../src/peers/transport/calls.ts";
import { present } from "../../src/platform/present.ts";
import {
  keysOf,
  network,
  openTestChain,
  range,
  rich,
  rounds,
  slots,
  type TestChain,
} from "../../test-support/peers/chains.ts";
import { testNetwork } from "../../test-support/peers/test-network.ts";

const SLOT = 500;
const peer = { address: "203.0.113.7", isTrusted: false };
const forger = { address: "127.0.0.1", isTrusted: true };

let own: TestChain;
let observations: BlockObservations;
let events: string[];
let nowMs: number;
let isStarted: boolean;
let logged: object[];
/** Milliseconds of the slot. */
const at = (ms: number) => slots.unixMsOf(slots.slotTime(SLOT)) + ms;

function inboundBlocks(chain: InboundBlocksDeps["chain"] = own.chain) {
  const logger = pino({ level: "warn" }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const doubleForging = new DoubleForging({
    network,
    slots,
    header: (height) => own.chain.blocks.header(height),
    logger,
  });
  const blocks = new InboundBlocks({
    network,
    slots,
    rounds,
    chain,
    header: (height) => own.chain.blocks.header(height),
    observations,
    checkForeign: (header) => doubleForging.check(header),
    broadcast: ({ header }) => events.push(`broadcast ${header.height}`),
    isStarted: () => isStarted,
    onReceived: ({ header }) => events.push(`received ${header.height}`),
    onDisregarded: ({ header }) => events.push(`disregarded ${header.height}`),
    onUnchained: ({ height }) => events.push(`unchained ${height}`),
    ban: (address) => events.push(`ban ${address}`),
    nowMs: () => nowMs,
    logger,
  });
  return {
    post: (bytes: Uint8Array, caller: Caller) => blocks.post(bytes, caller),
    submitBlock: (made: EncodedBlock) => blocks.submitBlock(made),
  };
}
const post = (block: Block, caller = peer) => inboundBlocks().post(encodeBlock(block, network), caller);
const settled = () => expect.poll(() => events.some((text) => text.startsWith("broadcast")));

function pay(amount: bigint) {
  const { publicKey: senderPublicKey, address: recipientId } = rich;
  return seal(builders.transfer({ network, senderPublicKey, nonce: 1n, recipientId, amount }), rich);
}

beforeEach(async () => {
  own = openTestChain();
  observations = new BlockObservations();
  events = [];
  logged = [];
  nowMs = at(3_000);
  isStarted = true;
  await own.forge(...range(490, 495));
});
afterEach(() => own.close());

describe("a posted block", () => {
  test("A posted block that continues the head is accepted, reported and broadcast.", async () => {
    const block = own.make(SLOT);
    await post(block);
    await settled().toBe(true);
    expect(own.chain.head().id).toBe(block.header.id);
    expect(events).toEqual(["received 8", "broadcast 8"]);
  });

  test("A posted block that continues the head before the node was in sync is disregarded.", async () => {
    isStarted = false;
    const { height } = own.chain.head();
    await post(own.make(SLOT));
    expect(events).toEqual([`disregarded ${height + 1}`]);
    expect(own.chain.head().height).toBe(height);
  });

  test("A posted block that is posted again is only counted.", async () => {
    const block = own.make(SLOT);
    await post(block);
    await settled().toBe(true);
    for (const address of ["203.0.113.101", "203.0.113.102", "203.0.113.102"])
      await post(block, { ...peer, address });
    expect(observations.last()).toMatchObject({ id: block.header.id, count: 3 });
    expect(events).toHaveLength(2);
  });

  test("A block that two peers post at once is processed once, and a block after it continues it.", async () => {
    const other = openTestChain();
    await other.take(...range(2, 7).map((height) => present(own.chain.blocks.block(height))));
    const [first, second] = await other.forge(499, SLOT);
    const { post } = inboundBlocks();
    const bytes = [first, first, second].map((block) => encodeBlock(present(block), network));
    await Promise.all(bytes.map((each) => post(each, peer)));
    await expect.poll(() => own.chain.head().id).toBe(second?.header.id);
    await settled().toBe(true);
    expect(events.filter((text) => text.startsWith("received"))).toEqual(["received 8", "received 9"]);
    await other.close();
  });

  test("A posted block can continue one that the chain is still executing.", async () => {
    const other = openTestChain();
    await other.take(...range(2, 7).map((height) => present(own.chain.blocks.block(height))));
    const [first, second] = await other.forge(498, 499);
    const { post } = inboundBlocks();
    await post(encodeBlock(present(first), network), peer);
    await post(encodeBlock(present(second), network), peer);
    await expect.poll(() => own.chain.head().id).toBe(present(second).header.id);
    await other.close();
  });

  test("A posted block that does not continue the head is refused, and starts a synchronisation.", async () => {
    const other = openTestChain();
    const [, block] = await other.forge(3, 4);
    await expect(post(present(block))).rejects.toThrow(
      new ReplyError("Last received block 3 cannot be chained to 7."),
    );
    expect(events).toEqual(["unchained 3"]);
    await other.close();
  });

  test("A posted block that does not continue the head starts no synchronisation if no delegate signed it.", async () => {
    const other = openTestChain();
    await other.forge(3);
    const unknown = keysFromPassphrase("unknown");
    const owner = present(keysOf.get(other.make(4).header.generatorPublicKey));
    for (const keys of [unknown, { ...unknown, publicKey: owner.publicKey }])
      await expect(post(other.make(4, { keys }))).rejects.toThrow("cannot be chained");
    expect(events).toEqual([]);
    await other.close();
  });

  test("A posted block that does not continue the head starts no synchronisation if no chain can have it.", async () => {
    const keys = present(keysOf.get(own.make(SLOT).header.generatorPublicKey));
    // One slot less than a chain with a block in each slot needs; and a slot of the future.
    for (const [height, slot] of [
      [4_000_000_000, SLOT],
      [SLOT + 2, SLOT],
      [9, SLOT + 1],
    ] as const) {
      const previous = { ...own.chain.head(), height: height - 1 };
      const block = forgeBlock(
        { network, timestamp: slots.slotTime(slot), previous, transactions: [] },
        keys,
      );
      await expect(post(block)).rejects.toThrow("cannot be chained");
    }
    expect(events).toEqual([]);
  });

  test("A posted block of a branch with fewer missed slots than ours starts a synchronisation.", async () => {
    const other = openTestChain();
    await other.forge(...range(480, 493));
    const block = other.make(494);
    expect(block.header.height - own.chain.head().height).toBeGreaterThan(0);
    await expect(post(block)).rejects.toThrow("cannot be chained");
    expect(events).toEqual(["unchained 16"]);
    await other.close();
  });

  test("A posted block of a later slot than the current one is dropped.", async () => {
    await post(own.make(SLOT + 1));
    expect(events).toEqual([]);
    expect(own.chain.head().height).toBe(7);
  });

  test("A posted block is accepted up to three times for a delegate and a slot.", async () => {
    const delivered: string[] = [];
    const refused = { kind: "Rejected", reason: "verification-failed" } as Outcome;
    const { post } = inboundBlocks({
      head: own.chain.head,
      state: own.chain.state,
      async accept(blocks) {
        delivered.push(...(blocks as readonly Block[]).map(({ header }) => header.id));
        return [refused];
      },
    });
    const blocks = Array.from({ length: 6 }, (_, index) =>
      own.make(SLOT, { transactions: [pay(BigInt(index + 1))] }),
    );
    for (const block of blocks) {
      await post(encodeBlock(block, network), peer);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(delivered).toEqual(blocks.slice(0, 3).map(({ header }) => header.id));
    expect(events.filter((text) => text.startsWith("ban"))).toEqual([]);
  });

  test("A posted block of a generator that is not a delegate bans its sender.", async () => {
    const block = own.make(SLOT, { keys: keysFromPassphrase("unknown") });
    await post(block);
    expect(events).toEqual([`ban ${peer.address}`]);
    // The real one is not blocked.
    await post(own.make(SLOT));
    await settled().toBe(true);
  });

  test("A posted block without a valid signature bans its sender.", async () => {
    const bytes = encodeBlock(own.make(SLOT), network);
    bytes[bytes.length - 1] = present(bytes.at(-1)) ^ 1;
    await inboundBlocks().post(bytes, peer);
    expect(events).toEqual([`ban ${peer.address}`]);
  });

  test("A posted block without a valid signature bans its sender before its transactions are decoded.", async () => {
    const block = own.make(SLOT, { keys: keysFromPassphrase("unknown"), transactions: [pay(1n)] });
    const bytes = encodeBlock(block, network);
    // The transactions cannot be decoded.
    bytes.fill(0xff, bytes.length - 20);
    await inboundBlocks().post(bytes, peer);
    expect(events).toEqual([`ban ${peer.address}`]);
  });

  test("A block with other transactions than its delegate signed bans its sender, and does not replace the real one.", async () => {
    const block = own.make(SLOT, { transactions: [pay(1n)] });
    await post({ ...block, transactions: [pay(2n)] });
    expect(events).toEqual([`ban ${peer.address}`]);
    await post(block);
    await settled().toBe(true);
  });

  test("A posted block of a delegate outside of its slot is dropped without a ban: traps C1 and C2.", async () => {
    const keys = present(keysOf.get(own.make(SLOT + 1).header.generatorPublicKey));
    await post(own.make(SLOT, { keys }));
    expect(events).toEqual([]);
    expect(own.chain.head().height).toBe(7);
    expect(logged).toMatchObject([
      { sender: peer.address, msg: "block ignored: its generator is not the delegate of the slot" },
    ]);
    await post(own.make(SLOT));
    await settled().toBe(true);
  });

  test("A posted block with too many transactions in its header is refused before they are decoded.", async () => {
    const bytes = encodeBlock(own.make(SLOT), network);
    const count = network.milestoneAt(7).block.maxTransactions + 1;
    // After version, timestamp, height and the previous id.
    new DataView(bytes.buffer, bytes.byteOffset).setUint32(3 * 4 + 32, count, true);
    await expect(inboundBlocks().post(bytes, peer)).rejects.toThrow(ReplyError);
    await expect(inboundBlocks().post(bytes, peer)).rejects.toThrow(
      new RegExp(
        `^Received block [0-9a-f]{64} at height 8 contained too many transactions \\(${count}\\)\\.$`,
      ),
    );
    expect(events).toEqual([]);
  });

  test.each<[string, Outcome, string[]]>([
    [
      "contains a transaction that is on the chain",
      { kind: "Discarded", reason: "transaction-stored" },
      ["broadcast 8"],
    ],
    ["is wrong", { kind: "Rejected", reason: "verification-failed" }, []],
    ["continues one that failed in the meantime", { kind: "Unchained" }, []],
  ])("that %s is broadcast or not", async (_, outcome, passedOn) => {
    const { post } = inboundBlocks({ ...own.chain, accept: async () => [outcome] });
    await post(encodeBlock(own.make(SLOT), network), peer);
    await expect.poll(() => logged).toMatchObject([{ height: 8, msg: "block refused" }]);
    expect(events).toEqual(["received 8", ...passedOn]);
  });

  test("Transactions that cannot be read, below a header that its delegate signed, are decoded once for a client.", async () => {
    const { post } = inboundBlocks();
    const block = own.make(SLOT, { transactions: [pay(1n)] });
    const bytes = encodeBlock(block, network);
    const unreadable = bytes.slice(0, -20);
    await expect(post(unreadable, peer)).rejects.toThrow();
    await expect(post(unreadable, peer)).resolves.toBeUndefined();
    await expect(post(bytes, peer)).resolves.toBeUndefined();
    expect(events).toEqual([]);
    // The real block of another client, or of the own forger, is not blocked.
    await post(bytes, { ...peer, address: "203.0.113.8" });
    await settled().toBe(true);
    expect(own.chain.head().id).toBe(block.header.id);
  });

  test("A posted block that cannot be read is refused.", async () => {
    await expect(inboundBlocks().post(new Uint8Array(20), peer)).rejects.toThrow();
    expect(events).toEqual([]);
  });
});

describe("a block of a separate forger", () => {
  test("A block of a separate forger is accepted in its slot.", async () => {
    await post(own.make(SLOT), forger);
    await settled().toBe(true);
    expect(observations.last()).toMatchObject({ count: 0 });
  });

  test.each([
    ["the slot before", at(-1_000), SLOT],
    ["too little of the slot is left", at(6_001), SLOT],
    ["the slot after", at(8_000), SLOT],
  ])("A block of a separate forger is dropped: %s.", async (_, moment, slot) => {
    nowMs = moment;
    await post(own.make(slot), forger);
    expect(events).toEqual([]);
  });
});

test("The forger of the node learns whether its block was accepted.", async () => {
  const { submitBlock } = inboundBlocks();
  expect(await submitBlock(own.make(SLOT))).toBeUndefined();
  expect(observations.last()?.count).toBe(0);
  const wrong = own.make(SLOT + 1, { keys: keysFromPassphrase("unknown") });
  expect(await submitBlock(wrong)).toContain("Rejected");
});

test("Two blocks of one delegate for one slot are reported, once.", async () => {
  await own.forge(SLOT);
  const second = openTestChain();
  await second.take(...range(2, 6).map((height) => present(own.chain.blocks.block(height))));
  // The same height and the same slot, on another parent.
  await second.forge(496);
  const twin = second.make(SLOT);
  const bytes = encodeBlock(twin, network);
  const { post } = inboundBlocks();
  for (let count = 0; count < 2; count++) await expect(post(bytes, peer)).rejects.toThrow(ReplyError);
  expect(logged).toMatchObject([{ height: 8, blockIds: [own.header(8).id, twin.header.id] }]);
  await second.close();
});

describe("posted transactions", () => {
  const resultWith = (invalid: string[]) => ({ data: { accept: [], broadcast: [], excess: [], invalid } });
  function queue(submit: InboundTransactionsDeps["submit"]) {
    const passedOn: unknown[] = [];
    const transactions = new InboundTransactions({
      submit,
      broadcast: (items) => passedOn.push(items),
      logger: pino({ level: "silent" }),
    });
    return { post: (items: Items, address = "203.0.113.1") => transactions.post(items, address), passedOn };
  }

  test("Posted transactions are submitted as one batch.", async () => {
    const batches: unknown[] = [];
    const { post } = queue(async (items, batch) => {
      batches.push([items, batch]);
      return resultWith([]);
    });
    post([]);
    post([{ a: 1 }]);
    await expect.poll(() => batches).toEqual([[[{ a: 1 }], { isBatch: true }]]);
  });

  const { data } = present(testNetwork({ nodes: 1, blocktime: 8 }).block.transactions[0]);
  const item = transactionToJson(data);

  test("Posted transactions are broadcast only if all transactions of the message are valid.", async () => {
    const results = [resultWith([]), resultWith([data.id]), resultWith([])];
    const { post, passedOn } = queue(async () => present(results.shift()));
    const messages = [1, 2, 3].map((fee) => [{ ...item, fee: `${fee}` }]);
    for (const message of messages) post(message);
    await expect.poll(() => results).toEqual([]);
    await expect.poll(() => passedOn).toEqual([messages[0], messages[2]]);
  });

  test("Posted transactions are processed in order, independently of failing messages, in a bounded queue.", async () => {
    let atOnce = 0;
    let most = 0;
    let taken = 0;
    const { post } = queue(async () => {
      most = Math.max(most, ++atOnce);
      await new Promise((resolve) => setImmediate(resolve));
      atOnce--;
      if (taken++ % 2 === 0) throw new Error("the pool is closed");
      return resultWith([]);
    });
    for (let count = 0; count < 600; count++) post([item], `203.0.113.${count % 20}`);
    // One is being processed, and 512 are queued.
    await expect.poll(() => taken).toBe(513);
    expect(most).toBe(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(taken).toBe(513);
  });

  test.each([
    ["address", ["203.0.113.1"]],
    ["IPv6 client", range(1, 8).map((host) => `2001:db8::${host}`)],
  ])("Posted transactions of one %s leave room for those of others.", async (_, addresses) => {
    const held = Promise.withResolvers<void>();
    let taken = 0;
    const { post } = queue(async () => {
      await held.promise;
      taken++;
      return resultWith([]);
    });
    for (let count = 0; count < 600; count++) post([item], addresses[count % addresses.length]);
    post([item], "203.0.113.2");
    held.resolve();
    // One is being processed, 64 of its client are queued, and one of the other.
    await expect.poll(() => taken).toBe(66);
  });

  test("Posted transactions are queued up to a bound on their characters, whatever members they have.", async () => {
    let taken = 0;
    const { post } = queue(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      taken++;
      return resultWith([]);
    });
    const long = { ...item, junk: { text: ["x".repeat(2_500_000)] } };
    for (let count = 0; count < 10; count++) post([long], `203.0.113.${count}`);
    // One is being processed, and three are queued.
    await expect.poll(() => taken).toBe(4);
    post([{ ...item, junk: "x".repeat(40_000_000) }]);
    post([{ ...item, junk: "x".repeat(40_000_000) }]);
    post([item]);
    // An empty queue accepts a message of any length.
    await expect.poll(() => taken).toBe(6);
    await new Promise((resolve) => setImmediate(resolve));
    expect(taken).toBe(6);
  });
});
