/** Stages of admission and their result (pool.md 3 and 4). */
import { describe, expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import {
  createTestChain,
  FEE,
  openPool,
  publicKeyOf,
  RICH,
  refusalOf,
  richChain,
  richPool,
  submitOne,
  transfer,
} from "../../../test-support/pool/chain.ts";

describe("an admission", () => {
  test("An admission returns the ids of accepted and broadcast transactions.", async () => {
    const pool = richPool("alice");
    const inputs = [transfer("alice", 1), transfer("alice", 2)];
    const ids = inputs.map(({ id }) => id);
    expect(await pool.submit(inputs)).toEqual({
      data: { accept: ids, broadcast: ids, excess: [], invalid: [] },
    });
    expect(pool.size()).toBe(2);
    expect(pool.get(present(ids[0]))?.isVerified).toBe(true);
  });

  test("An admission names each refused transaction once, with its reasons.", async () => {
    const pool = richPool("alice");
    const good = transfer("alice", 1);
    const late = transfer("alice", 9);
    const { data, errors } = await pool.submit([good, late]);
    expect(data).toEqual({ accept: [good.id], broadcast: [good.id], excess: [], invalid: [late.id] });
    expect(errors).toEqual({
      [late.id]: [
        {
          type: "ERR_APPLY",
          message: `Cannot apply a transaction with nonce 9: the sender ${publicKeyOf("alice")} has nonce 1.`,
        },
      ],
    });
  });

  test("An admission computes the ids of accepted transactions, and lists refusals by the received id.", async () => {
    const pool = richPool("alice");
    const { id } = transfer("alice", 1);
    const wrong = "00".repeat(32);
    const { data } = await pool.submit([{ ...transfer("alice", 1), id: wrong }]);
    expect(data.accept).toEqual([id]);
    expect(await pool.submit([{ ...transfer("alice", 2, { fee: 1n }), id: "11".repeat(32) }])).toMatchObject({
      data: { invalid: ["11".repeat(32)] },
    });
    expect(pool.get(wrong)).toBeUndefined();
  });

  test("An admission accepts a transaction without network and type group.", async () => {
    const pool = richPool("alice");
    const { network: _, ...input } = transfer("alice", 1);
    expect(await submitOne(pool, input)).toBe("accepted");
  });

  test("An admission refuses an item that is not an object.", async () => {
    for (const input of [null, 7, "text", [], {}]) {
      expect(await submitOne(richPool(), input), JSON.stringify(input)).toBe("ERR_UNSUPPORTED");
    }
  });
});

describe("stage A", () => {
  test("Stage A refuses an id seen since the last block, whatever its outcome.", async () => {
    const chain = richChain("alice");
    const pool = openPool(chain);
    const early = transfer("alice", 2);
    expect(await submitOne(pool, early)).toBe("ERR_APPLY");
    expect(await refusalOf(pool, early)).toBe("ERR_DUPLICATE Already in cache.");
    pool.blockApplied([], chain.append());
    expect(await submitOne(pool, early)).toBe("ERR_APPLY");
  });

  test("Stage A checks all transactions of a request at once: equal ones are listed once.", async () => {
    const pool = richPool("alice");
    const input = transfer("alice", 1);
    expect(await pool.submit([input, input])).toEqual({
      data: { accept: [input.id], broadcast: [input.id], excess: [], invalid: [] },
    });
    expect(await pool.submit([input, input])).toEqual({
      data: { accept: [], broadcast: [], excess: [], invalid: [input.id] },
      errors: { [input.id]: [{ type: "ERR_DUPLICATE", message: "Already in cache." }] },
    });
  });

  test("Stage A keeps different transactions of a request without ids, or beside a forged id.", async () => {
    const pool = richPool("alice", "bob");
    const inputs = [1, 2].map((nonce) => transfer("alice", nonce));
    const { data } = await pool.submit(inputs.map((input) => ({ ...input, id: null })));
    expect(data).toMatchObject({ accept: inputs.map(({ id }) => id), invalid: [] });
    const real = transfer("bob", 1);
    const forged = { ...transfer("bob", 2), id: real.id, amount: "7" };
    const mixed = await pool.submit([forged, real]);
    expect(mixed.data).toMatchObject({ accept: [real.id], invalid: [real.id] });
    expect(mixed.errors?.[real.id]).toMatchObject([{ type: "ERR_BAD_DATA" }]);
  });

  test("Stage A forgets the oldest of more than 10,000 ids.", async () => {
    const pool = richPool();
    const ids = Array.from({ length: 10_001 }, (_, index) => ({ id: index.toString(16).padStart(64, "0") }));
    await pool.submit(ids);
    expect(await submitOne(pool, ids[1])).toBe("ERR_DUPLICATE");
    expect(await submitOne(pool, ids[0])).toBe("ERR_UNSUPPORTED");
  });

  test("Stage A is cleared by a revert too.", async () => {
    const chain = richChain("alice");
    const pool = openPool(chain);
    chain.append();
    await pool.submit([transfer("alice", 2)]);
    pool.blocksReverted(chain.revert());
    expect(await submitOne(pool, transfer("alice", 2))).toBe("ERR_APPLY");
  });
});

describe("stages C and D", () => {
  test("Stages C and D refuse a transaction that is in a block.", async () => {
    const chain = richChain("alice");
    const pool = openPool(chain);
    const input = transfer("alice", 1);
    await pool.submit([input]);
    pool.forge();
    expect(await pool.submit([input])).toEqual({
      data: { accept: [], broadcast: [], excess: [], invalid: [input.id] },
      errors: { [input.id]: [{ type: "ERR_FORGED", message: "Already forged." }] },
    });
  });

  test("Stages C and D refuse a transaction that is pending under its true id.", async () => {
    const pool = richPool("alice");
    const input = transfer("alice", 1);
    await pool.submit([input]);
    expect(await pool.submit([{ ...input, id: "00".repeat(32) }])).toEqual({
      data: { accept: [], broadcast: [], excess: [], invalid: [input.id] },
      errors: { [input.id]: [{ type: "ERR_ALREADY_IN_POOL", message: "Already in pool" }] },
    });
  });

  test("Stages C and D refuse a transaction whose amount the sender's pending transactions have spent.", async () => {
    const pool = openPool(createTestChain({ alice: { balance: 2n * FEE + 10n } }));
    expect(await submitOne(pool, transfer("alice", 1, { amount: 8n }))).toBe("accepted");
    expect(await refusalOf(pool, transfer("alice", 2, { amount: 3n }))).toBe(
      "ERR_APPLY Insufficient balance in the wallet.",
    );
    expect(await submitOne(pool, transfer("alice", 2, { amount: 2n }))).toBe("accepted");
  });

  test("Stages C and D do not allow spending of incoming pending amounts.", async () => {
    const pool = openPool(createTestChain({ alice: RICH }));
    await pool.submit([transfer("alice", 1, { amount: 10n * FEE, to: "bob" })]);
    expect(await refusalOf(pool, transfer("bob", 1))).toBe(
      "ERR_APPLY Insufficient balance in database wallet. Wallet is not allowed to spend before funding is confirmed.",
    );
    pool.forge();
    expect(await submitOne(pool, transfer("bob", 1, { amount: 2n }))).toBe("accepted");
  });

  test("Stages C and D change nothing for a transaction that does not apply.", async () => {
    const pool = openPool(createTestChain({ alice: { balance: 5n * FEE } }));
    await pool.submit([transfer("alice", 1, { amount: 9n * FEE }), transfer("alice", 1)]);
    expect(pool.size()).toBe(1);
    expect(await submitOne(pool, transfer("alice", 2))).toBe("accepted");
  });
});
