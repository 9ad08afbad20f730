/**
 * A Uniknode with an old node, and an old forger that drives it, over real sockets (p2p.md 17, forger.md 3).
 */
import {
  type Block,
  blockFromPeerJson,
  builders,
  createSlots,
  encodeBlock,
  forgeBlock,
  headerToJson,
  type PeerBlockJson,
  type SealedTransaction,
  transactionToJson,
} from "@uniknode/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { seal } from "../../../src/dev-chain/network.ts";
import { networkTiming } from "../../../src/forger/slot-state.ts";
import type { CurrentRound, NetworkState } from "../../../src/peers/wire/events.ts";
import { present } from "../../../src/platform/present.ts";
import { addressOf, createWorld, type TestNode, type World } from "../../../test-support/peers/world.ts";
import { until } from "../../../test-support/process/until.ts";
import { askFrom } from "./liar.ts";
import { HANDSHAKE_MS, type OldNode, startOldNode } from "./old-node.ts";

const OLD = "127.0.9.9";
const FORGER = "127.0.0.77";

let world: World;
let old: OldNode;
let node: TestNode;

beforeAll(async () => {
  world = await createWorld({ nodes: 2, blocktime: 4 });
  const { network, port, genesis } = world;
  const slots = createSlots(network);
  const { nethash, pubKeyHash: version } = network.description;
  const description = { version, name: "old", nethash, explorer: "", token: { name: "unik", symbol: "U" } };
  old = await startOldNode({
    network,
    port,
    host: OLD,
    genesis: { header: genesis, transactions: [] },
    config: {
      version: "5.7.2",
      network: description,
      plugins: { "@arkecosystem/core-api": { enabled: true, port: 4003 } },
    },
    currentSlot: () => slots.slotAt(slots.timeAt(Date.now())),
  });
  node = await world.start(0, "--peers", OLD, "--p2p-remote-access", FORGER);
});
afterAll(async () => {
  await world?.close();
  old?.close();
});

const forger = (event: "getCurrentRound" | "getNetworkState") =>
  askFrom(world, [FORGER, addressOf(0)], `p2p.internal.${event}`, {});
const fromOld = [OLD, addressOf(0)] as const;
const isPeer = async () => (await node.get<{ ip: string }[]>("/peers")).some(({ ip }) => ip === OLD);

/** Leaves a late slot to the next delegate, as an old forger does: our node ignores a block with less time to send it. */
const isEarly = (timestamp: number) => {
  const slots = createSlots(world.network);
  const endMs = slots.unixMsOf(slots.slotTime(slots.slotAt(timestamp) + 1));
  return endMs - Date.now() >= 2 * networkTiming(slots.blocktime).minRemainingMs;
};

/** Pause between two requests for blocks, of which our node accepts one in 2 s. */
const CATCH_UP_MS = 2_500;

/** Makes the old node fetch missing blocks, as it does while it is not in sync. */
async function catchUp(): Promise<number> {
  const question = { lastBlockHeight: old.chain.length, blockLimit: 400, serialized: true };
  const fetched = await askFrom(world, fromOld, "p2p.peer.getBlocks", question);
  for (const json of (fetched ?? []) as PeerBlockJson[]) {
    const block = blockFromPeerJson(json, { network: world.network, height: old.chain.length });
    if (block.header.height === old.chain.length + 1) old.chain.push(block);
  }
  return old.chain.length;
}

/** Creates the next block of the delegate that is not our node's, in its slot. */
async function nextBlock(transactions: SealedTransaction[] = []): Promise<Block> {
  const delegate = present(world.delegates[1]);
  let block: Block | undefined;
  let caughtUpMs = performance.now();
  await expect
    .poll(async () => {
      const round = (await forger("getCurrentRound")) as CurrentRound | undefined;
      const previous = present(old.chain.at(-1)).header;
      // A block that our node broadcast while it had dropped the old node does not arrive.
      if (round?.lastBlock.id !== previous.id && performance.now() > caughtUpMs + CATCH_UP_MS) {
        await catchUp();
        caughtUpMs = performance.now();
      }
      const isDue =
        round?.canForge &&
        round.currentForger?.publicKey === delegate.publicKey &&
        round.lastBlock.id === previous.id &&
        isEarly(round.timestamp);
      if (!isDue) return undefined;
      const plan = { network: world.network, timestamp: round.timestamp, previous, transactions };
      block = forgeBlock(plan, delegate.keys);
      return block;
    })
    .toBeDefined();
  return present(block);
}

/**
 * Creates blocks and sends each in the given way, until our node has one on its chain: on a busy machine a block is too late for its
 * slot, and our node forges another one.
 */
