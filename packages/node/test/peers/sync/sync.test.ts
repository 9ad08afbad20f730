/** Synchronisation with the peers, and consequences of refused blocks for their source (p2p.md 13). */
import { RuleError } from "@uniknode/ledger";
import { type Block, encodeBlock } from "@uniknode/protocol";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Chain } from "../../../src/chain/chain.ts";
import type { Fetch } from "../../../src/peers/download/source.ts";
import { type Peer, PeerTable } from "../../../src/peers/peer-table.ts";
import { Sync, type SyncDeps } from "../../../src/peers/sync/sync.ts";
import { present } from "../../../src/platform/present.ts";
import {
  keysOf,
  LAST_SLOT,
  network,
  openTestChain,
  range,
  slots,
  type TestChain,
} from "../../../test-support/peers/chains.ts";

const IP = "203.0.113.7";
/** A failed round of synchronisation is repeated after a second. */
let own: TestChain;
let other: TestChain;
let blocks: Block[];
let peerTable: PeerTable;
let banned: string[];
let errors: string[];
/** Heights at which it was in sync. */
let inboundBlocks: number[];
/** Heads that were fetched. */
let fetched: number[];
/** Suspended and reinstated peers. */
let doubted: string[];
let trusted: string[];
let sync: Sync;
/** Slot of the present time. */
let slot: number;

beforeEach(async () => {
  own = openTestChain();
  other = openTestChain();
  blocks = await other.forge(...range(1, 20));
  peerTable = new PeerTable(() => {});
  banned = [];
  errors = [];
  inboundBlocks = [];
  fetched = [];
  doubted = [];
  trusted = [];
  slot = LAST_SLOT;
});
afterEach(async () => {
  vi.useRealTimers();
  await sync.close();
  await own.close();
  await other.close();
});

/** Adds a peer that has the other chain, or claims to have more. */
const meet = (ip = IP, hisHeight = 21) =>
  peerTable.put({
    ip,
    height: hisHeight,
    status: { isUniknode: true, state: {} },
    verification: {
      myHeight: own.chain.head().height,
      hisHeight,
      highestCommonHeight: own.chain.head().height,
    },
  } as Peer);

/** The own chain, of which some methods are replaced. */
const chainWith = (changes: Partial<SyncDeps["chain"]>): SyncDeps["chain"] => ({
  head: own.chain.head,
  subscribe: own.chain.subscribe,
  acceptFetched: (some, options) => own.chain.acceptFetched(some, options),
  canRevertTo: (height) => own.chain.canRevertTo(height),
  discardUnchecked: () => own.chain.discardUnchecked(),
  switchTo: (height, branch, onHeader) => own.chain.switchTo(height, branch, onHeader),
  ...changes,
});

function create(
  fetch: Fetch,
  chain: SyncDeps["chain"] = own.chain,
  pingAll: SyncDeps["pingAll"] = async () => {},
): void {
  sync = new Sync({
    network,
    chain,
    peerTable,
    pingAll,
    fetch,
    ban: (ip) => {
      banned.push(ip);
      peerTable.remove(ip);
    },
    suspend(ip) {
      doubted.push(ip);
      peerTable.remove(ip);
    },
    reinstate: (ip) => trusted.push(ip),
    onForeignHeader: () => {},
    onFetched: ({ height }) => fetched.push(height),
    onSynced: () => inboundBlocks.push(chain.head().height),
    slots,
    nowMs: () => slots.unixMsOf(slots.slotTime(slot)),
    logger: pino({ level: "error" }, { write: (line: string) => void errors.push(JSON.parse(line).msg) }),
  });
}

function follow(...given: Parameters<typeof create>): void {
  create(...given);
  sync.start();
}

const bytesAfter = (after: number, limit: number) =>
  blocks.slice(after - 1, after - 1 + limit).map((block) => encodeBlock(block, network));

test("A node without peers is in sync.", async () => {
  follow(async () => []);
  await expect.poll(() => sync.isSynced()).toBe(true);
});

