/** Broadcast of blocks and transactions (p2p.md 12.1 and 12.2). */
import {
  createNetwork,
  decodeHeader,
  encodeHeader,
  type SealedTransaction,
  transactionFromJson,
  transactionToJson,
} from "@uniknode/protocol";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { BlockBroadcast, BlockObservations } from "../../src/peers/block-broadcast.ts";
import { Rebroadcast, TransactionBroadcast } from "../../src/peers/transactions.ts";
import type { PeerClient } from "../../src/peers/transport/client.ts";
import { present } from "../../src/platform/present.ts";
import { network, openTestChain } from "../../test-support/peers/chains.ts";
import { testNetwork } from "../../test-support/peers/test-network.ts";

const logger = pino({ level: "silent" });
const peers = Array.from({ length: 40 }, (_, index) => `203.0.113.${index}`);

const senderAt = (index: number) => `198.51.100.${index}`;

type Sent = { ip: string; event: string; argument: Record<string, unknown> };
function sending() {
  const sent: Sent[] = [];
  const request = (async (ip: string, event: string, argument: Sent["argument"]) => {
    sent.push({ ip, event, argument });
  }) as unknown as PeerClient["request"];
  return { sent, request };
}

describe("a block", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const another = { id: "another", height: 9 };
  type Seen = {
    readonly count: number;
    readonly spreadMs?: number;
    /** Transactions posted during the observation time. */
    readonly again?: number;
    /** All posts are from one client. */
    readonly isSame?: boolean;
    /** Another block is received during the observation, or was received before it. */
    readonly later?: boolean;
    readonly before?: boolean;
  };
  async function broadcast(seen: Seen): Promise<number> {
    const world = openTestChain();
    const block = world.make(5);
    const observations = new BlockObservations();
    if (seen.count > 0) {
      observations.begin(block.header, 0, senderAt(0));
      for (let count = 1; count < seen.count; count++)
        observations.count(block.header, seen.spreadMs ?? 0, senderAt(count));
    } else observations.begin(block.header, 0, undefined);
    if (seen.before) observations.begin(another, 1, senderAt(0));
    const { sent, request } = sending();
    const broadcast = new BlockBroadcast({
      peers: () => peers,
      request,
      hasCapacity: () => true,
      observations,
      logger,
    });
    const done = broadcast.broadcast(block);
    for (let count = 0; count < (seen.again ?? 0); count++)
      observations.count(block.header, 100, seen.isSame ? senderAt(0) : senderAt(seen.count + count));
    if (seen.later) observations.begin(another, 1, senderAt(0));
    await vi.advanceTimersByTimeAsync(500);
    await done;
    await world.close();
    expect(new Set(sent.map(({ ip }) => ip)).size).toBe(sent.length);
    return sent.length;
  }

  test.each([
    ["of our own goes to all peers", { count: 0 }, 40],
    ["seen once goes to three quarters", { count: 1 }, 30],
    ["seen twice goes to half", { count: 2 }, 20],
    ["seen four times is not sent", { count: 4 }, 0],
    ["that is received twice more during the observation goes to a quarter", { count: 1, again: 2 }, 10],
    ["that one client posts five times goes to three quarters", { count: 1, again: 4, isSame: true }, 30],
    ["that is not the latest one goes to all peers", { count: 1, before: true }, 40],
    ["that is no longer the latest one is not sent", { count: 1, later: true }, 0],
    ["observed for long enough is sent at once", { count: 3, spreadMs: 500 }, 10],
  ])("%s", async (_, seen: Seen, recipients) => {
    expect(await broadcast(seen)).toBe(recipients);
  });
});

