/** The recheck of pending transactions after a change of the chain, in time slices (pool.md 10). */
import { setImmediate as nextTick } from "node:timers/promises";
import { applyTransaction, createDraft } from "@uniknode/ledger";
import { type SealedTransaction, sealedFromTrustedBytes, transactionFromJson } from "@uniknode/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import type { PoolDeps } from "../../src/pool/pool.ts";
import type { AddedRow, PoolStore } from "../../src/store/node/pool.ts";
import {
  addressNamed,
  createTestChain,
  FEE,
  idsOf,
  type Json,
  networkWith,
  type OpenPool,
  openPool,
  publicKeyOf,
  reported,
  richChain,
  submitOne,
  type TestChain,
  transfer,
} from "../../test-support/pool/chain.ts";

/** A step in each tick of the event loop, and the first one at once. */
const STEPWISE = { minSteps: 1, sliceMs: 0 };
const AT_ONCE = { minSteps: Number.POSITIVE_INFINITY, sliceMs: 0 };

const ROOM = { maxTransactions: 150, maxBytes: 1_000_000 };

/** Rows in order of arrival. */
function createRows() {
  const rows: AddedRow[] = [];
  const writes: { readonly added: string[]; readonly removed: readonly string[] }[] = [];
  const store: PoolStore = {
    load: () => rows.map(({ id, bytes }) => ({ id, bytes })),
    write({ added, removed }, alongside) {
      writes.push({ added: added.map(({ id }) => id), removed });
      for (const id of removed) {
        const index = rows.findIndex((row) => row.id === id);
        if (index >= 0) rows.splice(index, 1);
      }
      for (const row of added) row.place === "first" ? rows.unshift(row) : rows.push(row);
      alongside?.();
    },
  };
  return { store, ids: () => rows.map(({ id }) => id), writes: () => [...writes] };
}

type Options = {
  readonly pace?: typeof STEPWISE;
  readonly poolSize?: number;
  readonly poolMaxPerSender?: number;
  readonly deps?: Partial<PoolDeps>;
};

function openWith(
  chain: TestChain,
  { pace = STEPWISE, poolSize = 300, poolMaxPerSender = 4, deps: others }: Options = {},
) {
  const rows = createRows();
  const verify = async (checks: readonly unknown[]) => checks.map(() => true);
  const deps = { store: rows.store, recheckPace: pace, verify, ...others };
  const pool = openPool(chain, { options: { poolSize, poolMaxPerSender }, deps });
  return Object.assign(pool, { rows: rows.ids, writes: rows.writes });
}

/** Settles when nothing waits for a recheck or for the journal. */
async function settled(...pools: readonly OpenPool[]): Promise<void> {
  for (let quiet = 0; quiet < 4; quiet++) {
    await nextTick();
    if (pools.some((pool) => pool.figures().poolUnchecked > 0)) quiet = 0;
  }
}

const ACTORS = ["alice", "bob", "carol"];
const actor = fc.constantFrom(...ACTORS);

const submission = fc.record({
  kind: fc.constant("submit" as const),
  actor,
  to: actor,
  amount: fc.integer({ min: 1, max: 6 }),
  fee: fc.integer({ min: 1, max: 4 }),
  /** Blocks until the transaction expires; 0 is never. */
  lifetime: fc.constantFrom(0, 0, 0, 2, 3),
  hasLongText: fc.boolean(),
});

const action = fc.oneof(
  { weight: 8, arbitrary: submission },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("forge" as const), size: fc.integer({ min: 0, max: 4 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("foreign block" as const), actor, amount: fc.nat(6) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("revert" as const),
      blocks: fc.integer({ min: 1, max: 3 }),
      /** Transactions of the reverted blocks that a block of the other branch contains. */
      included: fc.nat(3),
      hasOtherBranch: fc.boolean(),
    }),
  },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** Chain whose schema changes at height 13. */
function createWorld(): TestChain {
  const network = networkWith([{ height: 13, vendorFieldLength: 4 }]);
  const actors = Object.fromEntries(ACTORS.map((name) => [name, { balance: 40n * FEE }]));
  return createTestChain(actors, network);
}

