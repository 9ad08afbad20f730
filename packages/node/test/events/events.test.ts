import { readFileSync } from "node:fs";
import type { Fact, Wallet } from "@uniknode/ledger";
import {
  type Block,
  type BlockHeader,
  hexToBytes,
  type SealedTransaction,
  sealedFromTrustedBytes,
  type Transaction,
} from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import { createSelection } from "../../src/event-log/subscribed-events.ts";
import { eventOfArrival, eventsOfFacts, eventsOfRevert } from "../../src/events/block-events.ts";
import { EVENTS, isEventName, loggedName } from "../../src/events/catalogue.ts";
import { transactionData } from "../../src/events/content.ts";
import {
  eventOfForgerFailure,
  eventOfForgerStart,
  eventOfPeer,
  eventOfStart,
  eventsOfForging,
} from "../../src/events/node-events.ts";
import { toPublicEvent } from "../../src/pool/events.ts";

const header: BlockHeader = {
  id: "f0e0fdd8d1035ac1f228a279037c555bcb650b033263c3f9b80bbbc05c09be99",
  idHex: "f0e0fdd8d1035ac1f228a279037c555bcb650b033263c3f9b80bbbc05c09be99",
  version: 0,
  timestamp: 96000032,
  height: 4,
  previousBlock: "c1ae4ffb21c9e6a04147905cb557df71d3e08da19c181f65e7c4567fac83160b",
  previousBlockHex: "c1ae4ffb21c9e6a04147905cb557df71d3e08da19c181f65e7c4567fac83160b",
  numberOfTransactions: 2,
  totalAmount: 200000000n,
  totalFee: 20000000n,
  reward: 200000000n,
  payloadLength: 64,
  payloadHash: "15e32591f8402c6a93e473ff28778eeff1f52b92645e66cf71a2f4fca8d5e65f",
  generatorPublicKey: "03facae76f92d9ce8687d7e18f709d4f713192ad802119ad645dda4af1a281849d",
  blockSignature: "3044",
};

/** Block data as in events.md 1. */
const B = {
  version: 0,
  timestamp: 96000032,
  height: 4,
  previousBlockHex: header.previousBlockHex,
  previousBlock: header.previousBlock,
  numberOfTransactions: 2,
  totalAmount: "200000000",
  totalFee: "20000000",
  reward: "200000000",
  payloadLength: 64,
  payloadHash: header.payloadHash,
  generatorPublicKey: header.generatorPublicKey,
  blockSignature: "3044",
  idHex: header.id,
  id: header.id,
};

const transaction: Transaction = {
  version: 2,
  network: 68,
  typeGroup: 1,
  type: 6,
  nonce: 1n,
  senderPublicKey: "03b90f77d0d19fd9f826355e3e32ce16afbb9a65778276774f2b1e0001f0e7bd14",
  fee: 10000000n,
  amount: 0n,
  vendorField: "uns vector",
  asset: { payments: [{ amount: 9007199254740993n, recipientId: "UV3rT7Soh3rJX5t5obdeiaLeiBYjeoUjJy" }] },
  signature: "5cd5",
  id: "631e0158ef9577744016f4e996fd5fd0d596cefbc92fd6829a3e5176d5bbe75b",
};
const second: Transaction = { ...transaction, nonce: 2n, id: "5ab84007f68d02f0275ccbcf1ae9086f" };

const T = {
  version: 2,
  network: 68,
  typeGroup: 1,
  type: 6,
  nonce: "1",
  senderPublicKey: transaction.senderPublicKey,
  fee: "10000000",
  amount: "0",
  vendorField: "uns vector",
  asset: { payments: [{ amount: "9007199254740993", recipientId: "UV3rT7Soh3rJX5t5obdeiaLeiBYjeoUjJy" }] },
  signature: "5cd5",
  id: transaction.id,
};

const sealed = (data: Transaction): SealedTransaction => ({
  data,
  bytes: new Uint8Array([1]),
  isVerified: true,
});
const block: Block = { header, transactions: [sealed(transaction), sealed(second)] };

