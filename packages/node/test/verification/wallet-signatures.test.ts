/**
 * Verdicts about second signatures and multisignatures: recorded before the rules need them, and equal to
 * computed ones.
 */

import { createDraft, createMemoryState, payloadJobs, type Wallet, walletOf } from "@uniknode/ledger";
import {
  builders,
  encodeTransaction,
  multiSignTransaction,
  type SealedTransaction,
  sealedFromTrustedBytes,
  secondSignTransaction,
  signSchnorr,
  signTransaction,
  type TransactionBody,
  verifyJob,
  verifyMultiSignatures,
  verifyPayloadJob,
  verifySecondSignature,
} from "@uniknode/protocol";
import { describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { createVerifyNow } from "../../src/verification/caching-verifier.ts";
import type { SignatureCheck } from "../../src/verification/packed-checks.ts";
import { RecordedSignatures } from "../../src/verification/wallet-signatures.ts";
import { addressNamed, envelope, keysOf, NETWORK, publicKeyOf } from "../../test-support/pool/chain.ts";

const NAMES = Array.from({ length: 16 }, (_, index) => `participant ${index}`);
const PUBLIC_KEYS = NAMES.map(publicKeyOf);

function stateWith(attributes: Wallet["attributes"]) {
  const state = createMemoryState();
  const draft = createDraft(state);
  const wallet = { ...walletOf(draft, publicKeyOf("shared"), NETWORK), attributes };
  draft.set("wallets", wallet.address, wallet);
  state.commit(draft.changes());
  return state;
}

const sealed = (body: TransactionBody): SealedTransaction => sealedFromTrustedBytes(encodeTransaction(body));

function transferSignedBy(
  indexes: readonly number[],
  wrong: readonly number[] = [],
  nonce = 1,
): SealedTransaction {
  const body = builders.transfer({
    ...envelope("shared", nonce),
    recipientId: addressNamed("x"),
    amount: 1n,
  });
  return sealed(
    indexes.reduce(
      (signed, index) =>
        multiSignTransaction(
          signed,
          index,
          keysOf(wrong.includes(index) ? "someone else" : present(NAMES[index], "an item of NAMES")),
        ),
      body,
    ),
  );
}

const verifyCheck = createVerifyNow();

/** Records prefetched verifications, and how often the calling thread has to verify. */
function recorder() {
  const ahead: number[] = [];
  let now = 0;
  const signatures = new RecordedSignatures(100, {
    network: NETWORK,
    verify: async (checks: readonly SignatureCheck[]) => {
      ahead.push(checks.length);
      return checks.map(verifyCheck);
    },
    verifyNow: (check) => {
      now++;
      return verifyCheck(check);
    },
  });
  return { signatures, ahead, verifiedNow: () => now };
}

describe("multisignatures", () => {
  const all = NAMES.map((_, index) => index);

  test.each([
    ["a quorum of valid ones", 3, all, [], [3]],
    ["exactly the quorum", 3, [4, 1, 7], [], [3]],
    ["a wrong one that is tolerated", 3, [0, 1, 2, 3], [1], [3, 1]],
    ["too many wrong ones", 3, [0, 1, 2, 3], [1, 2], [3, 1]],
    ["too few", 3, [0, 1], [], [2]],
    ["sixteen wrong ones", 1, all, all, [1, 15]],
  ])("%s: the recorded verdict is the computed one", async (_, min, indexes, wrong, calls) => {
    const participants = { min, publicKeys: PUBLIC_KEYS };
    const { signatures, ahead, verifiedNow } = recorder();
    const transaction = transferSignedBy(indexes, wrong);
    await signatures.verifyAhead([transaction], stateWith({ multiSignature: participants }));
    expect(ahead).toEqual(calls);
    const expected = verifyMultiSignatures(transaction.data, participants);
    for (let count = 0; count < 3; count++) {
      expect(signatures.isMultiSigned(transaction.data, participants)).toBe(expected);
    }
    expect(verifiedNow()).toBe(0);
  });

  test.each([
    ["a participant that has signed twice", { ...transferSignedBy([0, 1]) }, [0, 0]],
    ["a participant that the wallet does not have", transferSignedBy([0, 1]), [0, 40]],
  ])("%s is the same error, unless the quorum is reached before", async (_, { data }, indexes) => {
    const signatures = present(data.signatures, "signatures").map(
      (entry, at) =>
        present(indexes[at], "an item of indexes").toString(16).padStart(2, "0") + entry.slice(2),
    );
    // A block cannot contain the first one: the decoder refuses it.
    const transaction = { ...transferSignedBy([0]), data: { ...data, signatures } };
    for (const min of [1, 2]) {
      const participants = { min, publicKeys: PUBLIC_KEYS };
      const { signatures: recorded, verifiedNow } = recorder();
      await recorded.verifyAhead([transaction], stateWith({ multiSignature: participants }));
      const outcome = (verify: () => boolean) => {
        try {
          return verify();
        } catch (error) {
          return (error as Error).message;
        }
      };
      expect(outcome(() => recorded.isMultiSigned(transaction.data, participants))).toBe(
        outcome(() => verifyMultiSignatures(transaction.data, participants)),
      );
      expect(verifiedNow()).toBe(0);
    }
  });

  test("Multisignatures are verified again for other participants of the same wallet.", async () => {
    const { signatures, verifiedNow } = recorder();
    const transaction = transferSignedBy([0, 1]);
    const participants = { min: 2, publicKeys: PUBLIC_KEYS };
    await signatures.verifyAhead([transaction], stateWith({ multiSignature: participants }));
    const turned = { min: 2, publicKeys: PUBLIC_KEYS.toReversed() };
    expect(signatures.isMultiSigned(transaction.data, turned)).toBe(false);
    expect(verifiedNow()).toBeGreaterThan(0);
    expect(signatures.isMultiSigned(transaction.data, participants)).toBe(true);
  });

  test("Multisignatures of many transactions cost two calls of the verifier.", async () => {
    const { signatures, ahead } = recorder();
    const participants = { min: 2, publicKeys: PUBLIC_KEYS };
    const transactions = [1, 2, 3].map((nonce) => transferSignedBy([0, 1, 2], nonce === 2 ? [0] : [], nonce));
    await signatures.verifyAhead(transactions, stateWith({ multiSignature: participants }));
    expect(ahead).toEqual([6, 1]);
    // Nothing is verified twice.
    await signatures.verifyAhead(transactions, stateWith({ multiSignature: participants }));
    expect(ahead).toEqual([6, 1]);
  });

  test("Multisignatures of a registration are verified for the participants that it names.", async () => {
    const { signatures, ahead, verifiedNow } = recorder();
    const participants = { min: 2, publicKeys: PUBLIC_KEYS.slice(0, 3) };
    const body = builders.multiSignature({ ...envelope("shared", 1), ...participants });
    const signed = [0, 1, 2].reduce<TransactionBody>(
      (transaction, index) =>
        multiSignTransaction(transaction, index, keysOf(present(NAMES[index], "an item of NAMES"))),
      body,
    );
    const transaction = sealed(signTransaction(signed, keysOf("shared")));
    await signatures.verifyAhead([transaction], stateWith({}));
    expect(ahead).toEqual([2]);
    expect(signatures.isMultiSigned(transaction.data, participants)).toBe(true);
    expect(verifiedNow()).toBe(0);
  });
});

/** Owners of the uniks that issue certifications and demands. */
const ISSUERS = { factory: "f".repeat(64), demander: "d".repeat(64) };

function stateWithIssuers() {
  const state = createMemoryState();
  const draft = createDraft(state);
  for (const [name, id] of Object.entries(ISSUERS)) {
    const wallet = walletOf(draft, publicKeyOf(name), NETWORK);
    draft.set("wallets", wallet.address, wallet);
    draft.set("tokens", id, {
      id,
      ownerId: wallet.address,
      firstTransaction: "mint",
      lastTransaction: "mint",
    });
  }
  state.commit(draft.changes());
  return state;
}

/** An update with a certification, and a disclosure with a certification and a demand. */
function certifiedBy(name: string): SealedTransaction[] {
  const common = {
    ...{ network: NETWORK, fee: 1n, issuedAt: 1_700_000_000, tokenId: ISSUERS.demander },
    ...{ keys: keysOf("demander"), factory: { tokenId: ISSUERS.factory, keys: keysOf(name) } },
  };
  return [
    builders.certifiedUpdate({ ...common, nonce: 1n, properties: { "usr/a": "1" }, cost: 1n }),
    builders.certifiedDisclosure({ ...common, nonce: 2n, explicitValues: ["name"], kind: 1 }),
  ].map((body) => sealed(signTransaction(body, keysOf("demander"))));
}

describe("signatures of certifications and demands", () => {
  test.each([
    ["factory", [true, true, true]],
    ["someone else", [false, false, true]],
  ])(
    "Signatures of certifications and demands are verified ahead when %s has certified.",
    async (name, expected) => {
      const { signatures, ahead, verifiedNow } = recorder();
      const transactions = certifiedBy(name);
      const state = stateWithIssuers();
      await signatures.verifyAhead(transactions, state);
      await signatures.verifyAhead(transactions, state);
      expect(ahead).toEqual([3]);
      const jobs = transactions.flatMap(({ data }) => payloadJobs(data, state));
      expect(jobs.map((job) => signatures.isPayloadSigned(job))).toEqual(expected);
      expect(jobs.map(verifyPayloadJob)).toEqual(expected);
      expect(verifiedNow()).toBe(0);
    },
  );

  test("Signatures of certifications and demands are verified once if they were not verified ahead.", () => {
    const { signatures, verifiedNow } = recorder();
    const [job] = certifiedBy("factory").flatMap(({ data }) => payloadJobs(data, stateWithIssuers()));
    expect([1, 2].map(() => signatures.isPayloadSigned(present(job)))).toEqual([true, true]);
    expect(verifiedNow()).toBe(1);
  });

  test("Signatures of certifications and demands of 64 bytes are never valid Schnorr signatures.", async () => {
    const { hash, publicKey } = present(
      certifiedBy("factory").flatMap(({ data }) => payloadJobs(data, stateWithIssuers()))[0],
    );
    const job = { hash, publicKey, signature: signSchnorr(hash, keysOf("factory").privateKey) };
    expect(verifyJob(job)).toBe(true);
    expect(verifyPayloadJob(job)).toBe(false);
    const verify = createVerifyNow();
    const signatures = new RecordedSignatures(100, {
      network: NETWORK,
      verify: async (checks) => checks.map(verify),
      verifyNow: verify,
    });
    expect(signatures.isPayloadSigned(job)).toBe(false);
  });

  test("Signatures of certifications and demands of an owner whose key is unknown are not verified.", async () => {
    const { signatures, ahead } = recorder();
    await signatures.verifyAhead(certifiedBy("factory"), createMemoryState());
    expect(ahead).toEqual([]);
  });
});

test.each([
  ["second", true],
  ["someone else", false],
])("A second signature by the key of %s is prefetched.", async (name, isValid) => {
  const { signatures, ahead, verifiedNow } = recorder();
  const secondPublicKey = publicKeyOf("second");
  const body = builders.transfer({ ...envelope("shared", 1), recipientId: addressNamed("x"), amount: 1n });
  const transaction = sealed(secondSignTransaction(signTransaction(body, keysOf("shared")), keysOf(name)));
  await signatures.verifyAhead([transaction], stateWith({ secondPublicKey }));
  expect(ahead).toEqual([1]);
  expect(signatures.isSecondSigned(transaction.data, secondPublicKey)).toBe(isValid);
  expect(verifySecondSignature(transaction.data, secondPublicKey)).toBe(isValid);
  expect(verifiedNow()).toBe(0);
});
