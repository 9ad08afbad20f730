/** Runners of transactions (transactions.md). */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as protocol from "@uniknode/protocol";
import { present } from "../../packages/node/src/platform/present.ts";
import { networkNamed } from "./networks.ts";
import { eachCase, type Runner, type Runners } from "./vector.ts";

const { bytesToHex, hexToBytes, keysFromPassphrase } = protocol;

type Expected = { id: string; serialized: string; json: object; verified?: boolean };

const contextOf = ({
  network,
  height,
}: {
  network: string;
  height: number;
}): protocol.TransactionContext => ({
  network: networkNamed(network),
  height,
});

function assertTransaction(transaction: protocol.SealedTransaction, expected: Expected): void {
  assert.deepEqual(protocol.transactionToJson(transaction.data), expected.json);
  assert.equal(bytesToHex(transaction.bytes), expected.serialized);
  assert.equal(transaction.data.id, expected.id);
  if (expected.verified !== undefined) assert.equal(transaction.isVerified, expected.verified, "verified");
}

/** Error classes of the vectors that are normative; for the others only the refusal counts. */
const NAMED = [
  "TransactionSchemaError",
  "TransactionVersionError",
  "UnkownTransactionError",
  "DuplicateParticipantInMultiSignatureError",
  "InvalidTransactionBytesError",
];

function assertRefused(parse: () => protocol.SealedTransaction, expectedError: string): void {
  assert.throws(parse, (error) => {
    assert.ok(error instanceof protocol.TransactionError, `${error}`);
    if (NAMED.includes(expectedError)) assert.equal(error.code, expectedError, error.message);
    return true;
  });
}

const valid: Runner = eachCase(({ input, expect, ...members }) => {
  const context = contextOf(members);
  assert.equal(protocol.matchesBatchSchema([input], context), undefined);
  const transaction = protocol.transactionFromJson(input, context);
  assertTransaction(transaction, expect);
  const bytes = hexToBytes(expect.serialized);
  assertTransaction(protocol.transactionFromBytes(bytes, context), expect);
  assertTransaction(protocol.sealedFromTrustedBytes(bytes), { ...expect, verified: true });
  assert.deepEqual(protocol.transactionFromJson(expect.json, context), transaction);

  const { data } = transaction;
  assertHashes(data, expect);
  if (expect.staticFee) {
    const milestone = context.network.milestoneAt(context.height);
    assert.equal(`${protocol.staticFee(data, milestone)}`, expect.staticFee);
  }
  if (expect.secondPublicKey) {
    assert.equal(protocol.verifySecondSignature(data, expect.secondPublicKey), expect.secondVerified);
  }
  if (expect.multiVerified !== undefined) {
    assert.equal(protocol.verifyMultiSignatures(data, members.multiSignature), expect.multiVerified);
  }
  assertRebuilt(data, members);
});

/** The bytes that are signed, and their digests. */
function assertHashes(data: protocol.Transaction, expect: Record<string, string | undefined>): void {
  const digest = (bytes: Uint8Array) => bytesToHex(protocol.sha256(bytes));
  if (expect.signingBytes) {
    assert.equal(bytesToHex(protocol.signingBytes(data)), expect.signingBytes);
    assert.equal(digest(protocol.signingBytes(data)), expect.signingHash);
  }
  if (expect.idBytes) assert.equal(bytesToHex(protocol.hashedBytes(data)), expect.idBytes);
  if (expect.secondSigningHash) {
    assert.equal(digest(protocol.secondSigningBytes(data)), expect.secondSigningHash);
  }
  if (expect.multiSigningHash) {
    assert.equal(digest(protocol.multiSigningBytes(data)), expect.multiSigningHash);
  }
}

type Secrets = {
  passphrase?: string;
  secondPassphrase?: string;
  multiSignature?: { signers: { index: number; passphrase: string }[] };
};

