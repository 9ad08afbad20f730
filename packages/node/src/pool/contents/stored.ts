/** Reads transactions that were admitted before from their bytes on disk. */
import {
  type SealedTransaction,
  sealedFromTrustedBytes,
  type TransactionContext,
  transactionFromBytes,
  verifySignature,
} from "@uniknode/protocol";

/** The transaction as admitted; undefined if the bytes are another one, or one that the milestone does not allow. */
export function readAdmitted(
  id: string,
  bytes: Uint8Array,
  context: TransactionContext,
): SealedTransaction | undefined {
  try {
    const transaction = transactionFromBytes(bytes, context, { checkSignature: false });
    if (transaction.data.id !== id) return undefined;
    // Without the signatures of a multisignature wallet, it was admitted by its own signature.
    const isVerified = transaction.data.signatures === undefined || verifySignature(transaction.data);
    return { ...transaction, isVerified };
  } catch {
    return undefined;
  }
}

/** The transaction without a check of the milestone; undefined if the bytes are another one, or none. */
export function readUnchecked(id: string, bytes: Uint8Array): SealedTransaction | undefined {
  try {
    const transaction = sealedFromTrustedBytes(bytes);
    return transaction.data.id === id ? transaction : undefined;
  } catch {
    return undefined;
  }
}
