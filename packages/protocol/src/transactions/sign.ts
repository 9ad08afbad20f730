/** Signing (transactions.md 7). Each function returns a new transaction with the signature and its id. */
import { bytesToHex } from "../crypto/bytes.ts";
import { sha256 } from "../crypto/hashes.ts";
import { signEcdsa, signSchnorr } from "../crypto/signatures.ts";
import type { KeyPair } from "../identities/keys.ts";
import { multiSigningBytes, secondSigningBytes, signingBytes, transactionId } from "./id.ts";
import type { Transaction, TransactionBody } from "./transaction.ts";

export type SignatureAlgorithm = "schnorr" | "ecdsa";

/** Schnorr, except in version 1. Both are valid in version 2, as long as all signatures are of one kind. */
const usualAlgorithm = ({ version }: TransactionBody): SignatureAlgorithm =>
  version === 1 ? "ecdsa" : "schnorr";

/** Signs as the sender, after the participants of a multi-signature registration. */
export const signTransaction = (
  transaction: TransactionBody,
  keys: KeyPair,
  algorithm = usualAlgorithm(transaction),
): Transaction =>
  withId({ ...transaction, signature: signatureOf(signingBytes(transaction), keys, algorithm) });

/** Signs with the second key of the sender's wallet, last of all. */
export const secondSignTransaction = (
  transaction: TransactionBody,
  keys: KeyPair,
  algorithm = usualAlgorithm(transaction),
): Transaction =>
  withId({ ...transaction, secondSignature: signatureOf(secondSigningBytes(transaction), keys, algorithm) });

/**
 * Adds the entry of a participant. Entries do not cover other signatures, so their order is free.
 *
 * @param index position of the participant's key in the wallet, 0 to 255
 */
export function multiSignTransaction(
  transaction: TransactionBody,
  index: number,
  keys: KeyPair,
): Transaction {
  const signature = signatureOf(multiSigningBytes(transaction), keys, "schnorr");
  const entry = bytesToHex(Uint8Array.of(index)) + signature;
  return withId({ ...transaction, signatures: [...(transaction.signatures ?? []), entry] });
}

function signatureOf(bytes: Uint8Array, { privateKey }: KeyPair, algorithm: SignatureAlgorithm): string {
  const sign = algorithm === "schnorr" ? signSchnorr : signEcdsa;
  return bytesToHex(sign(sha256(bytes), privateKey));
}

const withId = (transaction: TransactionBody): Transaction => ({
  ...transaction,
  id: transactionId(transaction),
});