/** The wallet with its holdings, as facts contain it. */
const delegate = {
  address: "UTbvPHcJLfYTs4pC7cZg2d5YdpAbCUpLE5",
  publicKey: header.generatorPublicKey,
  balance: 1234500000000n,
  nonce: 17n,
  attributes: {
    tokens: { "51615becbd39": { type: 1 } },
    vote: header.generatorPublicKey,
    secondPublicKey: "02aa",
    multiSignature: { min: 1, publicKeys: ["02aa", "02bb"] },
    htlc: { locks: {}, lockedBalance: 5n },
    delegate: {
      username: "51615becbd39",
      type: 1,
      voteBalance: 998000000000n,
      forgedFees: 30000000n,
      forgedRewards: 81200000000n,
      producedBlocks: 406,
      rank: 3,
      round: 18,
      resigned: true,
      lastBlock: { id: "aa", height: 401, timestamp: 96003208 },
    },
  },
} as object as Wallet;
const cold: Wallet = { address: "UCold", balance: 7n, nonce: 0n, attributes: {} };

const W = {
  address: delegate.address,
  publicKey: header.generatorPublicKey,
  username: "51615becbd39",
  secondPublicKey: "02aa",
  nonce: "17",
  balance: "1234500000000",
  attributes: {
    tokens: { "51615becbd39": { type: 1 } },
    vote: header.generatorPublicKey,
    secondPublicKey: "02aa",
    multiSignature: { min: 1, publicKeys: ["02aa", "02bb"] },
    htlc: { locks: {}, lockedBalance: "5" },
    delegate: {
      username: "51615becbd39",
      type: 1,
      voteBalance: "998000000000",
      forgedFees: "30000000",
      forgedRewards: "81200000000",
      producedBlocks: 406,
      rank: 3,
      round: 18,
      resigned: true,
      lastBlock: { id: "aa", height: 401, timestamp: 96003208 },
    },
  },
  isDelegate: true,
  isResigned: true,
  vote: header.generatorPublicKey,
  lockedBalance: "5",
  multiSignature: { min: 1, publicKeys: ["02aa", "02bb"] },
};
const C = {
  address: "UCold",
  nonce: "0",
  balance: "7",
  attributes: {},
  isDelegate: false,
  isResigned: false,
};

const SLOTS = { unixMsOf: (time: number) => time * 1_000 };

const facts: Fact[] = [
  { name: "forger.missing", delegate, slot: 12000003 },
  { name: "round.missed", delegate, round: 18 },
  { name: "round.created", delegates: [delegate], round: 19 },
  { name: "round.applied", round: 18 },
  { name: "transaction.applied", transaction, sequence: 0 },
  { name: "delegate.registered", transaction, sequence: 0 },
  { name: "transaction.applied", transaction: second, sequence: 1 },
  { name: "wallet.vote", delegate: "+03fa", transaction: second, sequence: 1 },
  { name: "unik.minted", tokenId: "51615becbd39", ownerId: "UCold", transaction: second, sequence: 1 },
  { name: "wallet.created.cold", wallet: cold },
  { name: "wallet.saved", wallet: cold },
  { name: "block.applied", header },
];

describe("events of an applied block", () => {
  test("Events of an applied block carry the content of the catalogue, in the order of the facts.", () => {
    const T2 = { ...T, nonce: "2", id: second.id, blockId: header.id, sequence: 1 };
    const events = eventsOfFacts(facts, header, SLOTS);
    expect(events.map(({ name, data }) => [name, data])).toEqual([
      ["forger.missing", { delegate: W }],
      ["round.missed", { delegate: W }],
      ["round.created", [{ ...W, votes: "998000000000", round: 19 }]],
      ["round.applied", undefined],
      ["transaction.applied", { ...T, blockId: header.id, sequence: 0 }],
      ["delegate.registered", { ...T, blockId: header.id, sequence: 0 }],
      ["transaction.applied", T2],
      ["wallet.vote", { delegate: "+03fa", transaction: T2 }],
      ["unik.minted", { tokenId: "51615becbd39", ownerId: "UCold", transaction: T2 }],
      ["wallet.created.cold", C],
      ["wallet.saved", C],
      ["block.applied", B],
    ]);
    for (const event of events) {
      expect(event).toMatchObject({ height: 4, blockId: header.id, timeMs: header.timestamp * 1_000 });
      expect(JSON.parse(JSON.stringify(event))).toEqual(event.data === undefined ? { ...event } : event);
    }
  });

  test("Events of an applied block have ids that are distinct, and equal each time the block is applied.", () => {
    const ids = eventsOfFacts(facts, header, SLOTS).map(({ id }) => id);
    expect(new Set(ids).size).toBe(facts.length);
    expect(eventsOfFacts(facts, header, SLOTS).map(({ id }) => id)).toEqual(ids);
    expect(ids[0]).toBe(`forger.missing:${header.id}:12000003`);
    expect(ids[4]).toBe(`transaction.applied:${header.id}:0`);
    expect(ids.at(-1)).toBe(`block.applied:${header.id}`);
  });

  test("Events of an applied block are copies.", () => {
    const events = eventsOfFacts([{ name: "transaction.applied", transaction, sequence: 0 }], header, SLOTS);
    expect(events[0]).not.toHaveProperty(
      "data.asset",
      expect.toSatisfy((asset) => asset === transaction.asset),
    );
  });
});