function inputOf(submitted: Extract<Action, { kind: "submit" }>, chain: TestChain, pool: OpenPool): Json {
  const { actor, to, amount, fee, lifetime, hasLongText } = submitted;
  const sender = publicKeyOf(actor);
  const pending = pool.inForgingOrder().filter(({ data }) => data.senderPublicKey === sender);
  return transfer(actor, Number(chain.walletNamed(actor).nonce) + pending.length + 1, {
    to,
    amount: BigInt(amount) * FEE,
    fee: BigInt(fee) * FEE,
    expiration: lifetime && chain.head().height + lifetime,
    ...(hasLongText && { vendorField: "longer" }),
  });
}

/** Transaction of a block of another forger, which is not in the pool, if the chain accepts it. */
function foreign(actor: string, amount: number, chain: TestChain): SealedTransaction[] {
  const { nonce, balance } = chain.walletNamed(actor);
  if (balance < BigInt(amount + 1) * FEE) return [];
  const input = transfer(actor, Number(nonce) + 1, { to: "elsewhere", amount: BigInt(amount + 1) });
  const { bytes, data } = transactionFromJson(
    input,
    { network: chain.network, height: chain.head().height },
    { checkSignature: false },
  );
  return [sealedFromTrustedBytes(bytes, data.id)];
}

/** The transactions that apply one after another on the head. */
function applicable(transactions: readonly SealedTransaction[], chain: TestChain): SealedTransaction[] {
  const { network, state, head } = chain;
  const draft = createDraft(state);
  const context = {
    network,
    milestone: network.milestoneAt(head().height),
    head: head(),
    state: draft,
    draft,
  };
  return transactions.filter(({ data }) => {
    try {
      applyTransaction(data, context);
      return true;
    } catch {
      return false;
    }
  });
}

/** Applies a change to the chain, and returns a function that notifies a pool of it. */
function changeChain(
  change: Exclude<Action, { kind: "submit" }>,
  chain: TestChain,
  selected: readonly SealedTransaction[],
): (pool: Pick<OpenPool, "blockApplied" | "blocksReverted">) => void {
  if (change.kind === "revert") return switchBranch(change, chain);
  const block = change.kind === "forge" ? selected : foreign(change.actor, change.amount, chain);
  const changed = chain.append(block);
  return (pool) => pool.blockApplied(block, changed);
}

/** Reverts blocks and maybe appends another one; the pool is notified of both when the chain is at its new head. */
function switchBranch(
  { blocks, included, hasOtherBranch }: Extract<Action, { kind: "revert" }>,
  chain: TestChain,
): (pool: Pick<OpenPool, "blockApplied" | "blocksReverted">) => void {
  const count = Math.min(blocks, chain.blockCount());
  const reverted = Array.from({ length: count }, () => chain.revert())
    .reverse()
    .flat();
  const block = applicable(reverted.slice(0, included), chain);
  const changed = hasOtherBranch ? chain.append(block) : undefined;
  return (pool) => {
    if (count > 0) pool.blocksReverted(reverted);
    if (changed) pool.blockApplied(block, changed);
  };
}

test("A recheck in steps has the results of one that runs at once.", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 10, maxLength: 40 }), async (actions) => {
      const chain = createWorld();
      const [stepwise, atOnce] = [STEPWISE, AT_ONCE].map((pace) => openWith(chain, { pace, poolSize: 8 }));
      const pools = [present(stepwise), present(atOnce)] as const;
      for (const next of actions) {
        if (next.kind === "submit") {
          // Waits for the recheck.
          const inputs = [inputOf(next, chain, pools[1])];
          const results = await Promise.all(pools.map((pool) => pool.submit(inputs)));
          expect(results[0]).toEqual(results[1]);
          continue;
        }
        await settled(...pools);
        const size = next.kind === "forge" ? next.size : 0;
        const selections = pools.map((pool) => pool.select({ ...ROOM, maxTransactions: size }));
        expect(selections.map(idsOf)[0]).toEqual(selections.map(idsOf)[1]);
        pools.forEach(changeChain(next, chain, present(selections[0])));
        expect(pools[0].size()).toBeGreaterThanOrEqual(pools[1].size());
      }
      await settled(...pools);
      const [first, second] = pools.map((pool) => ({
        pending: idsOf(pool.inForgingOrder()),
        bytes: pool.figures().poolBytes,
        selected: idsOf(pool.select(ROOM)),
        events: reported(pool.events),
        rows: pool.rows(),
      }));
      expect(first).toEqual(second);
      expect(first?.rows.toSorted()).toEqual(first?.pending.toSorted());
      await Promise.all(pools.map((pool) => pool.close()));
    }),
    { numRuns: 40 },
  );
});

