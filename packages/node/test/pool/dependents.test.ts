/** Transactions of reverted blocks that spend what others of them brought (pool.md 10, decision 4). */
import { setImmediate as nextTick } from "node:timers/promises";
import { applyTransaction, createDraft, holdingKey } from "@uniknode/ledger";
import {
  builders,
  bytesToHex,
  type SealedTransaction,
  sha256,
  transactionFromJson,
} from "@uniknode/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import type { PoolStore } from "../../src/store/node/pool.ts";
import {
  addressNamed,
  createTestChain,
  envelope,
  FEE,
  idsOf,
  type Json,
  type OpenPool,
  openPool,
  publicKeyOf,
  RICH,
  refusalOf,
  reported,
  signedBy,
  type TestChain,
  transfer,
} from "../../test-support/pool/chain.ts";

const TOKEN = "ab".repeat(32);

const seal = (chain: TestChain, input: Json): SealedTransaction =>
  transactionFromJson(
    input,
    { network: chain.network, height: chain.head().height },
    { checkSignature: false },
  );

/** Rows in order of arrival. */
function createStore() {
  const rows: { id: string; bytes: Uint8Array }[] = [];
  const store: PoolStore = {
    load: () => [...rows],
    write({ added, removed }, alongside) {
      for (const id of removed) {
        const index = rows.findIndex((row) => row.id === id);
        if (index >= 0) rows.splice(index, 1);
      }
      for (const { place, ...row } of added) place === "first" ? rows.unshift(row) : rows.push(row);
      alongside?.();
    },
  };
  return { store, ids: () => rows.map(({ id }) => id) };
}

async function settled(pool: OpenPool): Promise<void> {
  for (let quiet = 0; quiet < 4; quiet++) {
    await nextTick();
    if (pool.figures().poolUnchecked > 0) quiet = 0;
  }
}

function revert(chain: TestChain, pool: OpenPool, depth: number): SealedTransaction[] {
  const returned = Array.from({ length: depth }, () => chain.revert())
    .reverse()
    .flat();
  pool.blocksReverted(returned);
  return returned;
}

const removals = (pool: Pick<OpenPool, "events">): string[] =>
  reported(pool.events)
    .filter((text) => text.startsWith("transaction.pool.removed"))
    .map((text) => present(text.split(" ")[1]));

/** Forges blocks until none of the transactions is pending. Returns the ids in the order of the chain. */
function forgeAll(chain: TestChain, pool: OpenPool, maxTransactions: number): string[] {
  const forged: string[] = [];
  for (;;) {
    const selected = pool.select({ maxTransactions, maxBytes: 1_000_000 });
    if (selected.length === 0) return forged;
    forged.push(...idsOf(selected));
    pool.blockApplied(selected, chain.append(selected));
  }
}

/** Alice pays Bob, who has nothing; in the next block Bob pays twice from it. */
function paidOn(pool?: { readonly options?: Parameters<typeof openPool>[1] }) {
  const chain = createTestChain({ alice: RICH, dave: RICH });
  const opened = openPool(chain, pool?.options);
  const payment = seal(chain, transfer("alice", 1, { to: "bob", amount: 12n * FEE }));
  opened.blockApplied([payment], chain.append([payment]));
  const spent = [1, 2].map((nonce) =>
    seal(chain, transfer("bob", nonce, { to: "carol", amount: 3n * FEE, fee: 2n * FEE })),
  );
  opened.blockApplied(spent, chain.append(spent));
  return { chain, pool: opened, ids: [payment, ...spent].map(({ data }) => data.id) };
}