test("Events of a reverted block are in reverse order and have other ids than those of its application.", () => {
  const events = eventsOfRevert(block, [cold, delegate], SLOTS);
  expect(events.map(({ name, data }) => [name, data])).toEqual([
    ["transaction.reverted", { ...T, nonce: "2", id: second.id, blockId: header.id, sequence: 1 }],
    ["transaction.reverted", { ...T, blockId: header.id, sequence: 0 }],
    ["block.reverted", B],
    ["wallet.saved", C],
    ["wallet.saved", W],
  ]);
  const applied = new Set(eventsOfFacts(facts, header, SLOTS).map(({ id }) => id));
  for (const { id, timeMs } of events)
    expect([applied.has(id), timeMs]).toEqual([false, header.timestamp * 1_000]);
});

test("The event of an arriving block contains its transactions as received.", () => {
  for (const outcome of ["received", "disregarded"] as const) {
    expect(eventOfArrival(block, outcome)).toEqual({
      id: `block.${outcome}:${header.id}`,
      name: `block.${outcome}`,
      height: 4,
      blockId: header.id,
      data: { ...B, transactions: [T, { ...T, nonce: "2", id: second.id }] },
    });
  }
});

describe("members have the order of the old node", () => {
  test("Members have the order of the old node in the block of an arrival.", () => {
    const keys = Object.keys(eventOfArrival(block, "received").data as object);
    expect(keys).toEqual([
      ...Object.keys(B).filter((key) => !/^id/.test(key)),
      "transactions",
      "idHex",
      "id",
    ]);
  });

  test.each(["core", "multisignature", "magistrate", "nft", "uns", "v1"])(
    "Members have the order of the old node in transactions: %s.",
    (group) => {
      const url = new URL(`../../../../test/vectors/crypto/transactions-${group}.json`, import.meta.url);
      const { cases } = JSON.parse(readFileSync(url, "utf8")) as { cases: Recorded[] };
      for (const { name, expect: recorded } of cases) {
        const { data } = sealedFromTrustedBytes(hexToBytes(recorded.serialized));
        const [ours, old] = [pathsOf(transactionData(data)), pathsOf(recorded.json)];
        expect([name, ...ours.filter((path) => old.includes(path))]).toEqual([
          name,
          ...old.filter((path) => ours.includes(path)),
        ]);
      }
    },
  );

  type Recorded = { readonly name: string; readonly expect: { serialized: string; json: unknown } };

  /** Paths of all members, in their order. */
  function pathsOf(value: unknown, path = ""): string[] {
    if (typeof value !== "object" || value === null) return [];
    return Object.entries(value).flatMap(([key, member]) => [
      `${path}.${key}`,
      ...pathsOf(member, `${path}.${key}`),
    ]);
  }
});

describe("events of the pool", () => {
  test("The pool has one event for each batch of added and of rejected transactions.", () => {
    const added = toPublicEvent({ name: "transaction.pool.added", transactions: block.transactions });
    expect(added.data).toEqual([T, { ...T, nonce: "2", id: second.id }]);
    const rejected = toPublicEvent({
      name: "transaction.pool.rejected",
      rejected: [{ transaction: sealed(transaction), code: "ERR_APPLY", message: "no" }],
    });
    expect(rejected.data).toEqual([{ transaction: T, type: "ERR_APPLY", message: "no" }]);
    expect(added.id).toMatch(/^transaction\.pool\.added:[0-9a-f]{64}$/);
    expect(added.height).toBeUndefined();
  });

  test("Every transaction removed from the pool has the same form of event.", () => {
    for (const name of ["transaction.pool.removed", "transaction.expired"] as const) {
      expect(toPublicEvent({ name, transaction: sealed(transaction) })).toEqual({
        id: `${name}:${transaction.id}`,
        name,
        data: T,
      });
    }
  });
});

