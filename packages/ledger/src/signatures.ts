/** Verification of signatures against the wallet of the sender (transactions.md 10, blocks.md 8.2 point 3). */
import {
  type Network,
  type Participants,
  type SealedTransaction,
  type SignatureJob,
  type Transaction,
  verifyMultiSignatures,
  verifyPayloadJob,
  verifySecondSignature,
} from "@uniknode/protocol";
import type { StateReader } from "./state/tables.ts";
import { walletOf } from "./wallets.ts";

/** Verdicts about signatures that depend on wallets: computed on demand, or recorded before. */
export type WalletSignatures = {
  /** @param publicKey second key of the sender's wallet, 66 digits */
  isSecondSigned(transaction: Transaction, publicKey: string): boolean;
  /** @throws {TransactionError | RangeError} if an entry of `signatures` cannot be checked */
  isMultiSigned(transaction: Transaction, participants: Participants): boolean;
  /** Verdict about the signature of a certification or of a demand. */
  isPayloadSigned(job: SignatureJob): boolean;
};

/** Computes each verdict in the calling thread. */
export const COMPUTED_SIGNATURES: WalletSignatures = {
  isSecondSigned: (transaction, publicKey) => verifySecondSignature(transaction, publicKey),
  isMultiSigned: (transaction, participants) => verifyMultiSignatures(transaction, participants),
  isPayloadSigned: verifyPayloadJob,
};

/**
 * Returns true if a transaction is verified in a state: by the signatures of the participants if the sender
 * is a multisignature wallet, otherwise by the sender's own signature, whose result is in `isVerified` of the
 * transaction.
 *
 * @param options.assumesSignatures multisignatures count as valid; the rules of the type compare their number
 * @throws {TransactionError | RangeError} if the multisignatures cannot be checked
 */
export function isVerifiedIn(
  state: StateReader,
  { data, isVerified }: SealedTransaction,
  network: Network,
  {
    assumesSignatures = false,
    signatures = COMPUTED_SIGNATURES,
  }: { readonly assumesSignatures?: boolean; readonly signatures?: WalletSignatures | undefined } = {},
): boolean {
  const { multiSignature } = walletOf(state, data.senderPublicKey, network).attributes;
  if (!multiSignature) return isVerified;
  return assumesSignatures || signatures.isMultiSigned(data, multiSignature);
}
