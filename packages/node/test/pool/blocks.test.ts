/** Effects of blocks, reverts, expirations and milestones on the pool (pool.md 6 and 10, decision 4). */
import { builders, multiSignTransaction, transactionId } from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import {
  addressNamed,
  createTestChain,
  envelope,
  FEE,
  idsOf,
  jsonOf,
  keysOf,
  networkWith,
  openPool,
  publicKeyOf,
  RICH,
  reported,
  richChain,
  signedBy,
  submitOne,
  transfer,
} from "../../test-support/pool/chain.ts";

describe("a block", () => {
  test("A block removes its transactions, and keeps the rest with the right nonces.", async () => {
    const chain = richChain("alice");
    const pool = openPool(chain);
    const inputs = [1, 2, 3].map((nonce) => transfer("alice", nonce));
    await pool.submit(inputs);
    const included = pool.inForgingOrder().slice(0, 2);
    pool.blockApplied(included, chain.append(included));
    expect(idsOf(pool.inForgingOrder())).toEqual([present(inputs[2]).id]);
    expect(await submitOne(pool, transfer("alice", 4))).toBe("accepted");
    await pool.close();
    expect(reported(pool.events).filter((text) => text.includes("removed"))).toEqual([
      `transaction.pool.removed ${present(inputs[0]).id}`,
      `transaction.pool.removed ${present(inputs[1]).id}`,
    ]);
  });

  test("A block credits its recipients.", async () => {
    const chain = createTestChain({ alice: RICH, bob: { balance: FEE + 1n } });
    const pool = openPool(chain);
    await pool.submit([transfer("bob", 1), transfer("alice", 1, { to: "bob", amount: 5n * FEE })]);
    expect(await submitOne(pool, transfer("bob", 2))).toBe("ERR_APPLY");
    pool.forge();
    expect(await submitOne(pool, transfer("bob", 2, { amount: 2n }))).toBe("accepted");
  });

  test("A block with other transactions of a sender removes invalidated ones.", async () => {
    const chain = createTestChain({ alice: { balance: 10n * FEE }, bob: RICH });
    const pool = openPool(chain);
    const mine = [transfer("alice", 1, { amount: 1n }), transfer("alice", 2, { amount: 7n * FEE })];
    const others = transfer("bob", 1);
    await pool.submit([...mine, others]);
    // Elsewhere alice has spent more with her first nonce.
    const elsewhere = openPool(chain);
    await elsewhere.submit([transfer("alice", 1, { amount: 3n * FEE })]);
    const block = elsewhere.inForgingOrder();
    pool.blockApplied(block, chain.append(block));
    expect(idsOf(pool.inForgingOrder())).toEqual([others.id]);
    await pool.close();
    expect(reported(pool.events).slice(3)).toEqual(mine.map(({ id }) => `transaction.pool.removed ${id}`));
  });

  test("A block among several of one commit does not remove later transactions.", async () => {
    const chain = richChain("alice");
    const pool = openPool(chain);
    const inputs = [1, 2, 3].map((nonce) => transfer("alice", nonce));
    await pool.submit(inputs);
    const [first, second] = pool.inForgingOrder();
    // The state is that of the second block before the pool is notified of the first.
    const changed = [chain.append([present(first)]), chain.append([present(second)])];
    pool.blockApplied([present(first)], present(changed[0]));
    pool.blockApplied([present(second)], present(changed[1]));
    expect(idsOf(pool.inForgingOrder())).toEqual([present(inputs[2]).id]);
    await pool.close();
    expect(reported(pool.events).slice(3).length).toBe(2);
  });

  test("A block that spends the funds of a pending transaction removes it.", async () => {
    const chain = richChain("alice");
    const pool = openPool(chain);
    await pool.submit([transfer("alice", 1)]);
    chain.fund({ alice: { balance: 0n } });
    pool.blockApplied([], new Set([addressNamed("alice")]));
    expect(pool.size()).toBe(0);
  });
});