test("A node is not in sync before the first round of discovery.", async () => {
  create(async () => []);
  sync.trigger();
  await new Promise((resolve) => setImmediate(resolve));
  expect(sync.isSynced()).toBe(false);
  sync.start();
  await expect.poll(() => sync.isSynced()).toBe(true);
});

test("A node reports once that it is in sync, when it has every block.", async () => {
  meet();
  follow(async (_, after, limit) => bytesAfter(after, limit));
  await expect.poll(() => sync.isSynced()).toBe(true);
  sync.trigger();
  await sync.close();
  expect(inboundBlocks).toEqual([21]);
});

test.each(range(0, 12))("A trigger %i microtasks after a round is not lost.", async (microtasks) => {
  let rounds = 0;
  create(
    async () => [],
    own.chain,
    async () => {
      if (++rounds > 1) return;
      // The round has nothing left to wait for.
      let trigger = Promise.resolve();
      for (let count = 0; count < microtasks; count++) trigger = trigger.then(() => {});
      void trigger.then(() => sync.trigger());
    },
  );
  sync.start();
  await expect.poll(() => rounds).toBe(2);
});

test("The chain learns the height that most sources claim, with each download.", async () => {
  meet();
  const targets: unknown[] = [];
  const acceptFetched: Chain["acceptFetched"] = (some, options) => {
    targets.push(options?.targetHeight);
    return own.chain.acceptFetched(some, options);
  };
  follow(async (_, after, limit) => bytesAfter(after, limit), chainWith({ acceptFetched }));
  await expect.poll(() => own.chain.head().id).toBe(present(blocks.at(-1)).header.id);
  expect(new Set(targets)).toEqual(new Set([present(blocks.at(-1)).header.height]));
});

test("A stopping node does not execute fetched blocks, and blames no peer for them.", async () => {
  meet();
  const given = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const acceptFetched: Chain["acceptFetched"] = async (some, options) => {
    given.resolve();
    await go.promise;
    return own.chain.acceptFetched(some, options);
  };
  follow(async (_, after, limit) => bytesAfter(after, limit), chainWith({ acceptFetched }));
  await given.promise;
  const closed = sync.close();
  go.resolve();
  await closed;
  expect(own.chain.head().height).toBe(1);
  expect({ banned, doubted, peer: peerTable.get(IP)?.ip }).toEqual({ banned: [], doubted: [], peer: IP });
});

test("A stopping node does not wait for pings.", async () => {
  create(
    async () => [],
    own.chain,
    ({ signal }) => new Promise((resolve) => present(signal).addEventListener("abort", () => resolve())),
  );
  sync.start();
  await sync.close();
  expect(sync.isSynced()).toBe(false);
});

test("Blocks are fetched until no peer has more.", async () => {
  meet();
  follow(async (_, after, limit) => bytesAfter(after, limit));
  expect(sync.isSynced()).toBe(false);
  await expect.poll(() => own.chain.head().height).toBe(21);
  await expect.poll(() => sync.isSynced()).toBe(true);
  expect(sync.progress()).toBeUndefined();
  expect(peerTable.get(IP)).toBeDefined();
  expect(fetched).toEqual([21]);
});

test("The progress is available from the first request on.", async () => {
  meet();
  const { promise, resolve } = Promise.withResolvers<void>();
  follow(async (_, after, limit) => {
    await promise;
    return bytesAfter(after, limit);
  });
  await expect.poll(() => sync.progress()).toEqual({ target: 21, percent: 4, blocksPerSecond: 0 });
  resolve();
  await expect.poll(() => sync.isSynced()).toBe(true);
  expect(sync.progress()).toBeUndefined();
});

test("A peer that sends a block that is invalid by itself is banned.", async () => {
  meet();
  follow(async (_, after, limit) => {
    const blocks = bytesAfter(after, limit);
    const first = present(blocks[0]);
    // The last byte of the signature.
    first[first.length - 1] = present(first.at(-1)) ^ 1;
    return blocks;
  });
  await expect.poll(() => banned).toEqual([IP]);
  expect(own.chain.head().height).toBe(1);
});

