/** The peers of a node as a whole: several nodes at loopback addresses, and a separate forger. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  builders,
  decodeHeader,
  encodeBlock,
  headerToJson,
  keysFromPassphrase,
  transactionToJson,
} from "@uniknode/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { seal } from "../../src/dev-chain/network.ts";
import { ForgerHandlers } from "../../src/peers/requests/handlers.ts";
import { type Connection, connectPeer } from "../../src/peers/transport/connection.ts";
import type { ArgumentOf, EventName } from "../../src/peers/wire/events.ts";
import { present } from "../../src/platform/present.ts";
import { deadlineIn } from "../../src/platform/threads/call.ts";
import { network, openTestChain, range, rich, rounds, slots } from "../../test-support/peers/chains.ts";
import { WAIT_MS } from "../../test-support/process/until.ts";
import { CURRENT_SLOT, createNodes, type TestNode, type TestNodes } from "./nodes.ts";

const HOSTS = ["127.0.0.2", "127.0.0.3", "127.0.0.4"];

let nodes: TestNodes;
beforeEach(async () => {
  nodes = await createNodes();
});
afterEach(() => nodes.close());
const open: TestNodes["open"] = (...parameters) => nodes.open(...parameters);

/** The ping interval is longer than a test. */
const heightOf = ({ world }: TestNode) => world.chain.head().height;
const LIMITS = { timeoutMs: 5_000, maxBytes: 1_000_000 };

/** A connection of a separate forger. */
async function forgerOf({ host }: TestNode, localAddress = "127.0.0.9") {
  const connection: Connection = await connectPeer({ address: host, port: nodes.port, localAddress });
  nodes.onClose(() => connection.close());
  return async <E extends EventName>(event: E, argument: ArgumentOf<E>) =>
    (await connection.call(event, argument, LIMITS)).result;
}

describe("two nodes", () => {
  test("Two nodes become peers of each other, though only one has the address of the other.", async () => {
    const [first, second] = [open(present(HOSTS[0]), []), open(present(HOSTS[1]), [present(HOSTS[0])])];
    await first.peers.start();
    await second.peers.start();
    expect(second.events).toContain(`added ${HOSTS[0]}`);
    await expect.poll(() => first.events).toContain(`added ${HOSTS[1]}`);
    expect(first.peers.list()).toMatchObject([
      { ip: HOSTS[1], port: nodes.port, version: "5.7.2", height: 1 },
    ]);
    expect(first.peers.networkHeight()).toBe(1);
  });

  test("The lower of two nodes fetches the missing blocks.", async () => {
    const [first, second] = [open(present(HOSTS[0]), []), open(present(HOSTS[1]), [present(HOSTS[0])])];
    await first.world.forge(...range(1, 50));
    await first.peers.start();
    await second.peers.start();
    await expect.poll(() => heightOf(second)).toBe(51);
    expect(second.world.chain.head()).toEqual(first.world.chain.head());
    await expect.poll(() => second.peers.progress()).toBeUndefined();
  });

  test("The node on the lower branch reverts to the common block, and follows.", async () => {
    const [first, second] = [open(present(HOSTS[0]), []), open(present(HOSTS[1]), [present(HOSTS[0])])];
    await second.world.take(...(await first.world.forge(...range(1, 20))));
    await second.world.forge(...range(300, 310));
    await first.world.forge(...range(200, 230));
    await first.peers.start();
    await second.peers.start();
    await expect.poll(() => second.world.chain.head().id).toBe(first.world.chain.head().id);
    expect(heightOf(first)).toBe(52);
  });

  test("Two nodes receive the last blocks of a node that is stopped, even if they are forged fast.", async () => {
    const [first, second] = [open(present(HOSTS[0]), []), open(present(HOSTS[1]), [present(HOSTS[0])])];
    await first.peers.start();
    await second.peers.start();
    await expect.poll(() => first.peers.list().length).toBe(1);
    for (const slot of range(CURRENT_SLOT - 3, CURRENT_SLOT)) {
      expect(await first.peers.submitBlock(first.world.make(slot))).toBeUndefined();
    }
    await first.peers.close(deadlineIn(WAIT_MS));
    await expect.poll(() => heightOf(second)).toBe(heightOf(first));
  });

  /** Three nodes in a row: the first and the third one are not connected. */
  function openRow(): [TestNode, TestNode, TestNode] {
    const [first, second, third] = HOSTS;
    return [
      open(present(first), [], { blacklist: [present(third)] }),
      open(present(second), HOSTS),
      open(present(third), [present(second)], { blacklist: [present(first)] }),
    ];
  }

  test("Two nodes send a third node the last block that one of them fetched.", async () => {
    const [first, second, third] = openRow();
    for (const { peers } of [first, third, second]) await peers.start();
    await expect.poll(() => second.peers.list().length).toBe(2);
    await expect.poll(() => third.events).toContain("started");
    await expect.poll(() => second.peers.preflightFailure()).toBeUndefined();
    // No peer posts it.
    await first.world.forge(CURRENT_SLOT);
    expect(await second.peers.preflightFailure()).toMatch(/^behind/);
    await expect.poll(() => third.events).toContain("received 2");
    await expect.poll(() => heightOf(third)).toBe(2);
  });

  test("Two nodes do not broadcast blocks that they fetch before they are in sync.", async () => {
    const [first, second, third] = openRow();
    await first.world.forge(CURRENT_SLOT);
    for (const { peers } of [first, third, second]) await peers.start();
    await expect.poll(() => second.events).toContain("started");
    expect(heightOf(second)).toBe(2);
    // Until then, everything has arrived.
    await second.peers.close();
    expect(third.events.filter((text) => text.endsWith(" 2"))).toEqual([]);
  });

  test("Two nodes broadcast blocks, and report why they must not forge.", async () => {
    const [first, second] = [open(present(HOSTS[0]), []), open(present(HOSTS[1]), [present(HOSTS[0])])];
    await first.peers.start();
    await second.peers.start();
    await expect.poll(() => first.peers.list().length).toBe(1);
    await expect.poll(() => first.peers.preflightFailure()).toBeUndefined();
    expect(await first.peers.submitBlock(first.world.make(CURRENT_SLOT - 1))).toBeUndefined();
    await expect.poll(() => heightOf(second)).toBe(2);
    expect(second.events).toContain("received 2");
    // A block that was never broadcast.
    await first.world.take(first.world.make(CURRENT_SLOT));
    // On a busy machine, the ping can take longer than the check waits for it.
    await expect
      .poll(() => second.peers.preflightFailure())
      .toMatch(/^behind: 1 of 1 peers are at height 3, this node at 2/);
    await expect.poll(() => heightOf(second)).toBe(3);
  });
});

