/** A full pool (pool.md 8). */
import { describe, expect, test } from "vitest";
import { FEE, openPool, richChain, submitOne, transfer } from "../../test-support/pool/chain.ts";

describe("a full pool", () => {
  test("A full pool refuses a fee no higher than the lowest, but broadcasts the transaction.", async () => {
    const pool = openPool(richChain("alice", "bob"), { options: { poolSize: 1 } });
    const first = transfer("alice", 1);
    await pool.submit([first]);
    const equal = transfer("bob", 1);
    expect(await pool.submit([equal])).toEqual({
      data: { accept: [], broadcast: [equal.id], excess: [], invalid: [equal.id] },
      errors: {
        [equal.id]: [
          {
            type: "ERR_POOL_FULL",
            message:
              "Pool is full (has 1 transactions) and this transaction's fee 1000000 is not higher than the lowest " +
              "fee already in pool 1000000",
          },
        ],
      },
    });
    const dearer = transfer("bob", 1, { fee: FEE + 1n });
    expect(await submitOne(pool, dearer)).toBe("accepted");
    expect(pool.inForgingOrder().map(({ data }) => data.id)).toEqual([dearer.id]);
    expect(await submitOne(pool, transfer("alice", 1, { fee: FEE + 2n }))).toBe("accepted");
  });

  test("A full pool keeps the cheapest if the new transaction does not apply.", async () => {
    const pool = openPool(richChain("alice", "bob"), { options: { poolSize: 1 } });
    await pool.submit([transfer("alice", 1)]);
    expect(await submitOne(pool, transfer("bob", 2, { fee: 2n * FEE }))).toBe("ERR_APPLY");
    expect(pool.size()).toBe(1);
  });

  test("A full pool evicts no transaction that the new one builds on.", async () => {
    const pool = openPool(richChain("alice", "bob"), { options: { poolSize: 2 } });
    const bobs = transfer("bob", 1, { fee: 3n * FEE });
    await pool.submit([transfer("alice", 1), bobs]);
    expect(await submitOne(pool, transfer("alice", 2, { fee: 2n * FEE }))).toBe("ERR_POOL_FULL");
    expect(await submitOne(pool, transfer("alice", 2, { fee: 4n * FEE }))).toBe("accepted");
    expect(pool.get(bobs.id)).toBeUndefined();
    expect(pool.size()).toBe(2);
  });

  test("A full pool of size 0 accepts nothing.", async () => {
    const pool = openPool(richChain("alice"), { options: { poolSize: 0 } });
    expect(await submitOne(pool, transfer("alice", 1))).toBe("ERR_POOL_FULL");
  });
});