test.each([
  ["because the state cannot be read does not ban", new Error("disk I/O error"), []],
  ["by a rule bans", new RuleError("x", "invalid multi signatures"), [IP]],
])("A block whose verification fails %s its source.", async (_, cause, expected) => {
  meet();
  const outcome = { kind: "Rejected", reason: "verification-failed", faults: [], cause } as const;
  const acceptFetched: Chain["acceptFetched"] = async () => [outcome];
  follow(async (_, after, limit) => bytesAfter(after, limit), chainWith({ acceptFetched }));
  await expect.poll(() => peerTable.get(IP)).toBeUndefined();
  expect(banned).toEqual(expected);
});

test("A peer that sends blocks of another chain is dropped.", async () => {
  meet();
  const stranger = openTestChain();
  const strange = await stranger.forge(...range(400, 410));
  follow(async () => strange.slice(3).map((block) => encodeBlock(block, network)));
  await expect.poll(() => peerTable.get(IP)).toBeUndefined();
  expect(banned).toEqual([]);
  await stranger.close();
});

test("A peer that sends blocks that are not chained is dropped, even if the delegate of the slot made the last one.", async () => {
  meet();
  const twin = openTestChain();
  await twin.take(...blocks.slice(0, 4));
  const [, stray] = await twin.forge(6, 7);
  const fitting = blocks.slice(0, 5);
  const kinds: string[] = [];
  const acceptFetched: Chain["acceptFetched"] = async (given) => {
    const outcomes = await own.chain.acceptFetched(given);
    kinds.push(...outcomes.map(({ kind }) => kind));
    return outcomes;
  };
  const sent = [...fitting, present(stray)].map((block) => encodeBlock(block, network));
  follow(async () => sent, chainWith({ acceptFetched }));
  await expect.poll(() => peerTable.get(IP)).toBeUndefined();
  expect(kinds.slice(0, 6)).toEqual([...fitting.map(() => "Accepted"), "Rollback"]);
  expect(own.chain.head().id).toBe(present(fitting.at(-1)).header.id);
  expect(banned).toEqual([]);
  await twin.close();
});

test("No peer is dropped for a block that was posted in the meantime.", async () => {
  meet();
  let requested = 0;
  follow(async (_, after, limit) => {
    if (requested++ === 0) await own.take(present(blocks[0]));
    return bytesAfter(after, limit);
  });
  await expect.poll(() => own.chain.head().height).toBe(21);
  expect(peerTable.get(IP)).toBeDefined();
  expect(banned).toEqual([]);
});

describe("a claimed height", () => {
  test("A claimed height of a peer that sends nothing leaves the node in sync, and the peer is suspended.", async () => {
    const requested: number[] = [];
    follow(async (_, _after, limit) => {
      requested.push(limit);
      return [];
    });
    await expect.poll(() => sync.isSynced()).toBe(true);
    meet();
    sync.trigger();
    await expect.poll(() => doubted).toEqual([IP]);
    expect(sync.isSynced()).toBe(true);
    expect(trusted).toEqual([]);
    // At first no more than a few blocks.
    expect(Math.max(...requested)).toBeLessThanOrEqual(5);
  });

  test("A claimed height whose first blocks arrive makes the node fetch all of them.", async () => {
    follow(async (_, after, limit) => bytesAfter(after, limit));
    await expect.poll(() => sync.isSynced()).toBe(true);
    meet();
    sync.trigger();
    await expect.poll(() => own.chain.head().height).toBe(21);
    expect(doubted).toEqual([]);
    expect(trusted).toContain(IP);
    await expect.poll(() => sync.isSynced()).toBe(true);
  });
});

