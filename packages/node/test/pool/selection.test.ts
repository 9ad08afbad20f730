/** Selection of the transactions of a block (pool.md 9). */
import { builders, createNetwork, livenet, type SealedTransaction } from "@uniknode/protocol";
import { expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { blockLimits } from "../../src/pool/selection.ts";
import {
  createTestChain,
  envelope,
  FEE,
  idsOf,
  networkWith,
  type OpenPool,
  openPool,
  RICH,
  reported,
  richChain,
  signedBy,
  transfer,
} from "../../test-support/pool/chain.ts";

const ROOM = { maxTransactions: 150, maxBytes: 1_000_000 };

async function poolWith(inputs: readonly unknown[], ...names: string[]): Promise<OpenPool> {
  const pool = openPool(richChain(...names));
  await pool.submit(inputs);
  return pool;
}

test("The highest fees come first, in the order of nonces.", async () => {
  const inputs = [
    transfer("alice", 1),
    transfer("alice", 2, { fee: 3n * FEE }),
    transfer("bob", 1, { fee: 2n * FEE }),
  ];
  const pool = await poolWith(inputs, "alice", "bob");
  expect(idsOf(pool.select(ROOM))).toEqual(inputs.map(({ id }) => id));
  expect(pool.size()).toBe(3);
});

test("A selection has at most as many transactions as a block.", async () => {
  const inputs = [1, 2, 3].map((nonce) => transfer("alice", nonce));
  const pool = await poolWith(inputs, "alice");
  expect(pool.select({ ...ROOM, maxTransactions: 2 }).length).toBe(2);
  expect(pool.select({ ...ROOM, maxTransactions: 0 })).toEqual([]);
});

test("The first that would exceed the bytes ends the selection.", async () => {
  const long = transfer("alice", 1, { fee: 2n * FEE, vendorField: "x".repeat(100) }); // 256 bytes
  const short = transfer("bob", 1); // 156 bytes
  const pool = await poolWith([long, short], "alice", "bob");
  expect(pool.select({ ...ROOM, maxBytes: 255 })).toEqual([]);
  expect(idsOf(pool.select({ ...ROOM, maxBytes: 256 }))).toEqual([long.id]);
  // Each transaction of a block has a length of 4 bytes.
  expect(pool.select({ ...ROOM, maxBytes: 256 + 4 + 155 }).length).toBe(1);
  expect(pool.select({ ...ROOM, maxBytes: 256 + 4 + 156 }).length).toBe(2);
});

test("Transactions that an earlier one of the block forbids are removed from the pool, with those that build on them.", async () => {
  const register = (name: string) =>
    signedBy(
      name,
      builders.entityRegistration({
        ...envelope(name, 1, 5_000_000_000n),
        entityType: 0,
        entitySubType: 0,
        name: "Acme",
      }),
    );
  const [first, second, third] = [register("alice"), register("bob"), transfer("bob", 2)];
  const actors = { alice: RICH, bob: RICH };
  const pool = openPool(createTestChain(actors, networkWith([{ height: 5, aip36: true }])));
  await pool.submit([first, second, third]);
  expect(pool.size()).toBe(3);
  expect(idsOf(pool.select(ROOM))).toEqual([present(first).id]);
  expect(idsOf(pool.inForgingOrder())).toEqual([present(first).id]);
  await pool.close();
  expect(reported(pool.events).slice(3)).toEqual([
    `transaction.pool.removed ${present(second).id}`,
    `transaction.pool.removed ${present(third).id}`,
  ]);
});

test("Funds that arrive within the block can be spent in it.", async () => {
  const chain = createTestChain({ alice: RICH, bob: { balance: 2n * FEE } });
  const pool = openPool(chain);
  // Alice's transfer pays more, so it precedes those of bob.
  await pool.submit([
    transfer("alice", 1, { fee: 9n * FEE, to: "bob", amount: 50n * FEE }),
    transfer("bob", 1),
  ]);
  expect(pool.select(ROOM).length).toBe(2);
});

test("At most ten times the maximum of a block is tried.", async () => {
  const chain = createTestChain({ alice: RICH, bob: RICH });
  const pool = openPool(chain);
  const dear = Array.from({ length: 11 }, (_, index) => transfer("alice", index + 1, { fee: 2n * FEE }));
  await pool.submit([...dear, transfer("bob", 1)]);
  // The chain takes alice's funds without a notification of the pool.
  chain.fund({ alice: { balance: 0n, nonce: 0n } });
  expect(pool.select({ ...ROOM, maxTransactions: 1 })).toEqual([]);
  expect(idsOf(pool.select({ ...ROOM, maxTransactions: 1 })).length).toBe(1);
});

test("A selection does not change the next one.", async () => {
  const pool = await poolWith([transfer("alice", 1), transfer("alice", 2)], "alice");
  const first: SealedTransaction[] = pool.select(ROOM);
  expect(pool.select(ROOM)).toEqual(first);
});

test("Transactions of a block leave 10 KiB of it to the header and the lengths, and fit into the reply of a peer.", () => {
  const { block } = createNetwork(livenet).milestoneAt(2);
  const { maxTransactions } = block;
  expect(blockLimits({ block: { ...block, maxPayload: 2_000_000 } })).toEqual({
    maxTransactions,
    maxBytes: 1_989_760,
  });
  expect(blockLimits({ block })).toEqual({ maxTransactions, maxBytes: 10_000_000 });
});

test("Transactions of a block obey the milestone of the head and that of the block.", () => {
  const { block } = createNetwork(livenet).milestoneAt(2);
  const milestones = [
    { block: { ...block, maxTransactions: 10, maxPayload: 500_000 } },
    { block: { ...block, maxTransactions: 20, maxPayload: 400_000 } },
  ];
  expect(blockLimits(...milestones)).toEqual({ maxTransactions: 10, maxBytes: 389_760 });
});
