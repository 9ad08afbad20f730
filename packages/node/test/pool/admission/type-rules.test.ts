/** Rules of the pool for each type (pool.md 5). */
import type { ShownAttributes } from "@uniknode/ledger";
import { addressFromPublicKey, builders, type TransactionBody } from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import {
  addressNamed,
  createTestChain,
  envelope,
  FEE,
  openPool,
  publicKeyOf,
  RICH,
  refusalOf,
  signedBy,
  submitOne,
  transfer,
} from "../../../test-support/pool/chain.ts";

const TOKEN = "ab".repeat(32);
const SECRET = "cd".repeat(32);

const lock = { amount: 1n, recipientId: "", secretHash: SECRET, expiration: { type: 2, value: 1_000 } };
const delegate = {
  username: "delegate",
  voteBalance: 0n,
  forgedFees: 0n,
  forgedRewards: 0n,
  producedBlocks: 0,
  round: 0,
};

/** Alice has every permission; "ee…" and "ff…" are open locks of hers. */
function openWith(attributes: ShownAttributes = {}) {
  const locks = { ["ee".repeat(32)]: lock, ["ff".repeat(32)]: lock };
  const chain = createTestChain({
    alice: { ...RICH, attributes: { htlc: { locks, lockedBalance: 2n }, ...attributes } },
    bob: RICH,
    delegate: { attributes: { delegate } },
  });
  chain.state.commit(
    Object.keys(locks).map((id) => ({
      table: "locks",
      key: id,
      before: undefined,
      after: addressNamed("alice"),
    })),
  );
  return openPool(chain);
}

const vote = (nonce: number, sign = "+") =>
  signedBy(
    "alice",
    builders.vote({ ...envelope("alice", nonce), vote: `${sign}${publicKeyOf("delegate")}` }),
  );
const secondSignature = (nonce: number) =>
  signedBy(
    "alice",
    builders.secondSignature({ ...envelope("alice", nonce), publicKey: publicKeyOf("second") }),
  );
const registration = (name: string, username: string, nonce = 1) =>
  signedBy(name, builders.delegateRegistration({ ...envelope(name, nonce, 10n ** 9n), username }));

const pendingOf = (name: string, type: string) =>
  `ERR_PENDING Sender ${publicKeyOf(name)} already has a transaction of type '${type}' in the pool`;

describe("a transfer", () => {
  test("A transfer needs a recipient of the network.", async () => {
    const pool = openWith();
    const foreign = addressFromPublicKey(publicKeyOf("bob"), 30);
    expect(await refusalOf(pool, { ...transfer("alice", 1), recipientId: foreign })).toBe(
      `ERR_INVALID_RECIPIENT Recipient ${foreign} is not on the same network: 23`,
    );
  });

  test("A transfer needs a valid recipient.", async () => {
    for (const recipientId of ["unknown", "", undefined]) {
      expect(await submitOne(openWith(), { ...transfer("alice", 1), recipientId }), recipientId).toBe(
        "ERR_UNKNOWN",
      );
    }
  });
});

