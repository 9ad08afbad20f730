/** Transactions of wallets with several keys (transactions.md 10). */
import {
  builders,
  bytesToHex,
  multiSignTransaction,
  signTransaction,
  transactionId,
} from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import {
  addressNamed,
  createTestChain,
  envelope,
  type Json,
  jsonOf,
  keysOf,
  openPool,
  publicKeyOf,
  RICH,
  refusalOf,
  signedBy,
  submitOne,
  transfer,
} from "../../../test-support/pool/chain.ts";

describe("wallets with more than one key", () => {
  const participants = ["p0", "p1", "p2"];
  const multiSignature = { min: 2, publicKeys: participants.map(publicKeyOf) };
  const shared = () => createTestChain({ shared: { ...RICH, attributes: { multiSignature } } });

  function signedByParticipants(...indexes: number[]): Json {
    const body = builders.transfer({ ...envelope("shared", 1), recipientId: addressNamed("x"), amount: 1n });
    const signed = indexes.reduce(
      (transaction, index) => multiSignTransaction(transaction, index, keysOf(present(participants[index]))),
      body,
    );
    return jsonOf({ ...signed, id: transactionId(signed) });
  }

  test("Wallets with more than one key spend with enough of their participants' signatures.", async () => {
    const pool = openPool(shared());
    expect(await submitOne(pool, signedByParticipants(0))).toBe("ERR_BAD_DATA");
    expect(await submitOne(pool, signedByParticipants(2, 0))).toBe("accepted");
    expect(pool.forge().length).toBe(1);
  });

  test.each([
    ["a used nonce", { nonce: 1n }, /has nonce 1/],
    ["too small a balance", { balance: 100n }, /^ERR_APPLY Insufficient balance/],
  ])(
    "Multisignatures are not verified if the chain shows that they cannot spend: %s.",
    async (_, members, refusal) => {
      const verified: unknown[] = [];
      const chain = createTestChain({ shared: { ...RICH, attributes: { multiSignature }, ...members } });
      const verify = async (checks: readonly unknown[]) => {
        verified.push(...checks);
        return checks.map(() => true);
      };
      const pool = openPool(chain, { deps: { verify } });
      expect(await refusalOf(pool, signedByParticipants(0, 1))).toMatch(refusal);
      expect(verified).toEqual([]);
      expect(pool.events).toEqual([]);
    },
  );

  test("Multisignatures are not verified beside a pending transaction that used the nonce or the balance.", async () => {
    const verified: unknown[] = [];
    const chain = createTestChain({ shared: { balance: 2_500_000n, attributes: { multiSignature } } });
    const verify = async (checks: readonly unknown[]) => {
      verified.push(...checks);
      return checks.map(() => true);
    };
    const pool = openPool(chain, { deps: { verify } });
    expect(await submitOne(pool, signedByParticipants(0, 1))).toBe("accepted");
    const { length } = verified;
    expect(await refusalOf(pool, signedByParticipants(1, 2))).toMatch(/^ERR_APPLY .*has nonce 1/);
    expect(verified.length).toBe(length);
  });

  test.each([
    ["a used nonce", { alice: { ...RICH, nonce: 1n } }, /has nonce 1/],
    ["too small a balance", { alice: { balance: 100n } }, /^ERR_APPLY Insufficient balance in the wallet/],
    ["an unknown wallet", {}, /^ERR_APPLY Insufficient balance in database wallet/],
  ])(
    "A multisignature registration that its sender cannot pay is not verified: %s.",
    async (_, wallets, refusal) => {
      const verified: unknown[] = [];
      const verify = async (checks: readonly unknown[]) => {
        verified.push(...checks);
        return checks.map(() => true);
      };
      const pool = openPool(createTestChain(wallets), { deps: { verify } });
      const body = builders.multiSignature({ ...envelope("alice", 1, 2_000_000_000n), ...multiSignature });
      const signed = participants.reduce(
        (transaction, name, index) => multiSignTransaction(transaction, index, keysOf(name)),
        body,
      );
      expect(await refusalOf(pool, jsonOf(signTransaction(signed, keysOf("alice"))))).toMatch(refusal);
      expect(verified).toEqual([]);
      expect(pool.events).toEqual([]);
    },
  );

  test("Multisignatures of an ordinary wallet are refused unread beside its own signature.", async () => {
    const chain = createTestChain({ alice: RICH });
    const pool = openPool(chain);
    const unreadable = { ...transfer("alice", 1), signatures: Array(20).fill("no signature") };
    expect(await refusalOf(pool, unreadable)).toMatch(/^ERR_APPLY .*does not support multi signatures/);
    expect(pool.events).toEqual([]);
  });

  test("Multisignature transactions that are on the chain already are refused as such.", async () => {
    const chain = shared();
    const pool = openPool(chain);
    const transaction = signedByParticipants(0, 1);
    expect(await submitOne(pool, transaction)).toBe("accepted");
    expect(pool.forge().length).toBe(1);
    chain.fund({ shared: { nonce: 1n } });
    expect(await submitOne(pool, transaction)).toBe("ERR_FORGED");
  });

  test("Wallets with more than one key do not spend with a signature of their own key.", async () => {
    const body = builders.transfer({ ...envelope("shared", 1), recipientId: addressNamed("x"), amount: 1n });
    expect(await submitOne(openPool(shared()), signedBy("shared", body))).toBe("ERR_BAD_DATA");
  });

  test("Multisignatures are refused for a wallet that has only one key.", async () => {
    const chain = createTestChain({ shared: RICH });
    expect(await submitOne(openPool(chain), signedByParticipants(0, 1))).toBe("ERR_BAD_DATA");
    const signed = signTransaction(
      multiSignTransaction(
        builders.transfer({ ...envelope("shared", 1), recipientId: addressNamed("x"), amount: 1n }),
        0,
        keysOf("p0"),
      ),
      keysOf("shared"),
    );
    expect(await refusalOf(openPool(chain), jsonOf(signed))).toMatch(/^ERR_APPLY .*multi signatures/);
  });

  test("Wallets with more than one key are refused with signatures that name no participant.", async () => {
    const body = builders.transfer({ ...envelope("shared", 1), recipientId: addressNamed("x"), amount: 1n });
    const stranger = multiSignTransaction(multiSignTransaction(body, 7, keysOf("p0")), 1, keysOf("p1"));
    const json = jsonOf({ ...stranger, id: transactionId(stranger) });
    expect(await submitOne(openPool(shared()), json)).toBe("ERR_UNKNOWN");
  });

  test("Wallets with more than one key need the second signature that the chain has.", async () => {
    const second = { secondPublicKey: bytesToHex(keysOf("second").publicKey) };
    const pool = openPool(createTestChain({ alice: { ...RICH, attributes: second } }));
    expect(await refusalOf(pool, transfer("alice", 1))).toMatch(/^ERR_APPLY .*second signature/);
  });
});