test("Changes during a recheck leave transactions that apply, and rows of these; each removal is reported once.", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(action, fc.nat(4)), { minLength: 10, maxLength: 30 }),
      async (actions) => {
        const chain = createWorld();
        const pool = openWith(chain, { poolSize: 8 });
        const submitted = new Set<string>();
        const returned: string[] = [];
        for (const [next, ticks] of actions) {
          if (next.kind === "submit") {
            const { data } = await pool.submit([inputOf(next, chain, pool)]);
            for (const id of data.accept) submitted.add(id);
          } else {
            const selected = pool.select({ ...ROOM, maxTransactions: next.kind === "forge" ? next.size : 4 });
            expect(applicable(selected, chain)).toEqual(selected);
            const notify = changeChain(next, chain, selected);
            notify({
              blocksReverted: (transactions) => void returned.push(...idsOf(transactions)),
              blockApplied: () => {},
            });
            notify(pool);
          }
          for (let tick = 0; tick < ticks; tick++) await nextTick();
        }
        await settled(pool);
        const pending = pool.inForgingOrder();
        const bySender = Map.groupBy(pending, ({ data }) => data.senderPublicKey);
        // After a revert, transactions can depend on those of other senders.
        const forgeable = new Set(idsOf(pool.selectWith([], new Set(), ROOM)));
        const isExpiring = pending.some(({ data }) => data.expiration === chain.head().height + 1);
        for (const own of bySender.values()) {
          const isDependent = own.every(({ data }) => isExpiring || forgeable.has(data.id));
          if (returned.length === 0 || !isDependent) expect(applicable(own, chain)).toEqual(own);
        }
        expect(pending.length).toBeLessThanOrEqual(8);
        expect(pool.rows().toSorted()).toEqual(idsOf(pending).toSorted());
        await pool.close();
        const removed = reported(pool.events).filter((text) => !text.includes("added"));
        const count = (texts: readonly string[], id: string) =>
          texts.filter((text) => text.endsWith(id)).length;
        const isPending = new Set(idsOf(pending));
        for (const id of submitted) {
          const removals = count(removed, id);
          expect(removals).toBeLessThanOrEqual(1 + count(returned, id));
          if (!isPending.has(id)) expect(removals).toBeGreaterThan(0);
        }
      },
    ),
    { numRuns: 40 },
  );
});

/** Pool with two pending transactions of each of two senders; alice's first one is in the last block. */
async function poolAfterBlock(options: Options = {}) {
  const chain = richChain("alice", "bob");
  const pool = openWith(chain, options);
  const inputs = ["alice", "bob"].flatMap((name) => [1, 2].map((nonce) => transfer(name, nonce)));
  await pool.submit(inputs);
  const included = [present(pool.inForgingOrder()[0])];
  pool.blockApplied(included, chain.append(included));
  await settled(pool);
  const ids = inputs.map(({ id }) => id);
  return { chain, pool, ids, pending: ids.slice(1) };
}

