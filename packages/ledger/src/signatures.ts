/** Verification of signatures against the wallet of the sender (transactions.md 10, blocks.md 8.2 point 3). */
import { type Network, type SealedTransaction, verifyMultiSignatures } from "@uniknode/protocol";
import type { StateReader } from "./state/tables.ts";
import { walletOf } from "./wallets.ts";

/**
 * Whether a transaction is verified in a state: by the signatures of the participants if the sender is a multisignature
 * wallet, otherwise by the sender's own signature, whose result is in `isVerified` of the transaction.
 *
 * @throws {TransactionError | RangeError} if the multisignatures cannot be checked
 */
export function isVerifiedIn(
  state: StateReader,
  { data, isVerified }: SealedTransaction,
  network: Network,
): boolean {
  const { multiSignature } = walletOf(state, data.senderPublicKey, network).attributes;
  return multiSignature ? verifyMultiSignatures(data, multiSignature) : isVerified;
}