describe("events of the node", () => {
  test("The node has events for forging.", () => {
    const names = (isRecorded: (name: string) => boolean) =>
      eventsOfForging(block, isRecorded).map(({ name }) => name);
    expect(names((name) => name === "block.forged")).toEqual(["block.forged"]);
    expect(eventsOfForging(block, () => true).map(({ id, name, data }) => [id, name, data])).toEqual([
      [`block.forged:${header.id}`, "block.forged", B],
      [`transaction.forged:${header.id}:0`, "transaction.forged", T],
      [`transaction.forged:${header.id}:1`, "transaction.forged", { ...T, nonce: "2", id: second.id }],
    ]);
    expect(eventOfForgerFailure(new Error("why"), 5)).toEqual({
      id: "forger.failed:5",
      name: "forger.failed",
      data: { error: "why" },
    });
    expect(eventOfForgerStart(["02aa"], 5).data).toEqual({ activeDelegates: ["02aa"] });
    expect(eventOfStart(5)).toEqual({ id: "state.started:5", name: "state.started", data: true });
  });

  test("The node has events for peers.", () => {
    const plugins = { "@arkecosystem/core-api": { port: 4003, enabled: true } };
    const state = { height: 6, forgingAllowed: true, currentSlot: 38140360 };
    const verificationResult = { myHeight: 6, hisHeight: 6, highestCommonHeight: 6 };
    const peer = { ip: "203.0.113.7", port: 4001, ports: {}, plugins };
    const verified = { verification: verificationResult, lastPingedMs: Date.UTC(2021, 4, 1, 10) };
    const content = { ...peer, verificationResult, lastPinged: "2021-05-01T10:00:00.000Z" };
    const full = { ...peer, ...verified, version: "5.7.2", latencyMs: 37, state: { ...state, header } };
    expect(eventOfPeer(full, "added", 9)).toEqual({
      id: "peer.added:203.0.113.7:4001:9",
      name: "peer.added",
      data: { ...content, version: "5.7.2", latency: 37, state: { ...state, header: B } },
    });
    expect(eventOfPeer({ ...peer, ...verified, state }, "removed", 9).data).toEqual({ ...content, state });
  });
});

describe("recorded events", () => {
  const names = (now: number, { subscribed = ["block.applied"], blocktime = 8 } = {}) => {
    const select = createSelection({
      subscribedEvents: { names: () => new Set(subscribed), markGap: () => {} },
      slots: { ...SLOTS, blocktime },
      now: () => now,
    });
    return select(facts, header).map(({ name }) => name);
  };

  test("Recorded events are the events with a subscriber.", () => {
    expect(names(header.timestamp)).toEqual(["block.applied"]);
    expect(names(header.timestamp, { subscribed: [] })).toEqual([]);
  });

  test("Recorded events are not older than a day while the node catches up.", () => {
    expect(names(header.timestamp + 86_400)).toEqual(["block.applied"]);
    expect(names(header.timestamp + 86_401)).toEqual([]);
    expect(names(header.timestamp + 86_401, { blocktime: 30_000 })).toEqual(["block.applied"]);
  });
});

test("The catalogue has the 23 names of the interface, and more.", () => {
  const offered =
    `block.applied block.disregarded block.forged block.received block.reverted delegate.registered
    delegate.resigned forger.failed forger.missing forger.started peer.added peer.removed round.created state:started
    transaction.applied transaction.expired transaction.forged transaction.pool.added transaction.pool.rejected
    transaction.pool.removed transaction.reverted wallet.saved wallet.created.cold`.split(/\s+/);
  expect(offered).toHaveLength(23);
  const more =
    `round.applied round.missed wallet.vote wallet.unvote state.started unik.minted unik.transferred
    unik.updated unik.disclosed block.finalized`.split(/\s+/);
  expect(Object.keys(EVENTS).sort()).toEqual([...offered, ...more].sort());
  for (const name of [...offered, ...more]) expect(isEventName(name)).toBe(true);
  for (const name of [
    "internal.milestone.changed",
    "stateBuilder.finished",
    "state.starting",
    "snapshot.start",
    "shutdown",
    "block.Applied",
    "",
    "constructor",
  ])
    expect(isEventName(name)).toBe(false);
  expect(loggedName("state:started")).toBe("state.started");
  expect(loggedName("block.applied")).toBe("block.applied");
});
