/**
 * Whatever happens, the pending transactions of each sender apply in the order of their nonces on the chain, or, after a
 * revert, in the order of the reverted blocks.
 */
import { applyToSender, createDraft } from "@uniknode/ledger";
import {
  builders,
  type SealedTransaction,
  sealedFromTrustedBytes,
  type Transaction,
  transactionFromJson,
} from "@uniknode/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import type { PoolStore } from "../../src/store/node/pool.ts";
import {
  createTestChain,
  envelope,
  FEE,
  type Json,
  networkWith,
  type OpenPool,
  openPool,
  publicKeyOf,
  signedBy,
  type TestChain,
  transfer,
} from "../../test-support/pool/chain.ts";

const ACTORS = ["alice", "bob", "carol"];

const submission = fc.record({
  kind: fc.constant("submit" as const),
  actor: fc.constantFrom(...ACTORS),
  /** Distance from the valid nonce. */
  skip: fc.constantFrom(0, 0, 0, 0, 1, -1),
  type: fc.constantFrom("transfer", "transfer", "transfer", "vote", "second signature"),
  to: fc.constantFrom(...ACTORS),
  amount: fc.integer({ min: 1, max: 6 }),
  fee: fc.integer({ min: 1, max: 4 }),
  /** Blocks until the transaction expires; 0 is never. */
  lifetime: fc.constantFrom(0, 0, 0, 2, 3),
  hasLongText: fc.boolean(),
});
type Submission = typeof submission extends fc.Arbitrary<infer T> ? T : never;