describe("blocks that wait for the rate limit of a peer", () => {
  test("Blocks that wait for the rate limit of a peer are replaced by the newest one.", async () => {
    const world = openTestChain();
    const turns: (() => void)[] = [];
    const sent: number[] = [];
    const request = (async (_ip: string, _event: string, argument: () => { block: Uint8Array }) => {
      await new Promise<void>((resolve) => turns.push(resolve));
      sent.push(decodeHeader(argument().block, network).header.height);
    }) as unknown as PeerClient["request"];
    const observations = new BlockObservations();
    const broadcast = new BlockBroadcast({
      peers: () => peers.slice(0, 1),
      request,
      hasCapacity: () => true,
      observations,
      logger,
    });
    const block = world.make(5);
    const at = (height: number) => {
      const header = { ...block.header, height, id: `block ${height}`, previousBlock: "ab".repeat(32) };
      return { ...block, header, headerBytes: encodeHeader(header, network) };
    };
    const passed = [5, 7, 6].map((height) => broadcast.broadcast(at(height)));
    await new Promise((resolve) => setImmediate(resolve));
    expect(turns).toHaveLength(1);
    present(turns[0])();
    await Promise.all(passed);
    expect(sent).toEqual([7]);
    expect(broadcast.dropped()).toBe(2);
    const next = broadcast.broadcast(at(8));
    await new Promise((resolve) => setImmediate(resolve));
    present(turns[1])();
    await next;
    await world.close();
    expect(sent).toEqual([7, 8]);
  });
});

describe("a block that was fetched", () => {
  async function announceFetched(isPosted: boolean, free: readonly string[]): Promise<string[]> {
    const world = openTestChain();
    const block = world.make(5);
    const observations = new BlockObservations();
    if (isPosted) observations.begin(block.header, 0, senderAt(0));
    const { sent, request } = sending();
    const hasCapacity = (ip: string, event: string, count: number) =>
      event === "p2p.peer.postBlock" && count === 2 && free.includes(ip);
    const broadcast = new BlockBroadcast({
      peers: () => peers,
      request,
      hasCapacity,
      observations,
      logger,
    });
    const { id, height } = block.header;
    await broadcast.announceFetched(height, { id, header: block.headerBytes, transactions: [] });
    await world.close();
    return sent.map(({ ip }) => ip);
  }

  test("A fetched block is sent to every peer that could receive one of our own immediately after it.", async () => {
    expect(await announceFetched(false, peers)).toEqual(peers);
    expect(await announceFetched(false, peers.slice(0, 3))).toEqual(peers.slice(0, 3));
  });

  test("A block that was fetched is not sent if a peer has posted it in the meantime.", async () => {
    expect(await announceFetched(true, peers)).toEqual([]);
  });
});

