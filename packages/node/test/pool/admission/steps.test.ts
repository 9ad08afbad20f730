/** Stage B of admission: every code, every limit, and their order (pool.md 4). */
import { addressFromPublicKey, builders } from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import {
  addressNamed,
  createTestChain,
  envelope,
  FEE,
  NETWORK,
  networkWith,
  openPool,
  publicKeyOf,
  RICH,
  refusalOf,
  richChain,
  richPool,
  signedBy,
  submitOne,
  transfer,
} from "../../../test-support/pool/chain.ts";

describe("stage B", () => {
  test("Stage B step 1 refuses a pending transaction.", async () => {
    const chain = richChain("alice");
    const pool = openPool(chain);
    const input = transfer("alice", 1);
    await pool.submit([input]);
    pool.blockApplied([], chain.append());
    expect(await refusalOf(pool, input)).toBe(`ERR_DUPLICATE Duplicate transaction ${input.id}`);
  });

  test("Stage B step 2 lists transactions beyond the limit of the sender as excess, without an error.", async () => {
    const pool = openPool(richChain("alice", "bob"), { options: { poolMaxPerSender: 2 } });
    await pool.submit([transfer("alice", 1), transfer("alice", 2)]);
    const third = transfer("alice", 3);
    expect(await pool.submit([third])).toEqual({
      data: { accept: [], broadcast: [], excess: [third.id], invalid: [] },
    });
    expect(await submitOne(pool, transfer("bob", 1))).toBe("accepted");
  });

  test("Stage B step 2 does not count transactions of the same request.", async () => {
    const pool = openPool(richChain("alice"), { options: { poolMaxPerSender: 2 } });
    const { data } = await pool.submit([1, 2, 3].map((nonce) => transfer("alice", nonce)));
    expect(data.accept.length).toBe(3);
  });

  test("Stage B step 2 exempts the senders in the options.", async () => {
    const options = { poolMaxPerSender: 1, poolAllowedSenders: [publicKeyOf("alice")] };
    const pool = openPool(richChain("alice", "bob"), { options });
    await pool.submit([transfer("alice", 1), transfer("bob", 1)]);
    expect(await submitOne(pool, transfer("alice", 2))).toBe("accepted");
    expect(
      await submitOne(pool, { ...transfer("alice", 3), senderPublicKey: publicKeyOf("alice").toUpperCase() }),
    ).toBe("accepted");
    expect(await submitOne(pool, transfer("bob", 2))).toBe("excess");
  });

  test("Stage B step 3 refuses a timestamp more than an hour ahead.", async () => {
    const chain = richChain("alice");
    const pool = openPool(chain);
    const { timestamp: now } = chain.head();
    const first = { id: "first", version: 1, type: 0, timestamp: now + 3601 };
    expect(await refusalOf(pool, first)).toBe(
      "ERR_FROM_FUTURE Transaction first is 3601 seconds in the future",
    );
    expect(await submitOne(pool, { ...first, id: "second", timestamp: now + 3600 })).toBe("ERR_UNKNOWN");
  });

  test("Stage B step 4 refuses transactions that are expired in the next block.", async () => {
    const pool = richPool("alice"); // at height 10
    const late = transfer("alice", 1, { expiration: 11 });
    expect(await refusalOf(pool, late)).toBe(
      `ERR_EXPIRED Transaction ${late.id} is expired since -1 blocks.`,
    );
    expect(await submitOne(pool, transfer("alice", 1, { expiration: 12 }))).toBe("accepted");
  });

  test("Stage B step 4 judges the expiration that the bytes contain.", async () => {
    const pool = richPool("alice"); // at height 10
    const beyond = (nonce: number, expiration: number) => ({
      ...transfer("alice", nonce, { expiration }),
      expiration: 2 ** 32 + expiration,
    });
    expect(await submitOne(pool, beyond(1, 5))).toBe("ERR_EXPIRED");
    expect(await submitOne(pool, { ...transfer("alice", 1), expiration: 2 ** 32 + 12.5 })).toBe(
      "ERR_TRANSACTION_SCHEMA",
    );
    expect(await submitOne(pool, { ...transfer("alice", 1, { amount: 2n }), expiration: -(2 ** 32) })).toBe(
      "ERR_EXPIRED",
    );
    expect(await submitOne(pool, beyond(1, 12))).toBe("accepted");
    expect(await submitOne(pool, beyond(2, 0))).toBe("accepted");
  });

  test("Stage B step 4 counts the age of version 1 in blocks.", async () => {
    const chain = richChain("alice");
    const pool = openPool(chain, { options: { maxTransactionAge: 2 }, deps: { now: () => 1_000 } });
    const old = { id: "old", version: 1, type: 0, timestamp: 1_000 - 8 };
    expect(await submitOne(pool, old)).toBe("ERR_EXPIRED");
    expect(await submitOne(pool, { ...old, id: "newer", timestamp: 1_000 - 7 })).toBe("ERR_UNKNOWN");
  });

  test("Stage B step 5 refuses the byte of another network; 0 counts as absent.", async () => {
    const pool = richPool("alice");
    expect(await refusalOf(pool, { ...transfer("alice", 1), network: 30 })).toBe(
      "ERR_WRONG_NETWORK Transaction network '30' does not match '23'",
    );
    expect(await submitOne(pool, { ...transfer("alice", 2), network: 0 })).toBe("ERR_TRANSACTION_SCHEMA");
  });

  test("Stage B step 6 refuses unknown types.", async () => {
    const pool = richPool("alice");
    expect(await refusalOf(pool, { id: "a", type: 11 })).toBe(
      "ERR_UNSUPPORTED Invalidating transaction of unsupported type 'undefined'",
    );
    expect(await refusalOf(pool, { id: "b", typeGroup: 3, type: 6 })).toBe(
      "ERR_UNSUPPORTED Invalidating transaction of unsupported type 'MultiPayment'",
    );
  });

  test("Stage B step 7 refuses types that are not in force.", async () => {
    const network = networkWith([{ height: 5, disableArkLegacyVote: true, certifiedNFTsOnly: true }]);
    const pool = openPool(createTestChain({ alice: RICH }, network));
    expect(await refusalOf(pool, { id: "a", type: 3 })).toBe(
      "ERR_UNKNOWN Transaction type Core/3 is deactivated.",
    );
    expect(await refusalOf(pool, { id: "b", typeGroup: 2000, type: 0 })).toBe(
      "ERR_UNKNOWN Transaction type 2000/0 is deactivated.",
    );
  });

  test("Stage B step 9 refuses transactions that do not match the schema of their type.", async () => {
    const pool = richPool("alice");
    expect(await submitOne(pool, { ...transfer("alice", 1), amount: "0" })).toBe("ERR_TRANSACTION_SCHEMA");
    const { signature: _, ...unsigned } = transfer("alice", 2);
    expect(await submitOne(pool, unsigned)).toBe("ERR_TRANSACTION_SCHEMA");
  });

  test("Stage B step 10 refuses transactions that cannot be serialized.", async () => {
    const pool = richPool("alice");
    const { asset: _, ...payment } = signedBy(
      "alice",
      builders.multiPayment({
        ...envelope("alice", 1),
        payments: ["x", "y"].map((to) => ({ recipientId: addressNamed(to), amount: 1n })),
      }),
    );
    expect(await submitOne(pool, payment)).toBe("ERR_UNKNOWN");
    // DER that ends before its end
    expect(await submitOne(pool, { ...transfer("alice", 2), signature: "3044022000" })).toBe("ERR_UNKNOWN");
  });

  test("Stage B step 11 refuses a transaction larger than a block, and all after it.", async () => {
    const size = 156;
    const block = { version: 0, maxTransactions: 150, maxPayload: 10_240 + size };
    const pool = openPool(createTestChain({ alice: RICH, bob: RICH }, networkWith([], { block })));
    const [before, behind] = [transfer("alice", 1), transfer("alice", 2)];
    const large = transfer("bob", 1, { vendorField: "x" });
    expect(await pool.submit([before, large, behind, { id: "never looked at" }])).toEqual({
      data: { accept: [before.id], broadcast: [before.id], excess: [], invalid: [large.id] },
      errors: {
        [large.id]: [
          { type: "ERR_TOO_LARGE", message: `Transaction ${large.id} is larger than ${size} bytes.` },
        ],
      },
    });
  });

  test("Stage B step 12 refuses signatures that are not the sender's.", async () => {
    const text = "ERR_BAD_DATA Transaction didn't pass the verification process.";
    const pool = richPool("alice", "bob");
    expect(await refusalOf(pool, { ...transfer("alice", 1), amount: "2" })).toBe(text);
    expect(await refusalOf(pool, { ...transfer("bob", 1), senderPublicKey: publicKeyOf("alice") })).toBe(
      text,
    );
  });

  test("Stage B step 12 refuses version 1, which is no longer in force.", async () => {
    const chain = richChain("alice");
    const pool = openPool(chain);
    const body = builders.transfer({
      network: NETWORK,
      version: 1,
      timestamp: chain.head().timestamp,
      senderPublicKey: publicKeyOf("alice"),
      fee: FEE,
      recipientId: addressNamed("unknown"),
      amount: 1n,
    });
    expect(await submitOne(pool, signedBy("alice", body))).toBe("ERR_BAD_DATA");
  });

  test("Stage B step 13 refuses a fee below both minimums.", async () => {
    const pool = richPool("alice");
    // 156 bytes: (100 + 78) x 1000
    expect(await refusalOf(pool, transfer("alice", 1, { fee: 177_999n }))).toBe(
      "ERR_LOW_FEE The fee is too low to broadcast and accept the transaction",
    );
    expect(await submitOne(pool, transfer("alice", 1, { fee: 178_000n }))).toBe("accepted");
  });

  test("Stage B step 13 uses a fee that suffices for one of two minimums for that one only.", async () => {
    const fees = { dynamic: true, addonBytes: {}, minFeePool: 1_000, minFeeBroadcast: 2_000 };
    const chain = richChain("alice");
    const cheap = openPool(chain, { options: { fees } });
    const input = transfer("alice", 1, { fee: 100_000n });
    expect(await cheap.submit([input])).toMatchObject({ data: { accept: [input.id], broadcast: [] } });
    const dear = openPool(chain, {
      options: { fees: { ...fees, minFeePool: 2_000, minFeeBroadcast: 1_000 } },
    });
    expect(await dear.submit([input])).toMatchObject({ data: { accept: [], broadcast: [input.id] } });
    expect(dear.size()).toBe(0);
  });

  test("Stage B step 13 accepts the exact fee only, with static fees.", async () => {
    const fees = { dynamic: false, addonBytes: {}, minFeePool: 1, minFeeBroadcast: 1 };
    const pool = openPool(richChain("alice"), { options: { fees } });
    expect(await submitOne(pool, transfer("alice", 1, { fee: 9_999_999n }))).toBe("ERR_LOW_FEE");
    expect(await submitOne(pool, transfer("alice", 1, { fee: 10_000_001n }))).toBe("ERR_LOW_FEE");
    expect(await submitOne(pool, transfer("alice", 1, { fee: 10_000_000n }))).toBe("accepted");
  });

  test("The first failing step of stage B determines the code.", async () => {
    const network = networkWith([{ height: 5, certifiedNFTsOnly: true }]);
    const chain = createTestChain({ alice: RICH }, network);
    const pool = openPool(chain, { options: { poolMaxPerSender: 1 } });
    const pending = transfer("alice", 1);
    await pool.submit([pending]);
    pool.blockApplied([], chain.append());
    // From the last step to the first; each change is added to the earlier ones.
    const steps: [code: string, change: Record<string, unknown>][] = [
      ["ERR_LOW_FEE", {}],
      ["ERR_BAD_DATA", { amount: "2" }],
      ["ERR_TRANSACTION_SCHEMA", { amount: "-1" }],
      ["ERR_INVALID_RECIPIENT", { recipientId: addressFromPublicKey(publicKeyOf("unknown"), 30) }],
      ["ERR_UNKNOWN", { typeGroup: 2000 }],
      ["ERR_UNSUPPORTED", { typeGroup: 4 }],
      ["ERR_WRONG_NETWORK", { network: 30 }],
      ["ERR_EXPIRED", { expiration: 1 }],
      ["ERR_FROM_FUTURE", { timestamp: 1e9 }],
      ["excess", { senderPublicKey: publicKeyOf("alice") }],
      ["ERR_DUPLICATE", { id: pending.id }],
    ];
    let input: Record<string, unknown> = transfer("bob", 1, { fee: 1n });
    for (const [index, [code, change]] of steps.entries()) {
      input = { ...input, id: `${index}`.padStart(64, "0"), ...change };
      expect(await submitOne(pool, input), JSON.stringify(change)).toBe(code);
    }
  });
});
