/** Whose signatures make a transaction verified (transactions.md 10, blocks.md 8.2 point 3). */
import { type Network, type SealedTransaction, verifyMultiSignatures } from "@uniknode/protocol";
import type { StateReader } from "./state/tables.ts";
import { walletOf } from "./wallets.ts";

/**
 * Whether a transaction is verified in a state: by the signatures of all who share the wallet if it is a multi
 * signature wallet, otherwise by the sender's own signature, whose verdict the transaction brings along.
 *
 * @throws {TransactionError | RangeError} if the multi signatures cannot be examined
 */
export function isVerifiedIn(
  state: StateReader,
  { data, isVerified }: SealedTransaction,
  network: Network,
): boolean {
  const { multiSignature } = walletOf(state, data.senderPublicKey, network).attributes;
  return multiSignature ? verifyMultiSignatures(data, multiSignature) : isVerified;
}