describe("a claimed height above that of the network", () => {
  const LIAR = "203.0.113.9";
  const CLAIMED = 1_000_000;
  /** The liar keeps requests for blocks that do not exist open. */
  const honestOrOpen: Fetch = async (_, after, limit) =>
    after < 21 ? bytesAfter(after, limit) : new Promise(() => {});

  test("A claimed height does not delay the first synchronisation of a node whose head is recent.", async () => {
    slot = 22;
    meet();
    meet(LIAR, CLAIMED);
    follow(honestOrOpen);
    await expect.poll(() => inboundBlocks).toEqual([21]);
    expect(sync.isSynced()).toBe(true);
  });

  test("A claimed height is verified again after two minutes of a download with few blocks.", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
    meet();
    meet(LIAR, CLAIMED);
    let rounds = 0;
    create(honestOrOpen, own.chain, async () => {
      if (++rounds > 1) peerTable.remove(LIAR);
    });
    const reached = Promise.withResolvers<void>();
    own.chain.subscribe(({ head }) => head.height === 21 && reached.resolve());
    sync.start();
    await reached.promise;
    await vi.advanceTimersByTimeAsync(119_999);
    expect([rounds, sync.isSynced()]).toEqual([1, false]);
    await vi.advanceTimersByTimeAsync(1);
    await expect.poll(() => sync.isSynced()).toBe(true);
    expect([rounds, doubted]).toEqual([2, []]);
  });

  test("A claimed height does not put a node out of sync that reached the present slot.", async () => {
    slot = 22;
    follow(honestOrOpen);
    await expect.poll(() => sync.isSynced()).toBe(true);
    await own.take(...blocks.slice(0, 15));
    meet(LIAR, CLAIMED);
    sync.trigger();
    await expect.poll(() => own.chain.head().height).toBe(21);
    expect(sync.isSynced()).toBe(true);
    expect(inboundBlocks).toEqual([1]);
  });
});