describe("an expiration height", () => {
  test("An expiration height removes the transaction and the later ones of its sender when it is reached.", async () => {
    const chain = richChain("alice", "bob"); // at height 10
    const pool = openPool(chain);
    const [first, second, third] = [
      transfer("alice", 1),
      transfer("alice", 2, { expiration: 12 }),
      transfer("alice", 3),
    ];
    const bobs = transfer("bob", 1, { expiration: 13 });
    await pool.submit([present(first), present(second), present(third), bobs]);
    pool.blockApplied([], chain.append());
    expect(pool.size()).toBe(4);
    pool.blockApplied([], chain.append());
    expect(idsOf(pool.inForgingOrder())).toEqual([present(first).id, bobs.id]);
    expect(await submitOne(pool, transfer("alice", 2, { amount: 9n }))).toBe("accepted");
    await pool.close();
    expect(reported(pool.events).slice(4, 6)).toEqual([
      `transaction.expired ${present(third).id}`,
      `transaction.expired ${present(second).id}`,
    ]);
  });

  test("An expiration height of the next block excludes the transaction from it.", async () => {
    const chain = richChain("alice", "bob");
    const pool = openPool(chain);
    const bobs = transfer("bob", 1);
    await pool.submit([transfer("alice", 1, { expiration: 12 }), transfer("alice", 2), bobs]);
    pool.blockApplied([], chain.append());
    expect(idsOf(pool.select({ maxTransactions: 10, maxBytes: 10_000 }))).toEqual([bobs.id]);
    expect(pool.size()).toBe(3);
    await pool.close();
    expect(pool.events.length).toBe(1);
  });
});

describe("a milestone", () => {
  test("A milestone removes transactions that its schema refuses, and the later ones of the same senders.", async () => {
    const network = networkWith([{ height: 12, vendorFieldLength: 2 }]);
    const chain = createTestChain({ alice: RICH, bob: RICH }, network);
    const pool = openPool(chain);
    const inputs = [
      transfer("alice", 1),
      transfer("alice", 2, { vendorField: "xxx" }),
      transfer("alice", 3),
      transfer("bob", 1, { vendorField: "xx" }),
    ];
    await pool.submit(inputs);
    pool.blockApplied([], chain.append());
    expect(pool.size()).toBe(4);
    pool.blockApplied([], chain.append());
    expect(idsOf(pool.inForgingOrder())).toEqual([present(inputs[0]).id, present(inputs[3]).id]);
    await pool.close();
    expect(reported(pool.events).slice(4)).toEqual([
      `transaction.pool.removed ${present(inputs[2]).id}`,
      `transaction.pool.removed ${present(inputs[1]).id}`,
    ]);
  });

  test("A milestone removes types that it ends, also when the commit exceeded its height.", async () => {
    const network = networkWith([{ height: 11, disableArkLegacyVote: true }]);
    const delegate = {
      username: "d",
      voteBalance: 0n,
      forgedFees: 0n,
      forgedRewards: 0n,
      producedBlocks: 0,
      round: 0,
    };
    const chain = createTestChain({ alice: RICH, d: { attributes: { delegate } } }, network);
    const pool = openPool(chain);
    await pool.submit([
      signedBy("alice", builders.vote({ ...envelope("alice", 1), vote: `+${publicKeyOf("d")}` })),
    ]);
    expect(pool.size()).toBe(1);
    chain.append();
    pool.blockApplied([], chain.append());
    expect(pool.size()).toBe(0);
  });
});