describe("transactions", () => {
  const { files, block } = testNetwork({ nodes: 45, blocktime: 8 });
  const network = createNetwork(files);
  const sealed = block.transactions;
  const items = sealed.map(({ data }) => transactionToJson(data));
  const idsOf = (some: readonly SealedTransaction[]) => some.map(({ data }) => data.id);
  const resultWith = (broadcast: string[]) => ({ data: { accept: [], broadcast, excess: [], invalid: [] } });

  /** Broadcasts the selected items; the pool has those of `pending`. */
  async function messagesTo(
    recipients: readonly string[],
    given: readonly Record<string, unknown>[],
    selected: readonly SealedTransaction[],
    pending: readonly SealedTransaction[] = [],
  ) {
    const { sent, request } = sending();
    const broadcast = new TransactionBroadcast({
      ...{ peers: () => [...recipients], request, logger },
      pending: (id) => pending.find(({ data }) => data.id === id),
      read: (item) => transactionFromJson(item, { network, height: 1 }, { checkSignature: false }),
    });
    await broadcast.broadcast(given, resultWith(idsOf(selected)));
    return sent.map(({ event, argument }) => ({ event, transactions: argument.transactions as object[] }));
  }
  const first = present(sealed[0]);
  const peer = ["203.0.113.1"];

  test("Transactions of the pool are sent with their real id, whatever id they were received with.", async () => {
    const { network: _, ...given } = present(items[0]);
    const messages = await messagesTo(peer, [{ ...given, id: "00".repeat(32) }], [first], [first]);
    expect(messages.map(({ transactions }) => transactions)).toEqual([[items[0]]]);
  });

  test("Transactions beside the pool are sent as they were decoded: peers refuse other members.", async () => {
    const given = { ...items[0], "": 1, extra: 1e300, asset: undefined };
    const messages = await messagesTo(peer, [given, ...items.slice(1, 2)], sealed.slice(0, 2));
    expect(messages.map(({ transactions }) => transactions)).toEqual([items.slice(0, 2)]);
  });

  test("A transaction beside the pool that can no longer be read is not sent.", async () => {
    const given = { ...items[0], version: 2 };
    const messages = await messagesTo(peer, [given, ...items.slice(1, 2)], sealed.slice(0, 2));
    expect(messages.map(({ transactions }) => transactions)).toEqual([items.slice(1, 2)]);
  });

  test("Transactions go to twenty peers, only the ones that the pool selected.", async () => {
    const messages = await messagesTo(peers, items, [first, present(sealed[2])]);
    expect(messages).toHaveLength(20);
    expect(messages[0]).toEqual({ event: "p2p.peer.postTransactions", transactions: [items[0], items[2]] });
  });

  test("Transactions never exceed forty per message, nor the size that every peer accepts.", async () => {
    const keys = Array.from({ length: 120 }, () => "k");
    const large = { ...first, data: { ...first.data, id: "large", asset: { votes: keys } } };
    const some = [...sealed.slice(0, 45), large];
    const messages = await messagesTo(peer, [], some, some);
    expect(messages.map(({ transactions }) => transactions.length)).toEqual([40, 5]);
  });

  test("Transactions that the pool did not select are not sent.", async () => {
    expect(await messagesTo(peers, items, [])).toEqual([]);
  });
});

describe("transactions that stay pending", () => {
  /** Pending transactions by id, and the ids of each message that is sent again. */
  function repeating() {
    const pending = new Map<string, SealedTransaction>();
    const sent: unknown[][] = [];
    const rebroadcast = new Rebroadcast({
      pending: (id) => pending.get(id),
      send: (transactions) => sent.push(transactions.map(({ id }) => id)),
    });
    return { pending, sent, rebroadcast };
  }
  const transactions = testNetwork({ nodes: 45, blocktime: 8 }).block.transactions;
  const idsOf = (some: readonly SealedTransaction[]) => some.map(({ data }) => data.id);

  test("Transactions that stay pending are sent again after ten blocks, and after ten more.", () => {
    const { pending, sent, rebroadcast } = repeating();
    const [one, other] = transactions;
    for (const some of [present(one), present(other)]) pending.set(some.data.id, some);
    rebroadcast.sent([present(one).data.id], 5);
    rebroadcast.sent([present(other).data.id, "elsewhere"], 8);
    for (let height = 6; height <= 25; height++) rebroadcast.headMoved(height);
    const [first, second] = [[present(one).data.id], [present(other).data.id]];
    expect(sent).toEqual([first, second, first]);
  });

  test("Transactions that stay pending are not sent again after they have left the pool.", () => {
    const { pending, sent, rebroadcast } = repeating();
    const [one] = transactions;
    pending.set(present(one).data.id, present(one));
    rebroadcast.sent([present(one).data.id], 5);
    pending.clear();
    for (let height = 6; height <= 40; height++) rebroadcast.headMoved(height);
    pending.set(present(one).data.id, present(one));
    rebroadcast.headMoved(41);
    expect(sent).toEqual([]);
  });

  test("Transactions that stay pending are never more than forty in a message.", () => {
    const { pending, sent, rebroadcast } = repeating();
    for (const some of transactions) pending.set(some.data.id, some);
    rebroadcast.sent(idsOf(transactions), 1);
    rebroadcast.headMoved(11);
    rebroadcast.headMoved(12);
    expect(sent.map(({ length }) => length)).toEqual([40, transactions.length - 40]);
    expect(sent.flat()).toEqual(idsOf(transactions));
  });
});
