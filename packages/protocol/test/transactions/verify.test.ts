import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  bytesToHex,
  encodeTransaction,
  hexToBytes,
  keysFromPassphrase,
  multiSignTransaction,
  type SealedTransaction,
  sealedFromTrustedBytes,
  secondSignTransaction,
  signTransaction,
  type Transaction,
  type TransactionBody,
  type TransactionContext,
  transactionFromBytes,
  verifyMultiSignatures,
  verifySecondSignature,
  verifySignature,
} from "../../src/index.ts";
import { present } from "../../src/present.ts";
import {
  bodyOf,
  context,
  contextV1,
  coreTransaction,
  participantKeys,
  participants,
  sender,
  senderPublicKey,
  signed,
  testnet,
  transfer,
  transferV1,
} from "./fixtures.ts";

const second = keysFromPassphrase("second key");
const secondKey = bytesToHex(second.publicKey);

const flip = (text: string, digit: number) => {
  const at = digit % text.length;
  return (
    text.slice(0, at) +
    (Number.parseInt(present(text[at], "an item of text"), 16) ^ 1).toString(16) +
    text.slice(at + 1)
  );
};

describe("the sender's signature", () => {
  test.each(["schnorr", "ecdsa"] as const)(
    "Property: the sender's %s signature is valid for every core type, and for no other body.",
    (algorithm) => {
      fc.assert(
        fc.property(coreTransaction, fc.nat(), (body, digit) => {
          const { signature: _signature, ...unsigned } = { ...body, senderPublicKey };
          const transaction = signTransaction(unsigned, sender, algorithm);
          expect(verifySignature(transaction)).toBe(true);
          expect(verifySignature({ ...transaction, nonce: present(transaction.nonce, "nonce") ^ 1n })).toBe(
            false,
          );
          const altered = flip(present(transaction.signature, "signature"), digit);
          expect(verifySignature({ ...transaction, signature: altered })).toBe(false);
        }),
        { numRuns: 30 },
      );
    },
  );

  test("Property: a flipped bit makes the transaction unreadable or unverified, or does not change it.", () => {
    const bytes = encodeTransaction(signed({ vendorField: "text" }));
    fc.assert(
      fc.property(fc.nat(8 * bytes.length - 1), (bit) => {
        const altered = bytes.slice();
        altered[bit >> 3] = present(altered[bit >> 3], "an item of altered") ^ (1 << (bit & 7));
        let transaction: SealedTransaction;
        try {
          transaction = transactionFromBytes(altered, context);
        } catch {
          return;
        }
        // No signature covers the marker.
        expect(transaction.isVerified).toBe(bit < 8);
      }),
    );
  });

  test("The sender's signature must exist, and be the sender's.", () => {
    expect(verifySignature(transfer())).toBe(false);
    expect(verifySignature(signTransaction(transfer(), second))).toBe(false);
  });

  test("Version 1 hashes other bytes: expiration and network are not covered.", () => {
    const transaction = signTransaction(transferV1({ vendorField: "x".repeat(70) }), sender);
    expect(hexToBytes(present(transaction.signature, "signature"))[0]).toBe(0x30);
    expect(verifySignature({ ...transaction, expiration: 7, network: 1 })).toBe(true);
    expect(verifySignature({ ...transaction, timestamp: 7 })).toBe(false);
    expect(verifySignature({ ...transaction, vendorField: "x".repeat(69) })).toBe(false);
  });
});

describe("verified transactions (transactions.md 10)", () => {
  const isVerified = (body: TransactionBody, where: TransactionContext) =>
    transactionFromBytes(encodeTransaction(signTransaction(body, sender)), where).isVerified;
  const onTestnet = (body: TransactionBody) => ({ ...body, network: 23 });
  const { nonce: _nonce, ...resignationV1 } = bodyOf(7, { version: 1, timestamp: 5 });
  const claim = bodyOf(9, {
    fee: 0n,
    asset: { claim: { lockTransactionId: "ab".repeat(32), unlockSecret: "cd".repeat(32) } },
  });

  test("Types that were introduced with version 2 are not verified in version 1.", () => {
    expect(isVerified(transferV1(), contextV1)).toBe(true);
    expect(isVerified(resignationV1, contextV1)).toBe(false);
    expect(isVerified(bodyOf(7, {}), context)).toBe(true);
  });

  test("Hash time locks are verified if they are enabled.", () => {
    expect(isVerified(claim, context)).toBe(false);
    expect(isVerified(onTestnet(claim), { network: testnet, height: 2 })).toBe(true);
  });

  test("Second signatures and entries of multi-signature wallets do not count.", () => {
    const parsed = (transaction: Transaction) =>
      transactionFromBytes(encodeTransaction(transaction), context);
    expect(parsed({ ...signed(), secondSignature: "00".repeat(64) }).isVerified).toBe(true);
    expect(
      parsed(multiSignTransaction(transfer(), 0, present(participants[0], "an item of participants")))
        .isVerified,
    ).toBe(false);
  });
});

