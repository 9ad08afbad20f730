/** Verification of signatures against the wallet of the sender (transactions.md 10, blocks.md 8.2 point 3). */
import { type Network, type SealedTransaction, verifyMultiSignatures } from "@uniknode/protocol";
import type { StateReader } from "./state/tables.ts";
import { walletOf } from "./wallets.ts";

/**
 * Whether a transaction is verified in a state: by the signatures of the participants if the sender is a multisignature
 * wallet, otherwise by the sender's own signature, whose result is in `isVerified` of the transaction.
 *
 * @param assumesSignatures multisignatures count as valid; the rules of the type compare their number
 * @throws {TransactionError | RangeError} if the multisignatures cannot be checked
 */
export function isVerifiedIn(
  state: StateReader,
  { data, isVerified }: SealedTransaction,
  network: Network,
  assumesSignatures = false,
): boolean {
  const { multiSignature } = walletOf(state, data.senderPublicKey, network).attributes;
  if (!multiSignature) return isVerified;
  return assumesSignatures || verifyMultiSignatures(data, multiSignature);
}