describe("transactions that wait for their recheck", () => {
  test("Transactions that wait for their recheck stay pending, but are not selected.", async () => {
    const { chain, pool, ids } = await poolAfterBlock();
    expect(pool.figures().poolUnchecked).toBe(0);
    pool.blocksReverted(chain.revert());
    expect(pool.figures().poolUnchecked).toBe(4);
    expect(idsOf(pool.inForgingOrder())).toEqual(ids);
    expect(pool.size()).toBe(4);
    expect(pool.figures().poolBytes).toBe(4 * 156);
    expect(ids.map((id) => pool.get(id)?.data.id)).toEqual(ids);
    expect(pool.select(ROOM)).toEqual([]);
    await settled(pool);
    expect(idsOf(pool.select(ROOM))).toEqual(ids);
    expect(pool.figures().poolRecheckMs).toBeGreaterThan(0);
  });

  test("Transactions that wait for their recheck do not delay the selection of senders that were checked.", async () => {
    const { chain, pool, ids } = await poolAfterBlock();
    pool.blocksReverted(chain.revert());
    const selections = new Set<string>();
    for (let tick = 0; tick < 12; tick++) {
      selections.add(idsOf(pool.select(ROOM)).join());
      await nextTick();
    }
    expect([...selections]).toEqual(["", ids.slice(0, 2).join(), ids.join()]);
  });

  test("Transactions that wait for their recheck are removed by a block that includes them.", async () => {
    const { chain, pool, ids } = await poolAfterBlock();
    pool.blocksReverted(chain.revert());
    const [first, second, third] = pool.inForgingOrder();
    const block = [present(first), present(third)];
    pool.blockApplied(block, chain.append(block));
    expect(idsOf(pool.inForgingOrder())).toEqual([present(second).data.id, ids[3]]);
    await settled(pool);
    expect(idsOf(pool.select(ROOM))).toEqual([ids[1], ids[3]]);
    // The first one was reported when the reverted block included it.
    expect(reported(pool.events).slice(4)).toEqual([
      `transaction.pool.removed ${ids[0]}`,
      `transaction.pool.removed ${ids[2]}`,
    ]);
    expect(pool.rows()).toEqual([ids[1], ids[3]]);
  });

  test("Transactions that wait for their recheck are checked again after another revert.", async () => {
    const { chain, pool, ids } = await poolAfterBlock();
    const second = [present(pool.inForgingOrder()[0])];
    pool.blockApplied(second, chain.append(second));
    await settled(pool);
    for (let block = 0; block < 2; block++) {
      pool.blocksReverted(chain.revert());
      await nextTick();
    }
    await settled(pool);
    expect(idsOf(pool.inForgingOrder())).toEqual(ids);
    expect(pool.rows()).toEqual(ids);
  });

  test("Transactions that wait for their recheck stay on disk if the pool closes, and are checked at the next start.", async () => {
    const { chain, pool, ids } = await poolAfterBlock();
    pool.blocksReverted(chain.revert());
    await pool.close();
    await settled();
    expect(pool.figures().poolUnchecked).toBe(4);
    expect(pool.rows()).toEqual(ids);
  });

  test("Transactions that wait for their recheck delay submissions until all are checked.", async () => {
    const { chain, pool } = await poolAfterBlock();
    pool.blocksReverted(chain.revert());
    const submitted = submitOne(pool, transfer("alice", 3));
    await nextTick();
    await nextTick();
    expect(pool.size()).toBe(4);
    expect(await submitted).toBe("accepted");
    expect(pool.figures().poolUnchecked).toBe(0);
  });

  test("Transactions to recheck interrupt an admission, whose changes so far are written and reported at once.", async () => {
    const chain = richChain("alice", "bob");
    let interrupt: (() => void) | undefined;
    const head = () => {
      if (interrupt && pool.size() === 3) {
        queueMicrotask(interrupt);
        interrupt = undefined;
      }
      return chain.head();
    };
    const pool = openWith(chain, { deps: { head } });
    await pool.submit([transfer("bob", 1)]);
    pool.forge();
    await settled(pool);
    await pool.submit([transfer("bob", 2), transfer("bob", 3)]);
    const before = pool.events.length;
    interrupt = () => pool.blocksReverted(chain.revert());
    const inputs = [1, 2, 3].map((nonce) => transfer("alice", nonce));
    const { data } = await pool.submit(inputs);
    expect(data.accept).toEqual(inputs.map(({ id }) => id));
    const added = pool.events.slice(before).map((event) => reported([event]).length);
    expect(added).toEqual([2, 1]);
    expect(pool.rows().length).toBe(6);
  });

  test("Transactions that wait for their recheck are checked after the next block if the check fails.", async () => {
    const failures: unknown[] = [];
    const chain = richChain("alice", "bob");
    let isBroken = false;
    const get: TestChain["state"]["get"] = (...key) => {
      if (isBroken) throw new Error("disk I/O error");
      return chain.state.get(...key);
    };
    const pool = openPool(chain, {
      deps: {
        state: { ...chain.state, get },
        recheckPace: { minSteps: 0, sliceMs: 0 },
        onRecheckFailed: (error) => void failures.push(error),
      },
    });
    const inputs = [transfer("alice", 1), transfer("bob", 1)];
    await pool.submit(inputs);
    isBroken = true;
    pool.blockApplied([], new Set([addressNamed("alice")]));
    await expect.poll(() => failures).toEqual([new Error("disk I/O error")]);
    isBroken = false;
    expect(idsOf(pool.select(ROOM))).toEqual([present(inputs[1]).id]);
    pool.blockApplied([], chain.append());
    await settled(pool);
    expect(pool.select(ROOM).length).toBe(2);
  });
});