const step = fc.oneof(
  { weight: 8, arbitrary: submission },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("forge" as const), size: fc.integer({ min: 0, max: 4 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("foreign block" as const),
      actor: fc.constantFrom(...ACTORS),
      amount: fc.integer({ min: 1, max: 6 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("revert" as const), blocks: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("restart" as const) }) },
);

/** Pool that can be closed and opened again, on a chain whose schema changes at height 14. */
function createWorld() {
  const network = networkWith([{ height: 14, vendorFieldLength: 4 }]);
  const delegate = {
    username: "delegate",
    voteBalance: 0n,
    forgedFees: 0n,
    forgedRewards: 0n,
    producedBlocks: 0,
    round: 0,
  };
  const actors = Object.fromEntries(ACTORS.map((name) => [name, { balance: 40n * FEE }]));
  const chain = createTestChain({ ...actors, delegate: { attributes: { delegate } } }, network);
  const rows = new Map<string, Uint8Array>();
  const store: PoolStore = {
    load: () => Array.from(rows, ([id, bytes]) => ({ id, bytes })),
    write({ added, removed }, alongside) {
      for (const id of removed) rows.delete(id);
      for (const { id, bytes } of added) rows.set(id, bytes);
      alongside?.();
    },
  };
  const removals: string[] = [];
  const open = () =>
    openPool(chain, {
      options: { poolSize: 8, poolMaxPerSender: 4 },
      deps: {
        store,
        // Nothing waits for a later tick, however slow the machine is.
        recheckPace: { minSteps: Number.POSITIVE_INFINITY, sliceMs: 0 },
        verify: async (checks) => checks.map(() => true),
        emit(event) {
          if (event.name === "transaction.pool.removed" || event.name === "transaction.expired") {
            removals.push(event.transaction.data.id);
          }
        },
      },
    });
  return { chain, rows, removals, open };
}

function inputOf(
  { actor, skip, type, to, amount, fee, lifetime, hasLongText }: Submission,
  chain: TestChain,
  pool: OpenPool,
): Json {
  const pending = pool.inForgingOrder().filter(({ data }) => data.senderPublicKey === publicKeyOf(actor));
  const nonce = Number(chain.walletNamed(actor).nonce) + pending.length + 1 + skip;
  const members = envelope(actor, Math.max(nonce, 0), BigInt(fee) * FEE);
  if (type === "vote") {
    const sign = chain.walletNamed(actor).attributes.vote ? "-" : "+";
    return signedBy(actor, builders.vote({ ...members, vote: `${sign}${publicKeyOf("delegate")}` }));
  }
  if (type === "second signature") {
    return signedBy(actor, builders.secondSignature({ ...members, publicKey: publicKeyOf("second") }));
  }
  return transfer(actor, Math.max(nonce, 0), {
    to,
    amount: BigInt(amount) * FEE,
    fee: BigInt(fee) * FEE,
    expiration: lifetime && chain.head().height + lifetime,
    ...(hasLongText && { vendorField: "longer" }),
  });
}

/** Block of another forger: one transfer that is not in the pool, if the chain accepts it. */
function foreignBlock(actor: string, amount: number, chain: TestChain): SealedTransaction[] {
  const { nonce, attributes, balance } = chain.walletNamed(actor);
  if (attributes.secondPublicKey || balance < BigInt(amount + 1) * FEE) return [];
  const input = transfer(actor, Number(nonce) + 1, { to: "elsewhere", amount: BigInt(amount) * FEE });
  const context = { network: chain.network, height: chain.head().height };
  const { bytes, data } = transactionFromJson(input, context, { checkSignature: false });
  return [sealedFromTrustedBytes(bytes, data.id)];
}

/** @param wasReverted true after a revert: transactions can then depend on those of other senders */
function expectApplicable(pool: OpenPool, chain: TestChain, wasReverted: boolean): void {
  const { network, state, head } = chain;
  const pending = pool.inForgingOrder();
  const isExpiring = ({ data }: SealedTransaction) => data.expiration === head().height + 1;
  const forgeable = new Set(
    pool.selectWith([], new Set(), { maxTransactions: 100, maxBytes: 1_000_000 }).map(({ data }) => data.id),
  );
  const bySender = Map.groupBy(pending, ({ data }) => data.senderPublicKey);
  for (const transactions of bySender.values()) {
    const draft = createDraft(state);
    const milestone = network.milestoneAt(head().height);
    for (const { data } of transactions) {
      if (wasReverted && (forgeable.has(data.id) || pending.some(isExpiring))) continue;
      applyToSender(data, { network, milestone, head: head(), state, draft });
    }
    const isLate = ({ expiration = 0 }: Transaction) => expiration > 0 && expiration <= head().height;
    expect(transactions.filter(({ data }) => isLate(data))).toEqual([]);
    const nonces = transactions.map(({ data }) => present(data.nonce));
    expect(nonces).toEqual(nonces.toSorted((a, b) => Number(a - b)));
  }
}

test("The pending transactions apply, and each removal is reported once.", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      const { chain, rows, removals, open } = createWorld();
      let pool = open();
      let pending = new Set<string>();
      const expected: string[] = [];
      let wasReverted = false;
      for (const action of steps) {
        if (action.kind === "submit") await pool.submit([inputOf(action, chain, pool)]);
        if (action.kind === "forge") {
          const selected = pool.select({ maxTransactions: action.size, maxBytes: 1_000_000 });
          pool.blockApplied(selected, chain.append(selected));
        }
        if (action.kind === "foreign block") {
          const block = foreignBlock(action.actor, action.amount, chain);
          pool.blockApplied(block, chain.append(block));
        }
        if (action.kind === "revert") {
          const blocks = Math.min(action.blocks, chain.blockCount());
          const returned = Array.from({ length: blocks }, () => chain.revert())
            .reverse()
            .flat();
          if (blocks > 0) pool.blocksReverted(returned);
          wasReverted = true;
          for (const { data } of returned) pending.add(data.id);
        }
        if (action.kind === "restart") {
          await pool.close();
          pool = open();
        }
        expectApplicable(pool, chain, wasReverted);
        const now = new Set(pool.inForgingOrder().map(({ data }) => data.id));
        expected.push(...pending.difference(now));
        pending = now;
      }
      await pool.close();
      expect(removals.toSorted()).toEqual(expected.toSorted());
      expect([...rows.keys()].toSorted()).toEqual([...pending].toSorted());
    }),
    { numRuns: 60 },
  );
});