/** Signs the bare transaction again with the passphrases of the vector. */
function assertRebuilt(data: protocol.Transaction, secrets: Secrets): void {
  const { signature, secondSignature, signatures: _signatures, ...bare } = data;
  const algorithm = signature?.length === 128 ? "schnorr" : "ecdsa";
  let rebuilt: protocol.Transaction = bare;
  for (const { index, passphrase } of secrets.multiSignature?.signers ?? []) {
    rebuilt = protocol.multiSignTransaction(rebuilt, index, keysFromPassphrase(passphrase));
  }
  if (signature) {
    rebuilt = protocol.signTransaction(rebuilt, keysFromPassphrase(present(secrets.passphrase)), algorithm);
  }
  if (secondSignature) {
    rebuilt = protocol.secondSignTransaction(
      rebuilt,
      keysFromPassphrase(present(secrets.secondPassphrase)),
      algorithm,
    );
  }
  assert.deepEqual(rebuilt, data);
}

const basesFile = new URL("../../test/vectors/crypto/transaction-bases.json", import.meta.url);
let bases: Map<string, Expected> | undefined;

function baseNamed(name: string): Expected {
  bases ??= new Map(
    JSON.parse(readFileSync(basesFile, "utf8")).cases.map((base: { name: string }) => [base.name, base]),
  );
  return present(bases.get(name));
}

const mutations: Runner = eachCase(({ input, inputText, expect, base, optional, ...members }) => {
  const context = contextOf(members);
  const altered = inputText === undefined ? input : JSON.parse(inputText);
  const isBatch = protocol.matchesBatchSchema([altered], context) === undefined;
  const parse = () => protocol.transactionFromJson(altered, context);
  const expected = expect.sameAs ? { ...baseNamed(base), ...expect } : expect;
  if (!expect.accepted) assertRefused(parse, expect.error);
  else if (!optional || isAccepted(parse)) assertTransaction(parse(), expected);
  if (!optional) assert.equal(isBatch, expect.batchSchema, "batch schema");
});

function isAccepted(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}

export const transactionRunners: Runners = {
  "transactions-core": valid,
  "transactions-nft": valid,
  "transactions-uns": valid,
  "transactions-magistrate": valid,
  "transactions-v1": valid,
  "transactions-multisignature": valid,

  "transaction-bases": eachCase(({ input, ...members }) => {
    assertTransaction(protocol.transactionFromJson(input, contextOf(members)), members);
  }),

  "transaction-mutations-core": mutations,
  "transaction-mutations-nft": mutations,
  "transaction-mutations-uns": mutations,
  "transaction-mutations-magistrate": mutations,

  "transaction-bytes": eachCase(({ bytes, expect, ...members }) => {
    const context = contextOf(members);
    if (!/^([0-9a-f]{2})*$/i.test(bytes)) {
      assert.equal(expect.accepted, false);
      assert.throws(() => hexToBytes(bytes));
      return;
    }
    const parse = () => protocol.transactionFromBytes(hexToBytes(bytes), context);
    if (!expect.accepted) assertRefused(parse, expect.error);
    else {
      const serialized = expect.canonical === "same" ? bytes.toLowerCase() : expect.canonical;
      assertTransaction(parse(), { ...expect, serialized });
    }
  }),

  bignumbers: eachCase(({ value, expect }) => {
    if (expect.accepted) assert.equal(`${protocol.bigintFromJson(value)}`, expect.text);
    else assert.throws(() => protocol.bigintFromJson(value));
  }),

  "static-fees": eachCase(({ expect, ...members }) => {
    const { network, height } = contextOf(members);
    const fees = protocol.transactionTypes.map((type) => [
      nameOf(type),
      `${protocol.typeStaticFee(type, network.milestoneAt(height))}`,
    ]);
    assert.deepEqual(Object.fromEntries(fees), expect.fees);
  }),

  "transaction-activation": eachCase(({ expect, ...members }) => {
    const context = contextOf(members);
    const namesWhere = (isActive: boolean) =>
      protocol.transactionTypes
        .filter(({ typeGroup, type }) => protocol.isTypeActive(typeGroup, type, context) === isActive)
        .map(nameOf)
        .sort();
    assert.deepEqual({ activated: namesWhere(true), deactivated: namesWhere(false) }, expect);
  }),
};

const nameOf = ({ typeGroup, type, key }: protocol.TransactionType) => `${typeGroup}/${type} ${key}`;
