/** Transactions that were admitted before, from their bytes on disk. */
import {
  type SealedTransaction,
  sealedFromTrustedBytes,
  type TransactionContext,
  transactionFromBytes,
  verifySignature,
} from "@uniknode/protocol";

/** As admission left it; absent if the bytes are another transaction or one that the milestone does not allow. */
export function readAdmitted(
  id: string,
  bytes: Uint8Array,
  context: TransactionContext,
): SealedTransaction | undefined {
  try {
    const transaction = transactionFromBytes(bytes, context, { checkSignature: false });
    if (transaction.data.id !== id) return undefined;
    // Without the signatures of a multi signature wallet, it came in by its own.
    const isVerified = transaction.data.signatures === undefined || verifySignature(transaction.data);
    return { ...transaction, isVerified };
  } catch {
    return undefined;
  }
}

/** Whatever the milestone says; absent if the bytes are another transaction, or none. */
export function readUnchecked(id: string, bytes: Uint8Array): SealedTransaction | undefined {
  try {
    const transaction = sealedFromTrustedBytes(bytes);
    return transaction.data.id === id ? transaction : undefined;
  } catch {
    return undefined;
  }
}