async function untilOnChain(
  send: (block: Block) => Promise<void>,
  transactions?: SealedTransaction[],
): Promise<void> {
  for (;;) {
    const block = await nextBlock(transactions);
    const { id, height } = block.header;
    await send(block);
    const found = await until("the block", async () =>
      node.get<{ id: string } | undefined>(`/blocks/${height}`),
    );
    if (found.id === id) return;
    old.chain.splice(height - 1);
  }
}

const payment = (nonce: bigint) => {
  const { publicKey: senderPublicKey, address: recipientId } = world.rich;
  const transfer = { network: world.network, senderPublicKey, nonce, recipientId, amount: 5n };
  return seal(builders.transfer(transfer), world.rich);
};

test("An old node becomes a peer as soon as it is ready.", async () => {
  await expect.poll(() => old.requested).toContain("p2p.peer.getStatus");
  old.isReady = true;
  await expect.poll(isPeer).toBe(true);
});

test("An old node fetches our blocks, receives the next ones, and we accept its posted blocks.", async () => {
  await expect.poll(catchUp, { interval: CATCH_UP_MS }).toBeGreaterThan(1);
  await untilOnChain(async (block) => {
    old.chain.push(block);
    const posted = { block: encodeBlock(block, world.network) };
    expect(await askFrom(world, fromOld, "p2p.peer.postBlock", posted)).toEqual({});
  });
});

test("A block that an old node does not post is fetched, with its transactions.", async () => {
  await untilOnChain(async (block) => void old.chain.push(block), [payment(1n)]);
  expect(old.requested).toContain("p2p.peer.getBlocks");
});

test("A transaction that an old node posts is broadcast.", async () => {
  const { data } = payment(2n);
  const transactions = [transactionToJson(data)];
  expect(await askFrom(world, fromOld, "p2p.peer.postTransactions", { transactions })).toEqual([]);
  await expect.poll(() => old.transactions).toContain(data.id);
});

/** Forges a block as an old forger that drives our node does; undefined if our node has another block before. */
async function forgeByOurNode(): Promise<Block | undefined> {
  const block = await nextBlock();
  const state = (await forger("getNetworkState")) as NetworkState;
  if (state.lastBlockId !== block.header.previousBlock) return undefined;
  expect(state.nodeHeight).toBe(block.header.height - 1);
  const way = [FORGER, addressOf(0)] as const;
  const bytes = encodeBlock(block, world.network);
  expect(await askFrom(world, way, "p2p.peer.postBlock", { block: bytes })).toEqual({});
  const forged = { event: "block.forged", body: headerToJson(block.header) };
  expect(await askFrom(world, way, "p2p.internal.emitEvent", forged)).toEqual({});
  return block;
}

/**
 * Returns true when the old node has received a block; false if our node has connected to it anew before, or has another
 * block, because this one was too late.
 */
async function reachesOldNode(block: Block): Promise<boolean> {
  const { connections } = old;
  const { id, height } = block.header;
  const hasArrived = () => old.chain.some(({ header }) => header.id === id);
  const isReplaced = () => old.chain.some(({ header }) => header.height === height && header.id !== id);
  await until("the block", () => hasArrived() || old.connections > connections || isReplaced());
  return hasArrived();
}

test("An old forger forges by our node, and the block reaches the old node.", async () => {
  // On a busy machine our node drops the old node for a moment, and a block that it broadcasts meanwhile does not
  // reach it: the old node fetches that block, and receives a later one. Or the block is too late for its slot.
  for (let hasArrived = false; !hasArrived; ) {
    await expect.poll(isPeer).toBe(true);
    const block = await forgeByOurNode();
    hasArrived = block !== undefined && (await reachesOldNode(block));
  }
});

test("We reconnect after an old node has cut the connection.", async () => {
  const requested = old.requested.length;
  old.cut();
  await expect.poll(() => old.requested.length).toBeGreaterThan(requested);
  await expect.poll(isPeer).toBe(true);
});

/** Long enough that our node drops it, and that an attempt to connect to it times out. */
const SLEEP_MS = 16_000;

test("An old node is a peer again after its process was suspended.", async () => {
  const dialled = old.connections;
  old.sleep();
  await new Promise((resolve) => setTimeout(resolve, SLEEP_MS));
  await expect.poll(isPeer).toBe(false);
  await expect.poll(() => old.connections - dialled).toBe(1);
  old.wake();
  await expect.poll(isPeer).toBe(true);
  const posts = () => old.requested.filter((event) => event === "p2p.peer.postBlock").length;
  const posted = posts();
  await expect.poll(posts).toBeGreaterThan(posted);
  await new Promise((resolve) => setTimeout(resolve, HANDSHAKE_MS + 500));
});

test("An old node has recorded no violation of ours.", () => {
  expect(old.broken).toEqual([]);
});