describe("one pending transaction of the type", () => {
  test("One pending vote is the limit for a sender.", async () => {
    const pool = openWith();
    expect(await submitOne(pool, vote(1))).toBe("accepted");
    expect(await refusalOf(pool, vote(2, "-"))).toBe(pendingOf("alice", "Vote"));
  });

  test("One pending second signature is the limit for a sender.", async () => {
    const pool = openWith();
    expect(await submitOne(pool, secondSignature(1))).toBe("accepted");
    expect(await refusalOf(pool, secondSignature(2))).toBe(pendingOf("alice", "SecondSignature"));
  });

  test("One pending registration and one pending resignation are the limit for a sender.", async () => {
    const pool = openWith();
    expect(await submitOne(pool, registration("alice", "one"))).toBe("accepted");
    expect(await refusalOf(pool, registration("alice", "two", 2))).toBe(
      pendingOf("alice", "DelegateRegistration"),
    );
    const resigning = openPool(
      createTestChain({
        alice: { ...RICH, attributes: { delegate } },
        ...Object.fromEntries(
          Array.from({ length: 51 }, (_, index) => [
            `d${index}`,
            { attributes: { delegate: { ...delegate, username: `d${index}` } } },
          ]),
        ),
      }),
    );
    const resignation = (nonce: number) =>
      signedBy("alice", builders.delegateResignation(envelope("alice", nonce)));
    expect(await submitOne(resigning, resignation(1))).toBe("accepted");
    expect(await refusalOf(resigning, resignation(2))).toBe(pendingOf("alice", "DelegateResignation"));
  });

  test("Pending transfers, multipayments and ipfs are not limited to one for a sender.", async () => {
    const pool = openWith();
    const payments = ["x", "y"].map((to) => ({ recipientId: addressNamed(to), amount: 1n }));
    const hashes = [
      "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG",
      "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdH",
    ];
    const inputs = [
      transfer("alice", 1),
      transfer("alice", 2),
      signedBy("alice", builders.multiPayment({ ...envelope("alice", 3), payments })),
      signedBy("alice", builders.multiPayment({ ...envelope("alice", 4), payments })),
      ...hashes.map((multihash, index) =>
        signedBy("alice", builders.ipfs({ ...envelope("alice", 5 + index), multihash })),
      ),
    ];
    for (const input of inputs) expect(await submitOne(pool, input), `type ${input.type}`).toBe("accepted");
  });

  test("One pending transaction of group 1 is the limit of token types with the same number (trap D1).", async () => {
    const types: [typeGroup: number, type: number, core: string][] = [
      [2000, 0, "Transfer"],
      [2001, 0, "Transfer"],
      [2000, 1, "SecondSignature"],
      [2001, 3, "Vote"],
      [2001, 6, "MultiPayment"],
    ];
    const pending: Record<string, TransactionBody> = {
      Transfer: builders.transfer({ ...envelope("alice", 1), recipientId: addressNamed("x"), amount: 1n }),
      SecondSignature: builders.secondSignature({
        ...envelope("alice", 1),
        publicKey: publicKeyOf("second"),
      }),
      Vote: builders.vote({ ...envelope("alice", 1), vote: `+${publicKeyOf("delegate")}` }),
      MultiPayment: builders.multiPayment({
        ...envelope("alice", 1),
        payments: ["x", "y"].map((to) => ({ recipientId: addressNamed(to), amount: 1n })),
      }),
    };
    for (const [typeGroup, type, core] of types) {
      const pool = openWith();
      await pool.submit([signedBy("alice", present(pending[core]))]);
      const input = { id: "x", senderPublicKey: publicKeyOf("alice"), typeGroup, type };
      expect(await refusalOf(pool, input)).toBe(pendingOf("alice", core));
      const stranger = { ...input, id: "y", senderPublicKey: publicKeyOf("bob") };
      expect(await submitOne(pool, stranger)).toBe("ERR_TRANSACTION_SCHEMA");
    }
  });
});

describe("the name of a delegate", () => {
  test("The name of a delegate is registered once in a request.", async () => {
    const pool = openWith();
    const inputs = [registration("alice", "name"), registration("bob", "name")];
    const { data, errors } = await pool.submit(inputs);
    expect(data).toMatchObject({ accept: [], invalid: inputs.map(({ id }) => id) });
    expect(errors?.[present(inputs[0]).id]).toEqual([
      { type: "ERR_CONFLICT", message: 'Multiple delegate registrations for "name" in transaction payload' },
    ]);
  });

  test("The name of a delegate is pending once.", async () => {
    const pool = openWith();
    await pool.submit([registration("alice", "name")]);
    expect(await refusalOf(pool, registration("bob", "name"))).toBe(
      'ERR_PENDING Delegate registration for "name" already in the pool',
    );
    expect(await submitOne(pool, registration("bob", "other"))).toBe("accepted");
  });
});

describe("a lock", () => {
  const [open, other] = ["ee".repeat(32), "ff".repeat(32)] as const;
  // Claims and refunds have no fee.
  const claim = (nonce: number, lockTransactionId: string) =>
    signedBy(
      "bob",
      builders.htlcClaim({ ...envelope("bob", nonce, 0n), lockTransactionId, unlockSecret: SECRET }),
    );
  const refund = (nonce: number, lockTransactionId: string) =>
    signedBy("bob", builders.htlcRefund({ ...envelope("bob", nonce, 0n), lockTransactionId }));

  test("A lock must exist before it is claimed or refunded.", async () => {
    const unknown = "11".repeat(32);
    for (const input of [claim(1, unknown), refund(1, unknown)]) {
      expect(await refusalOf(openWith(), input)).toBe(
        `ERR_HTLCLOCKNOTFOUND The associated lock transaction id "${unknown}" was not found.`,
      );
    }
    // The rules of the claim come last: the secret is wrong.
    expect(await submitOne(openWith(), claim(1, open))).toBe("ERR_APPLY");
  });

  test("A lock is refunded once at a time.", async () => {
    const chain = createTestChain({ bob: RICH, alice: RICH });
    const expired = { ...lock, recipientId: addressNamed("bob"), expiration: { type: 2, value: 1 } };
    const locks = { [open]: expired, [other]: expired };
    chain.fund({ alice: { attributes: { htlc: { locks, lockedBalance: 2n } } } });
    for (const id of [open, other]) {
      chain.state.commit([{ table: "locks", key: id, before: undefined, after: addressNamed("alice") }]);
    }
    const pool = openPool(chain);
    expect(await submitOne(pool, refund(1, open))).toBe("accepted");
    expect(await refusalOf(pool, refund(2, open))).toBe(
      `ERR_PENDING HtlcLock refund for "${open}" already in the pool`,
    );
    expect(await submitOne(pool, refund(2, other))).toBe("accepted");
  });
});