describe("the second signature", () => {
  const twice = secondSignTransaction(signed(), second);

  test("The second signature covers the first one.", () => {
    expect(verifySecondSignature(twice, secondKey)).toBe(true);
    expect(
      verifySecondSignature(
        { ...twice, signature: flip(present(twice.signature, "signature"), 0) },
        secondKey,
      ),
    ).toBe(false);
  });

  test("The second signature is of the second key, and required.", () => {
    expect(verifySecondSignature(twice, senderPublicKey)).toBe(false);
    expect(verifySecondSignature(signed(), secondKey)).toBe(false);
  });

  test("The second signature changes the id.", () => {
    expect(twice.id).not.toBe(signed().id);
    expect(sealedFromTrustedBytes(encodeTransaction(twice)).data).toEqual(twice);
  });

  test("The second signature can be ECDSA, as in version 1.", () => {
    const first = signTransaction(transferV1(), sender);
    expect(verifySecondSignature(secondSignTransaction(first, second), secondKey)).toBe(true);
    const der = secondSignTransaction(signTransaction(transfer(), sender, "ecdsa"), second, "ecdsa");
    expect(verifySecondSignature(der, secondKey)).toBe(true);
  });
});

describe("multi-signatures", () => {
  const wallet = { min: 2, publicKeys: participantKeys };
  const by = (...indexes: number[]) =>
    indexes.reduce<TransactionBody>(
      (body, index) =>
        multiSignTransaction(body, index, present(participants[index], "an item of participants")),
      transfer(),
    ) as Transaction;
  const wrong = (index: number) => `0${index}${"ab".repeat(64)}`;
  const withEntries = (...signatures: string[]) => ({ ...transfer(), signatures });
  const [zero, one, two] = by(0, 1, 2).signatures as [string, string, string];

  test("Property: any quorum in any order is accepted, and fewer are not.", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([0, 1, 2]), (indexes) => {
        expect(verifyMultiSignatures(by(...indexes), wallet)).toBe(indexes.length >= 2);
      }),
    );
  });

  test("Wrong entries are tolerated while the quorum is possible.", () => {
    expect(verifyMultiSignatures(withEntries(wrong(0), one, two), wallet)).toBe(true);
    expect(verifyMultiSignatures(withEntries(wrong(0), wrong(1), two), wallet)).toBe(false);
    expect(verifyMultiSignatures(withEntries(zero, wrong(1)), wallet)).toBe(false);
  });

  test("Entries after the quorum are not checked.", () => {
    expect(verifyMultiSignatures(withEntries(zero, one, wrong(9)), wallet)).toBe(true);
    expect(verifyMultiSignatures(withEntries(zero, one, zero), wallet)).toBe(true);
    expect(() => verifyMultiSignatures(withEntries(wrong(9), zero, one), wallet)).toThrow(RangeError);
  });

  test("A repeated participant is an error.", () => {
    expect(() => verifyMultiSignatures(withEntries(wrong(0), zero, one), wallet)).toThrow(
      expect.objectContaining({ code: "DuplicateParticipantInMultiSignatureError" }),
    );
  });

  test("Entries cover no signature, but the sender's signature covers them (transactions.md 16 point 5).", () => {
    const registration = bodyOf(4, { asset: { multiSignature: wallet } });
    const entries = participants.reduce<TransactionBody>(
      (body, keys, index) => multiSignTransaction(body, index, keys),
      registration,
    );
    const transaction = signTransaction(entries, sender);
    expect(verifyMultiSignatures(transaction, wallet)).toBe(true);
    expect(transactionFromBytes(encodeTransaction(transaction), context).isVerified).toBe(true);
    const swapped = {
      ...transaction,
      signatures: present(transaction.signatures, "signatures").toReversed(),
    };
    expect(verifyMultiSignatures(swapped, wallet)).toBe(true);
    expect(verifySignature(swapped)).toBe(false);
    expect(transactionFromBytes(encodeTransaction(swapped), context).isVerified).toBe(false);
  });
});