describe("a revert", () => {
  test("A revert adds its transactions before the pending ones, which stay.", async () => {
    const chain = richChain("alice", "bob");
    const pool = openPool(chain);
    const inputs = [transfer("alice", 1), transfer("bob", 1), transfer("alice", 2)];
    await pool.submit(inputs.slice(0, 2));
    expect(pool.forge().length).toBe(2);
    await pool.submit([present(inputs[2])]);
    await pool.close();
    const before = pool.events.length;
    pool.blocksReverted(chain.revert());
    expect(idsOf(pool.inForgingOrder())).toEqual(inputs.map(({ id }) => id));
    await pool.close();
    expect(pool.events.length).toBe(before);
  });

  test("A revert of several blocks adds all transactions, oldest first.", async () => {
    const chain = richChain("alice");
    const pool = openPool(chain);
    for (const nonce of [1, 2, 3]) {
      await pool.submit([transfer("alice", nonce)]);
      pool.forge();
    }
    const newest = [chain.revert(), chain.revert(), chain.revert()];
    pool.blocksReverted(newest.reverse().flat());
    expect(pool.inForgingOrder().map(({ data }) => data.nonce)).toEqual([1n, 2n, 3n]);
  });

  test("A revert keeps pending transactions that only applied after the reverted block, and forges them after its own.", async () => {
    const chain = createTestChain({ alice: RICH });
    const pool = openPool(chain);
    await pool.submit([transfer("alice", 1, { to: "bob", amount: 5n * FEE })]);
    pool.forge();
    const bobs = transfer("bob", 1, { amount: 2n, fee: 2n * FEE });
    await pool.submit([bobs]);
    pool.blocksReverted(chain.revert());
    expect(pool.size()).toBe(2);
    expect(pool.forge().map(({ data }) => data.senderPublicKey)).toEqual(["alice", "bob"].map(publicKeyOf));
    await pool.close();
    expect(reported(pool.events).filter((text) => text.includes(bobs.id))).toEqual([
      `transaction.pool.added ${bobs.id}`,
      `transaction.pool.removed ${bobs.id}`,
    ]);
  });

  test("A revert does not add transactions that the older milestone does not allow.", async () => {
    const network = networkWith([{ height: 11, vendorFieldLength: 300 }], { vendorFieldLength: 2 });
    const chain = createTestChain({ alice: RICH, bob: RICH }, network);
    const pool = openPool(chain);
    chain.append();
    pool.blockApplied([], new Set());
    await pool.submit([transfer("alice", 1, { vendorField: "xxx" })]);
    pool.forge();
    await pool.submit([transfer("bob", 1, { vendorField: "xxx" })]);
    expect(pool.size()).toBe(1);
    const transactions = [...chain.revert()];
    chain.revert();
    pool.blocksReverted(transactions);
    expect(pool.size()).toBe(0);
  });

  test("A revert does not add transactions that a multisignature wallet signed before it was one.", async () => {
    const multiSignature = { min: 1, publicKeys: ["p0", "p1"].map(publicKeyOf) };
    const chain = createTestChain({ shared: { ...RICH, attributes: { multiSignature } } });
    const pool = openPool(chain);
    const body = builders.transfer({ ...envelope("shared", 1), recipientId: addressNamed("x"), amount: 1n });
    const signed = multiSignTransaction(body, 0, keysOf("p0"));
    await pool.submit([jsonOf({ ...signed, id: transactionId(signed) })]);
    expect(pool.forge().length).toBe(1);
    const returned = chain.revert();
    chain.fund({ shared: { attributes: {} } });
    pool.blocksReverted(returned);
    expect(pool.size()).toBe(0);
  });
});

describe("clearing the pool", () => {
  test("A clear of the pool removes everything and reports it, and the same is accepted again.", async () => {
    const pool = openPool(richChain("alice", "bob"));
    const inputs = [transfer("alice", 1), transfer("alice", 2), transfer("bob", 1)];
    await pool.submit(inputs);
    pool.clear();
    expect(pool.size()).toBe(0);
    expect(await submitOne(pool, present(inputs[0]))).toBe("accepted");
    await pool.close();
    const removed = reported(pool.events).filter((text) => text.includes("removed"));
    expect(removed.toSorted()).toEqual(inputs.map(({ id }) => `transaction.pool.removed ${id}`).toSorted());
  });
});