describe("a wrong branch", () => {
  const COMMON = 6;
  const OTHERS = [IP, "203.0.113.8"];

  beforeEach(async () => {
    await own.take(...blocks.slice(0, COMMON - 1));
    await own.forge(...range(40, 45));
    for (const ip of OTHERS) {
      peerTable.put({
        ip,
        height: 21,
        status: { isUniknode: true, state: {} },
        verification: { myHeight: 12, hisHeight: 21, highestCommonHeight: COMMON },
      } as Peer);
    }
  });

  test("A wrong branch is replaced by the higher one at once.", async () => {
    const heights: number[] = [];
    own.chain.subscribe(({ head }) => heights.push(head.height));
    follow(async (_, after, limit) => bytesAfter(after, limit));
    await expect.poll(() => own.chain.head().id).toBe(present(blocks.at(-1)).header.id);
    expect(heights).toEqual([21]);
    await expect.poll(() => fetched).toEqual([21]);
  });

  test("A wrong branch is kept while no peer sends the other one; peers that claimed it are dropped.", async () => {
    const before = own.chain.head();
    follow(async () => []);
    await expect.poll(() => peerTable.all()).toEqual([]);
    expect(own.chain.head()).toBe(before);
    await expect.poll(() => sync.isSynced()).toBe(true);
  });

  test("A wrong branch is kept if the peers that claim the other one do not send it in ten minutes.", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const requested = Promise.withResolvers<void>();
    follow(() => {
      requested.resolve();
      return new Promise(() => {});
    });
    await requested.promise;
    await vi.advanceTimersByTimeAsync(599_999);
    expect([doubted, sync.isSynced()]).toEqual([[], false]);
    await vi.advanceTimersByTimeAsync(1);
    // The sources are used in random order.
    expect(doubted.toSorted()).toEqual(OTHERS);
    await vi.advanceTimersByTimeAsync(1_000);
    await expect.poll(() => sync.isSynced()).toBe(true);
    expect(own.chain.head().height).toBe(COMMON + 6);
  });

  test("A wrong branch is kept, with an error in the log, if too many blocks would have to be reverted.", async () => {
    for (const { ip } of peerTable.all()) peerTable.remove(ip);
    peerTable.put({
      ip: IP,
      height: 5_008,
      status: { isUniknode: true, state: {} },
      verification: { myHeight: 5_007, hisHeight: 5_008, highestCommonHeight: COMMON },
    } as Peer);
    let requested = 0;
    const high = { ...own.chain.head(), height: 5_007 };
    follow(async () => [new Uint8Array(++requested)], chainWith({ head: () => high }));
    // The node continues: a claim whose blocks cannot be fetched is not proved.
    await expect.poll(() => sync.isSynced()).toBe(true);
    expect(requested).toBe(0);
    expect(fetched).toEqual([]);
    expect(errors).toEqual([expect.stringContaining("beyond the maximum rollback")]);
  });

  test("A wrong branch is kept, with an error in the log, if undo records are missing.", async () => {
    const switchTo = async () => expect.unreachable("no switch without undo records");
    follow(async () => [], chainWith({ canRevertTo: () => false, switchTo }));
    await expect.poll(() => sync.isSynced()).toBe(true);
    expect(errors).toEqual([expect.stringContaining("on a branch below the undo records: restart")]);
    expect(own.chain.head().height).toBe(COMMON + 6);
  });

  test("A wrong branch is discarded with all unchecked blocks, if too many blocks would have to be reverted.", async () => {
    const peer = (height: number, highestCommonHeight: number) =>
      ({
        ip: IP,
        height: 5_008,
        status: { isUniknode: true, state: {} },
        verification: { myHeight: height, hisHeight: 5_008, highestCommonHeight },
      }) as Peer;
    for (const { ip } of peerTable.all()) peerTable.remove(ip);
    peerTable.put(peer(5_007, COMMON));
    let isDiscarded = false;
    const high = { ...own.chain.head(), height: 5_007 };
    const discardUnchecked = async () => {
      peerTable.remove(IP);
      isDiscarded = true;
      return true;
    };
    const head = () => (isDiscarded ? own.chain.head() : high);
    follow(async () => [], chainWith({ head, discardUnchecked }));
    await expect.poll(() => sync.isSynced()).toBe(true);
    expect(isDiscarded).toBe(true);
    expect(errors).toEqual([]);
  });

  test("A wrong branch is kept when a block of the other one is invalid, and its source is banned.", async () => {
    const before = own.chain.head();
    follow(async (_, after, limit) => {
      const bytes = bytesAfter(after, limit);
      const last = present(bytes.at(-1));
      last[last.length - 1] = present(last.at(-1)) ^ 1;
      return bytes;
    });
    await expect.poll(() => banned.length).toBeGreaterThan(0);
    expect(own.chain.head()).toBe(before);
  });

  test("A wrong branch is kept when the rules refuse the last block of the other one, and its source is suspended.", async () => {
    const before = own.chain.head();
    const stranger = other.make(22).header.generatorPublicKey;
    expect(stranger).not.toBe(other.make(21).header.generatorPublicKey);
    blocks = [...blocks, other.make(21, { keys: present(keysOf.get(stranger)) })];
    for (const peer of peerTable.all()) {
      peerTable.put({ ...peer, verification: { ...peer.verification, hisHeight: 22 } });
    }
    follow(async (_, after, limit) => bytesAfter(after, limit));
    // Each source sends it once.
    await expect.poll(() => doubted.toSorted()).toEqual(OTHERS);
    expect(banned).toEqual([]);
    expect(own.chain.head()).toBe(before);
    expect(errors).toEqual([]);
  });

  test("A wrong branch is kept when the source of the other one changes its branch meanwhile, and is only dropped.", async () => {
    const before = own.chain.head();
    const third = openTestChain();
    await third.take(...blocks.slice(0, COMMON - 1));
    const changed = await third.forge(...range(60, 80));
    follow(async (_, after, limit) =>
      after === COMMON
        ? bytesAfter(after, 3)
        : changed.slice(after - COMMON, after - COMMON + limit).map((block) => encodeBlock(block, network)),
    );
    await expect.poll(() => peerTable.all()).toEqual([]);
    expect([banned, doubted]).toEqual([[], []]);
    expect(own.chain.head()).toBe(before);
    await third.close();
  });

  test("A wrong branch is kept when a block of the other one cannot be read, and its source is banned.", async () => {
    const before = own.chain.head();
    follow(async (_, after, limit) =>
      bytesAfter(after, limit).map((bytes, index) => (index === 3 ? bytes.slice(0, 50) : bytes)),
    );
    await expect.poll(() => banned.length).toBeGreaterThan(0);
    expect(own.chain.head()).toBe(before);
    expect(errors).toEqual([]);
  });
});