describe("a payment from the income of another reverted block", () => {
  test("A payment from reverted income is pending again, and is forged after the income.", () => {
    const { chain, pool, ids } = paidOn();
    revert(chain, pool, 2);
    expect(idsOf(pool.inForgingOrder()).toSorted()).toEqual(ids.toSorted());
    expect(forgeAll(chain, pool, 150)).toEqual(ids);
    expect(pool.size()).toBe(0);
  });

  test("A payment from reverted income waits for the income if a block has no room for both.", () => {
    const { chain, pool, ids } = paidOn();
    revert(chain, pool, 2);
    expect(forgeAll(chain, pool, 1)).toEqual(ids);
  });

  test("A payment from reverted income is forged by a block of another node, and the rest after it.", () => {
    const { chain, pool, ids } = paidOn();
    const [payment] = revert(chain, pool, 2);
    pool.blockApplied([present(payment)], chain.append([present(payment)]));
    expect(forgeAll(chain, pool, 150)).toEqual(ids.slice(1));
  });

  test("A payment from reverted income is still pending after a restart.", async () => {
    const { store } = createStore();
    const { chain, pool, ids } = paidOn({ options: { deps: { store } } });
    revert(chain, pool, 2);
    await pool.close();
    const again = openPool(chain, { deps: { store } });
    expect(again.size()).toBe(3);
    expect(forgeAll(chain, again, 150)).toEqual(ids);
  });

  test("A payment from reverted income leaves with an event when the income is spent elsewhere.", async () => {
    const { chain, pool, ids } = paidOn();
    revert(chain, pool, 2);
    const other = seal(chain, transfer("alice", 1, { to: "dave" }));
    pool.blockApplied([other], chain.append([other]));
    expect(pool.size()).toBe(0);
    await pool.close();
    expect(removals(pool)).toEqual(ids);
  });

  test("A payment from reverted income leaves with an event when the other branch lacks the income.", async () => {
    const { chain, pool, ids } = paidOn();
    const returned = [chain.revert(), chain.revert()].reverse().flat();
    const other = seal(chain, transfer("alice", 1, { to: "dave" }));
    const changed = chain.append([other]);
    pool.blocksReverted(returned);
    pool.blockApplied([other], changed);
    await pool.close();
    expect(pool.size()).toBe(0);
    expect(removals(pool)).toEqual(ids);
  });

  test("A payment from reverted income stays when a later payment of its sender was pending, which stays too.", async () => {
    const { chain, pool, ids } = paidOn();
    const third = transfer("bob", 3);
    await pool.submit([third]);
    revert(chain, pool, 2);
    expect(forgeAll(chain, pool, 150)).toEqual([...ids, third.id]);
  });

  test("A payment from reverted income does not make its sender's next submission acceptable.", async () => {
    const { chain, pool } = paidOn();
    revert(chain, pool, 2);
    const refused = "ERR_APPLY The sender has pending transactions of reverted blocks";
    expect(await refusalOf(pool, transfer("bob", 1))).toContain(refused);
    expect(await refusalOf(pool, transfer("bob", 3))).toContain(refused);
    // Nor the payment of a recipient that has nothing yet.
    expect(await refusalOf(pool, transfer("carol", 1))).toContain("ERR_APPLY Insufficient balance");
    forgeAll(chain, pool, 150);
    expect((await pool.submit([transfer("carol", 1)])).data.accept).toHaveLength(1);
  });
});

test("Transactions of another branch that contains them leave without an event.", async () => {
  const { chain, pool } = paidOn();
  const returned = [chain.revert(), chain.revert()].reverse().flat();
  const changed = chain.append(returned);
  pool.blocksReverted(returned);
  pool.blockApplied(returned, changed);
  await pool.close();
  expect(pool.size()).toBe(0);
  expect(removals(pool)).toEqual([]);
});

test("Returned transactions beyond the bounds leave with an event.", async () => {
  const chain = createTestChain({ alice: RICH });
  const pool = openPool(chain, { options: { poolSize: 2 } });
  const blocks = [1, 2, 3, 4, 5, 6].map((nonce) => seal(chain, transfer("alice", nonce)));
  for (const transaction of blocks) pool.blockApplied([transaction], chain.append([transaction]));
  revert(chain, pool, 6);
  await settled(pool);
  expect(pool.size()).toBe(2);
  await pool.close();
  expect(removals(pool).toSorted()).toEqual(idsOf(blocks.slice(2)).toSorted());
});

const ACTORS = ["alice", "bob", "carol", "dave"];
const SECRET = "07".repeat(32);
const actor = fc.constantFrom(...ACTORS);

const deed = fc.record({
  kind: fc.constantFrom("pay", "pay", "pay many", "lock", "claim", "mint", "send", "send", "vote"),
  from: actor,
  to: actor,
  amount: fc.integer({ min: 1, max: 9 }),
  fee: fc.integer({ min: 1, max: 3 }),
});
type Deed = typeof deed extends fc.Arbitrary<infer T> ? T : never;

/** The transaction of a deed; undefined if there is nothing to claim or to send. */
function inputOf(
  { kind, from, to, amount, fee }: Deed,
  nonce: number,
  locks: readonly string[],
): Json | undefined {
  const members = envelope(from, nonce, BigInt(fee) * FEE);
  const [recipientId, units] = [addressNamed(to), BigInt(amount) * FEE];
  switch (kind) {
    case "pay":
      return transfer(from, nonce, { to, amount: units, fee: BigInt(fee) * FEE });
    case "pay many": {
      const payments = ACTORS.map((name) => ({ recipientId: addressNamed(name), amount: units }));
      return signedBy(from, builders.multiPayment({ ...members, payments }));
    }
    case "lock": {
      const secretHash = bytesToHex(sha256(Buffer.from(SECRET, "hex")));
      const lock = { secretHash, expiration: { type: 2 as const, value: 1_000 } };
      return signedBy(from, builders.htlcLock({ ...members, recipientId, amount: units, ...lock }));
    }
    case "claim": {
      const lockTransactionId = locks.at(-1);
      if (lockTransactionId === undefined) return undefined;
      return signedBy(
        from,
        builders.htlcClaim({ ...members, fee: 0n, lockTransactionId, unlockSecret: SECRET }),
      );
    }
    case "mint":
      return signedBy(from, builders.nftMint({ ...members, tokenId: TOKEN, properties: { type: "1" } }));
    case "send":
      return signedBy(from, builders.nftTransfer({ ...members, tokenId: TOKEN, recipientId }));
    case "vote":
      return signedBy(from, builders.vote({ ...members, vote: `+${publicKeyOf("delegate")}` }));
  }
}