describe("a business", () => {
  const business = { businessAsset: { name: "business", website: "https://example.org" } };
  const genesisHash = "aa".repeat(32);
  const bridgechainAsset = {
    name: "bridge",
    seedNodes: ["1.2.3.4"],
    genesisHash,
    bridgechainRepository: "https://example.org/bridge",
    ports: { "@arkecosystem/core-api": 1 },
  };
  const register = (nonce: number) =>
    signedBy(
      "alice",
      builders.businessRegistration({
        ...envelope("alice", nonce, 5n * 10n ** 9n),
        business: business.businessAsset,
      }),
    );
  const resignBridgechain = (nonce: number, bridgechainId: string) =>
    signedBy(
      "alice",
      builders.bridgechainResignation({ ...envelope("alice", nonce, 5n * 10n ** 9n), bridgechainId }),
    );

  test("A business is registered once at a time.", async () => {
    const pool = openWith();
    expect(await submitOne(pool, register(1))).toBe("accepted");
    expect(await refusalOf(pool, register(2))).toBe(pendingOf("alice", "2/0"));
  });

  test("A business changes each of its bridgechains once at a time.", async () => {
    const second = "bb".repeat(32);
    const pool = openWith({
      business: {
        ...business,
        bridgechains: {
          [genesisHash]: { bridgechainAsset },
          [second]: { bridgechainAsset: { ...bridgechainAsset, genesisHash: second } },
        },
      },
    });
    expect(await submitOne(pool, resignBridgechain(1, genesisHash))).toBe("accepted");
    expect(await refusalOf(pool, resignBridgechain(2, genesisHash))).toBe(pendingOf("alice", "2/4"));
    expect(await submitOne(pool, resignBridgechain(2, second))).toBe("accepted");
  });
});

const mint = (name: string, nonce: number, tokenId = TOKEN, fee = FEE) =>
  signedBy(name, builders.nftMint({ ...envelope(name, nonce, fee), tokenId, properties: { type: "1" } }));

test("Two mints of one sender are pending together.", async () => {
  const pool = openWith();
  expect(await submitOne(pool, mint("alice", 1))).toBe("accepted");
  expect(await submitOne(pool, mint("alice", 2, "ba".repeat(32)))).toBe("accepted");
  expect(pool.inForgingOrder().map(({ data }) => data.fee)).toEqual([FEE, FEE]);
});

describe("a token that a pending transaction of another sender mints", () => {
  const refused = `ERR_APPLY Failed to apply transaction, because token '${TOKEN}' is already owned`;
  const openForTwo = () => openPool(createTestChain({ alice: RICH, bob: RICH }));

  test("A token that a pending mint of another sender has is not minted by a second one, nor is that broadcast.", async () => {
    const pool = openForTwo();
    const { id } = mint("bob", 1);
    expect(await submitOne(pool, mint("alice", 1))).toBe("accepted");
    expect(await pool.submit([mint("bob", 1)])).toMatchObject({
      data: { accept: [], broadcast: [], invalid: [id] },
      errors: { [id]: [{ type: "ERR_APPLY", message: refused.slice("ERR_APPLY ".length) }] },
    });
    expect(await submitOne(pool, mint("bob", 1, "ba".repeat(32)))).toBe("accepted");
  });

  test("A token of two pending mints in one request is minted by the first.", async () => {
    const pool = openForTwo();
    const { data } = await pool.submit([mint("alice", 1), mint("bob", 1)]);
    expect(data).toMatchObject({ accept: [mint("alice", 1).id], invalid: [mint("bob", 1).id] });
  });

  test("A token that a pending mint has is available again once that transaction is evicted.", async () => {
    const chain = createTestChain({ alice: RICH, bob: RICH, carol: RICH });
    const pool = openPool(chain, { options: { poolSize: 1 } });
    expect(await submitOne(pool, mint("alice", 1))).toBe("accepted");
    expect(await submitOne(pool, transfer("carol", 1, { fee: 2n * FEE }))).toBe("accepted");
    expect(await submitOne(pool, mint("bob", 1, TOKEN, 3n * FEE))).toBe("accepted");
  });

  test("A token that a pending mint has stays its sender's when the views are rebuilt.", async () => {
    const pool = openForTwo();
    expect(await submitOne(pool, mint("alice", 1))).toBe("accepted");
    pool.blockApplied([], new Set([addressNamed("alice")]));
    expect(pool.size()).toBe(1);
    expect(await refusalOf(pool, mint("bob", 1))).toBe(refused);
  });
});