describe("addresses", () => {
  test("Addresses on the blacklist are neither accepted nor dialled.", async () => {
    const [first, second] = [
      open(present(HOSTS[0]), []),
      open(present(HOSTS[1]), [present(HOSTS[0])], { blacklist: ["127.0.0.2"] }),
    ];
    await first.peers.start();
    await second.peers.start();
    expect(second.peers.list()).toEqual([]);
    const connecting = connectPeer({ address: second.host, port: nodes.port, localAddress: first.host });
    await expect(connecting).rejects.toMatchObject({ code: "PEER_UNREACHABLE" });
    await expect(forgerOf(second)).resolves.toBeDefined();
  });

  test("Addresses that the list of separate forgers names exactly are exempt from the rate limits.", async () => {
    const node = open(present(HOSTS[0]), [], { remoteAccess: ["127.0.0.*", "127.0.0.9"] });
    await node.peers.start();
    const request = await forgerOf(node);
    for (let count = 0; count < 5; count++) expect(await request("p2p.peer.getPeers", {})).toEqual([]);
  });
});

describe("a list of seeds", () => {
  /** Serves a text over HTTP. */
  async function serve(text: string): Promise<string> {
    const server = createServer((_, response) => response.end(text)).listen(0, "127.0.0.1");
    await once(server, "listening");
    nodes.onClose(() => server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }

  test("A list of seeds is read from the first source that has one.", async () => {
    const first = open(present(HOSTS[0]), []);
    await first.peers.start();
    const sources = [
      "/nowhere/peers.json",
      await serve("gone"),
      await serve(JSON.stringify({ list: [{ ip: HOSTS[0] }, { ip: "none" }, null] })),
    ];
    const second = open(present(HOSTS[1]), [], { sources });
    await second.peers.start();
    await expect.poll(() => second.events).toContain(`added ${HOSTS[0]}`);
    expect(second.logged).toHaveLength(2);
  });

  test("A list of seeds does not delay the start.", async () => {
    const server = createServer(() => {}).listen(0, "127.0.0.1");
    await once(server, "listening");
    nodes.onClose(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const node = open(present(HOSTS[0]), [], { sources: [`http://127.0.0.1:${port}/`] });
    await node.peers.start();
    await expect.poll(() => node.logged.length).toBe(1);
  });
});

test("Trap A1: a transaction that block 2 cannot hold reaches a peer that was at block 1.", async () => {
  const [first, second] = [open(present(HOSTS[0]), []), open(present(HOSTS[1]), [present(HOSTS[0])])];
  const { data, bytes } = seal(
    builders.transfer({
      network,
      senderPublicKey: rich.publicKey,
      nonce: 1n,
      recipientId: rich.address,
      amount: 1n,
    }),
    rich,
  );
  const { id } = data;
  const items = [transactionToJson(data)];
  // The next block is the second one, whose transactions follow the rules of the first.
  expect((await second.pool.submit(items)).data).toMatchObject({ accept: [], invalid: [id] });
  await first.world.forge(900, 901);
  const result = await first.pool.submit(items);
  expect(result.data).toMatchObject({ accept: [id], invalid: [] });
  first.peers.broadcastTransactions(items, result);
  await first.peers.start();
  await second.peers.start();
  await expect.poll(() => heightOf(second)).toBe(3);
  expect(second.pool.get(id)).toBeUndefined();
  for (const slot of range(902, 911)) {
    expect(await first.peers.submitBlock(first.world.make(slot))).toBeUndefined();
  }
  await expect.poll(() => second.pool.get(id)?.bytes).toEqual(bytes);
  const transactions = second.pool.select({ maxTransactions: 1, maxBytes: 1_000 });
  await expect.poll(() => heightOf(second)).toBe(13);
  const block = second.world.make(CURRENT_SLOT - 1, { transactions });
  expect(await second.peers.submitBlock(block)).toBeUndefined();
  await expect.poll(() => first.world.chain.head().id).toBe(block.header.id);
  for (const { world } of [first, second]) {
    expect(present(world.chain.state.get("wallets", rich.address)).nonce).toBe(1n);
  }
});

describe("a separate forger", () => {
  test("A separate forger is driven by this relay.", async () => {
    const node = open(present(HOSTS[0]), []);
    await node.world.forge(...range(990, 996));
    await node.peers.start();
    const call = await forgerOf(node);
    const round = (await call("p2p.internal.getCurrentRound", {})) as Record<string, unknown>;
    const head = node.world.chain.head();
    expect(round).toMatchObject({
      current: rounds.roundAt(head.height + 1).round,
      reward: 100_000_000,
      timestamp: slots.slotTime(CURRENT_SLOT),
      canForge: true,
      lastBlock: headerToJson(head),
    });
    const next = node.world.make(CURRENT_SLOT);
    expect((round.currentForger as { publicKey: string }).publicKey).toBe(next.header.generatorPublicKey);
    expect(await call("p2p.internal.getUnconfirmedTransactions", {})).toEqual({
      transactions: [],
      poolSize: 0,
    });
    const state = (await call("p2p.internal.getNetworkState", {})) as Record<string, never>;
    expect(state).toMatchObject({ status: 1, nodeHeight: head.height, lastBlockId: head.id });
    expect(await call("p2p.peer.postBlock", { block: encodeBlock(next, network) })).toEqual({});
    await expect.poll(() => node.world.chain.head().id).toBe(next.header.id);
    expect(await call("p2p.internal.emitEvent", { event: "block.forged", body: { id: "a" } })).toEqual({});
    expect(await call("p2p.internal.syncBlockchain", {})).toEqual({});
    expect(node.events).toContain("block.forged");
  });

  test("The forger after the last delegate of the order is the first one.", () => {
    const { chain } = openTestChain();
    const { state } = chain;
    const pool = { select: () => [], size: () => 0 };
    const roundAt = (slot: number) => {
      const nowMs = () => slots.unixMsOf(slots.slotTime(slot));
      const head = () => chain.head();
      return new ForgerHandlers({ network, slots, rounds, state, head, nowMs, pool }).getCurrentRound();
    };
    const { delegates } = roundAt(0);
    for (const [slot, currentForger] of delegates.entries()) {
      const nextForger = delegates[slot + 1] ?? delegates[0];
      expect(roundAt(slot)).toMatchObject({ currentForger, nextForger });
    }
  });

  test("A separate forger can query addresses.", async () => {
    const [node, peer] = [open(present(HOSTS[0]), []), open(present(HOSTS[1]), [present(HOSTS[0])])];
    await node.peers.start();
    await peer.peers.start();
    await expect.poll(() => node.events).toContain(`added ${HOSTS[1]}`);
    const call = await forgerOf(node);
    const ip = "203.0.113.7";
    expect(await call("p2p.internal.isPeerOrForger", { ip })).toEqual({ isPeerOrForger: false });
    for (const known of ["127.0.0.9", "::ffff:127.0.0.9", present(HOSTS[1]), `::ffff:${HOSTS[1]}`]) {
      const result = await call("p2p.internal.isPeerOrForger", { ip: known });
      expect(result).toEqual({ isPeerOrForger: true });
    }
    expect(await call("p2p.internal.isBlockedByRateLimit", { ip })).toEqual({ blocked: false });
    const endpoint = "p2p.peer.getPeers";
    const request = () => call("p2p.internal.getRateLimitStatus", { ip, endpoint });
    // One is allowed in a second.
    expect(await Promise.all([request(), request()])).toEqual([
      { blocked: false, exceededLimitOnEndpoint: false },
      { blocked: false, exceededLimitOnEndpoint: true },
    ]);
    expect(await call("p2p.internal.getRateLimitedEndpoints", {})).toHaveLength(5);
    expect(await call("p2p.internal.acceptNewPeer", { ip })).toEqual({});
  });

  test("A separate forger is refused from another address.", async () => {
    const node = open(present(HOSTS[0]), []);
    await node.peers.start();
    const call = await forgerOf(node, "127.0.0.8");
    await expect(call("p2p.internal.getCurrentRound", {})).rejects.toMatchObject({ code: "PEER_GONE" });
  });
});

test("A banned client loses all its connections, and no other client does.", async () => {
  const node = open(present(HOSTS[0]), []);
  await node.peers.start();
  const connect = async (localAddress: string) => {
    const connection = await connectPeer({ address: node.host, port: nodes.port, localAddress });
    nodes.onClose(() => connection.close());
    return connection;
  };
  const [poster, other, honest] = [
    await connect("127.0.0.8"),
    await connect("127.0.0.8"),
    await connect("127.0.0.7"),
  ];
  const block = node.world.make(CURRENT_SLOT, { keys: keysFromPassphrase("unknown") });
  const posted = poster.call("p2p.peer.postBlock", { block: encodeBlock(block, network) }, LIMITS);
  await expect(posted).rejects.toMatchObject({ code: "PEER_GONE" });
  await other.ended;
  expect((await honest.call("p2p.peer.getPeers", {}, LIMITS)).result).toEqual([]);
  expect(node.peers.bounds().banned).toBe(1);
});

describe("blocks for others", () => {
  test("Blocks for others are sent in the form of old nodes and in that of Uniknode.", async () => {
    const node = open(present(HOSTS[0]), []);
    await node.world.forge(...range(1, 120));
    await node.peers.start();
    const call = await forgerOf(node, "127.0.0.8");
    const ids = [1, 5, 9].map((height) => node.world.header(height).id);
    const { height, id, previousBlock, timestamp } = node.world.header(9);
    expect(await call("p2p.peer.getCommonBlocks", { ids })).toEqual({
      common: { height, id, previousBlock, timestamp },
      lastBlockHeight: 121,
    });
    const recent = await call("p2p.peer.getCommonBlocks", { ids: [node.world.header(100).id] });
    expect(recent).toEqual({ common: headerToJson(node.world.header(100)), lastBlockHeight: 121 });
    await expect(call("p2p.peer.getCommonBlocks", { ids: ["ab".repeat(32)] })).rejects.toMatchObject({
      message: "p2p.peer.getCommonBlocks responded with Couldn't find any common blocks.",
    });
    const blocks = (await call("p2p.peer.getBlocks", { lastBlockHeight: 110, blockLimit: 3 })) as object[];
    expect(blocks.map((block) => (block as { height: number }).height)).toEqual([111, 112, 113]);
    const beyond = open(present(HOSTS[1]), []);
    await beyond.peers.start();
    expect(await (await forgerOf(beyond, "127.0.0.8"))("p2p.peer.getBlocks", { lastBlockHeight: 5 })).toEqual(
      [],
    );
    const { blocks: bytes } = (await call("uniknode.peer.getBlocks", {
      lastBlockHeight: 1,
      blockLimit: 1,
    })) as {
      blocks: Uint8Array;
    };
    expect(decodeHeader(bytes.subarray(4), network).header.id).toBe(node.world.header(2).id);
  });
});