/** Those of the transactions that apply one after another on the head. */
function applicable(transactions: readonly SealedTransaction[], chain: TestChain): SealedTransaction[] {
  const { network, state, head } = chain;
  const draft = createDraft(state);
  const milestone = network.milestoneAt(head().height);
  const context = { network, milestone, head: head(), state: draft, draft };
  return transactions.filter(({ data }) => {
    try {
      applyTransaction(data, context);
      return true;
    } catch {
      return false;
    }
  });
}

/** Returns the ids of the open locks of a wallet. */
function locksOf({ state }: TestChain, address: string): string[] {
  const ids: string[] = [];
  let id = state.get("wallets", address)?.attributes.htlc?.locks.first;
  for (; id !== undefined; id = state.get("holdings", holdingKey(address, "locks", id))?.next) ids.push(id);
  return ids;
}

/** Appends a block of the deeds that apply. */
function appendBlock(deeds: readonly Deed[], chain: TestChain, pool: OpenPool): SealedTransaction[] {
  const block: SealedTransaction[] = [];
  for (const next of deeds) {
    const own = block.filter(({ data }) => data.senderPublicKey === publicKeyOf(next.from)).length;
    const nonce = Number(chain.walletNamed(next.from).nonce) + own + 1;
    const locks = ACTORS.flatMap((name) => locksOf(chain, addressNamed(name)));
    const input = inputOf(next, nonce, locks);
    if (!input) continue;
    const transaction = seal(chain, input);
    if (applicable([...block, transaction], chain).length > block.length) block.push(transaction);
  }
  pool.blockApplied(block, chain.append(block));
  return block;
}

test("What is executable in the order of the reverted blocks is pending, is forged, and the rest is reported.", async () => {
  const blocks = fc.array(fc.array(deed, { minLength: 1, maxLength: 5 }), { minLength: 5, maxLength: 8 });
  const depth = fc.integer({ min: 1, max: 5 });
  const counts = { dependent: 0, kinds: new Set<string>() };
  await fc.assert(
    fc.asyncProperty(
      ...([
        blocks,
        depth,
        fc.integer({ min: 1, max: 6 }),
        fc.boolean(),
        fc.option(deed),
        fc.boolean(),
      ] as const),
      async (deeds, reverted, room, isStepwise, foreign, isRestarted) => {
        const delegate = {
          username: "d",
          voteBalance: 0n,
          forgedFees: 0n,
          forgedRewards: 0n,
          producedBlocks: 0,
          round: 0,
        };
        const chain = createTestChain({
          alice: { balance: 60n * FEE },
          delegate: { attributes: { delegate } },
        });
        const { store, ids } = createStore();
        const recheckPace = isStepwise ? { minSteps: 1, sliceMs: 0 } : { minSteps: 64, sliceMs: 10 };
        const deps = {
          store,
          recheckPace,
          verify: async (checks: readonly unknown[]) => checks.map(() => true),
        };
        let pool = openPool(chain, { deps });
        for (const block of deeds) appendBlock(block, chain, pool);
        await settled(pool);
        const returned = revert(chain, pool, reverted);
        await settled(pool);
        expect(idsOf(pool.inForgingOrder()).toSorted()).toEqual(idsOf(returned).toSorted());
        for (const { data } of returned) counts.kinds.add(`${data.typeGroup}/${data.type}`);
        const events = [...pool.events];
        if (isRestarted) {
          await pool.close();
          events.push(...pool.events.slice(events.length));
          pool = openPool(chain, { deps });
        }
        const before = pool.events.length;
        const block = foreign ? appendBlock([foreign], chain, pool) : [];
        await settled(pool);
        const expected = idsOf(
          applicable(
            returned.filter(({ data }) => !idsOf(block).includes(data.id)),
            chain,
          ),
        );
        expect(idsOf(pool.inForgingOrder())).toEqual(expect.arrayContaining(expected));
        const alone = returned.filter((transaction) => applicable([transaction], chain).length > 0);
        if (alone.length < expected.length) counts.dependent++;
        const forged = [];
        for (let size = pool.size(); size > 0; size = pool.size()) {
          const selected = pool.select({ maxTransactions: room, maxBytes: 1_000_000 });
          // What a foreign block made invalid can leave at the selection.
          expect(selected.length + size - pool.size()).toBeGreaterThan(0);
          expect(applicable(selected, chain)).toEqual(selected);
          pool.blockApplied(selected, chain.append(selected));
          forged.push(...idsOf(selected));
          await settled(pool);
        }
        expect(forged.toSorted()).toEqual(expected.toSorted());
        await pool.close();
        expect(ids()).toEqual([]);
        // Every transaction that left is reported once, forged or not.
        expect(removals({ events: pool.events.slice(before) }).toSorted()).toEqual(
          idsOf(returned).toSorted(),
        );
      },
    ),
    { numRuns: 60 },
  );
  expect(counts.dependent).toBeGreaterThan(10);
  expect([...counts.kinds].toSorted()).toEqual(["1/0", "1/3", "1/6", "1/8", "1/9", "2000/0", "2000/2"]);
});