describe("the rows of a revert", () => {
  test("The rows of a revert are only the returned transactions, before the others.", async () => {
    const { chain, pool, ids } = await poolAfterBlock();
    const before = pool.writes();
    pool.blocksReverted(chain.revert());
    await settled(pool);
    expect(pool.writes().slice(before.length)).toEqual([{ added: [ids[0]], removed: [] }]);
    expect(pool.rows()).toEqual(ids);
  });

  test("The rows of a revert do not contain returned transactions that no longer apply, whose removal is reported.", async () => {
    const { chain, pool, ids, pending } = await poolAfterBlock();
    const returned = chain.revert();
    chain.fund({ alice: { nonce: 1n } });
    const before = pool.events.length;
    pool.blocksReverted(returned);
    await settled(pool);
    expect(pool.rows()).toEqual(pending);
    expect(reported(pool.events.slice(before))).toEqual([`transaction.pool.removed ${ids[0]}`]);
  });

  test("The rows of a revert respect the bounds of the pool; the lowest fees leave.", async () => {
    const chain = richChain("alice", "bob");
    const pool = openWith(chain, { poolSize: 2 });
    await pool.submit([transfer("alice", 1), transfer("alice", 2)]);
    pool.forge();
    const later = [transfer("bob", 1, { fee: 3n * FEE }), transfer("bob", 2, { fee: 2n * FEE })];
    await pool.submit(later);
    pool.blocksReverted(chain.revert());
    expect(pool.size()).toBe(4);
    await settled(pool);
    expect(idsOf(pool.inForgingOrder())).toEqual(later.map(({ id }) => id));
    expect(pool.rows()).toEqual(later.map(({ id }) => id));
  });

  test("The rows of a revert are at most as many as bring the pool to twice its bounds.", async () => {
    const chain = richChain("alice");
    const pool = openWith(chain, { poolSize: 2 });
    const inputs = [1, 2, 3, 4, 5, 6].map((nonce) => transfer("alice", nonce));
    for (const input of inputs.slice(0, 5)) {
      await pool.submit([input]);
      pool.forge();
      await settled(pool);
    }
    await pool.submit(inputs.slice(5));
    const blocks = Array.from({ length: 5 }, () => chain.revert());
    pool.blocksReverted(blocks.reverse().flat());
    expect(pool.size()).toBe(4);
    await settled(pool);
    expect(pool.rows()).toEqual(inputs.slice(0, 2).map(({ id }) => id));
  });
});

test("Removals of a recheck are written in parts.", async () => {
  const chain = richChain("alice");
  const pool = openWith(chain, { pace: { minSteps: 0, sliceMs: 1_000 }, poolMaxPerSender: 300 });
  const inputs = Array.from({ length: 300 }, (_, index) => transfer("alice", index + 1, { expiration: 12 }));
  await pool.submit(inputs);
  for (let block = 0; block < 2; block++) pool.blockApplied([], chain.append());
  expect(pool.size()).toBeGreaterThan(0);
  await expect.poll(() => pool.rows()).toEqual([]);
  expect(Math.max(...pool.writes().map(({ removed }) => removed.length))).toBeLessThanOrEqual(100);
  await pool.close();
  expect(reported(pool.events).filter((text) => text.includes("expired")).length).toBe(300);
});

test("Clearing the pool ends a recheck.", async () => {
  const { chain, pool } = await poolAfterBlock();
  pool.blocksReverted(chain.revert());
  pool.clear();
  await settled(pool);
  expect(pool.rows()).toEqual([]);
  expect(await submitOne(pool, transfer("alice", 1))).toBe("accepted");
});
