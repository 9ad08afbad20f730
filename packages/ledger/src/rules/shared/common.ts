/** Checks and effects of all transaction types (transactions-rules.md 2). */
import {
  type Network,
  type Participants,
  present,
  type Transaction,
  TransactionError,
  TYPE_GROUPS,
} from "@uniknode/protocol";
import { COMPUTED_SIGNATURES } from "../../signatures.ts";
import type { StateReader, Wallet } from "../../state/tables.ts";
import { saveWallet, walletAt } from "../../wallets.ts";
import { RuleError } from "./error.ts";
import type { RuleContext } from "./rule.ts";

/** A refusal with the common prefix of its message. */
export const refusal = (code: string, reason: string): RuleError =>
  new RuleError(code, `Failed to apply transaction, because ${reason}`);

export const insufficientBalance = (): RuleError =>
  new RuleError("InsufficientBalanceError", "Insufficient balance in the wallet.");

export const multiSignatureNotSupported = (): RuleError =>
  refusal("NotSupportedForMultiSignatureWalletError", "multi signature is enabled.");

/** Returns true if the sender is a multisignature wallet, on the chain or in the given wallet. */
export const isMultiSignatureWallet = ({ state }: RuleContext, sender: Wallet): boolean =>
  (sender.attributes.multiSignature ?? chainWallet(state, sender).attributes.multiSignature) !== undefined;

/** `skipsBalance`: skips the cold wallet check and G2 (transactions-rules.md 2.4). */
export type CommonChecks = { readonly skipsBalance?: boolean };

/**
 * Cold wallet check and generic checks G1 to G11 (transactions-rules.md 2.2), called at the step that the section of
 * the type names.
 *
 * @throws {RuleError} the first refusal
 */
export function checkCommon(
  transaction: Transaction,
  context: RuleContext,
  sender: Wallet,
  options: CommonChecks = {},
): void {
  if (!options.skipsBalance) checkCold(context.state, sender);
  checkGeneric(transaction, context, sender, options);
}

/** In a block, the sender was looked up by its key before, so this check refuses only in the pool. */
function checkCold(state: StateReader, sender: Wallet): void {
  if (isCold(state, sender)) throw coldWallet();
}

function isCold(state: StateReader, sender: Wallet): boolean {
  const { publicKey, balance } = chainWallet(state, sender);
  return publicKey === undefined && balance === 0n;
}

const coldWallet = (): RuleError =>
  new RuleError(
    "ColdWalletError",
    "Insufficient balance in database wallet. Wallet is not allowed to spend before funding is confirmed.",
  );

/**
 * Generic checks G1 to G11 without the cold wallet check.
 *
 * @throws {RuleError} the first refusal
 */
export function checkGeneric(
  transaction: Transaction,
  context: RuleContext,
  sender: Wallet,
  { skipsBalance = false }: CommonChecks = {},
): void {
  if (isException(transaction, context.network)) return;
  checkNonce(transaction, sender); // G1
  // G2
  if (!skipsBalance && sender.balance < transaction.amount + transaction.fee) throw insufficientBalance();
  // G3
  if (sender.publicKey !== transaction.senderPublicKey) {
    throw refusal("SenderWalletMismatchError", "the public key does not match the wallet.");
  }
  checkSecondSignature(transaction, context, sender); // G4 to G6
  checkMultiSignatures(transaction, context, sender); // G7 to G11
}

const isException = ({ id }: Transaction, { exceptions }: Network): boolean =>
  exceptions.transactions?.includes(id) ?? false;

/**
 * Returns the reason why a transaction cannot be applied, judged only by the nonce and the balance of its
 * sender: the nonce is used, or an ordinary transaction costs more than the balance. Undefined
 * if there is no such reason.
 *
 * @param state that of the chain
 * @param sender the wallet on the chain, or after its pending transactions
 */
export function hopelessReason(
  transaction: Transaction,
  state: StateReader,
  sender: Wallet,
): RuleError | undefined {
  const { version, nonce = 0n, typeGroup, amount, fee } = transaction;
  // Types of other groups may be credited before they pay.
  const isCore = typeGroup === TYPE_GROUPS.core;
  if (isCore && isCold(state, sender)) return coldWallet();
  if (version > 1 && nonce <= sender.nonce) return unexpectedNonce(transaction, sender);
  return isCore && sender.balance < amount + fee ? insufficientBalance() : undefined;
}

const unexpectedNonce = ({ nonce, senderPublicKey }: Transaction, sender: Wallet): RuleError =>
  new RuleError(
    "UnexpectedNonceError",
    `Cannot apply a transaction with nonce ${nonce}: the sender ${senderPublicKey} has nonce ${sender.nonce}.`,
  );

function checkNonce(transaction: Transaction, sender: Wallet): void {
  const { version, nonce } = transaction;
  if (version > 1 && nonce !== sender.nonce + 1n) throw unexpectedNonce(transaction, sender);
}

function checkSecondSignature(transaction: Transaction, context: RuleContext, sender: Wallet): void {
  const { state, assumesSignatures, signatures = COMPUTED_SIGNATURES } = context;
  const unexpected = () =>
    refusal("UnexpectedSecondSignatureError", "wallet does not allow second signatures.");
  if (sender.attributes.secondPublicKey !== undefined) {
    const { secondPublicKey } = chainWallet(state, sender).attributes;
    if (secondPublicKey === undefined) throw unexpected(); // G4
    // G5
    const { secondSignature } = transaction;
    const isSigned = assumesSignatures
      ? secondSignature !== undefined
      : signatures.isSecondSigned(transaction, secondPublicKey);
    if (!isSigned) {
      throw refusal("InvalidSecondSignatureError", "the second signature could not be verified.");
    }
  } else if (transaction.secondSignature !== undefined) throw unexpected(); // G6
}

function checkMultiSignatures(transaction: Transaction, context: RuleContext, sender: Wallet): void {
  const isRegistration = transaction.typeGroup === TYPE_GROUPS.core && transaction.type === 4;
  // G7
  if (isRegistration && !context.milestone.aip11) {
    throw refusal(
      "LegacyMultiSignatureRegistrationError",
      "legacy multi signature registrations are no longer supported.",
    );
  }
  if (sender.attributes.multiSignature !== undefined) {
    // G8
    if (sender.attributes.multiSignature.legacy) {
      throw refusal("LegacyMultiSignatureError", "legacy multi signature is no longer supported.");
    }
    const { multiSignature } = chainWallet(context.state, sender).attributes;
    // G9
    if (multiSignature === undefined) {
      throw refusal("MissingMultiSignatureOnSenderError", "sender does not have a multi signature.");
    }
    // G10
    if (!isSignedByParticipants(transaction, multiSignature, context)) {
      throw refusal("InvalidMultiSignaturesError", "the multi signatures are invalid.");
    }
  } else if (transaction.signatures !== undefined && !isRegistration) {
    throw unsupportedMultiSignatures(); // G11
  }
}

/** G11: `signatures` of a sender that is not a multisignature wallet. */
export const unsupportedMultiSignatures = (): RuleError =>
  refusal("UnsupportedMultiSignatureTransactionError", "the transaction does not support multi signatures.");

/** Returns true if enough participants have signed; entries that cannot be checked count as invalid. */
export function isSignedByParticipants(
  transaction: Transaction,
  participants: Participants,
  { assumesSignatures, signatures = COMPUTED_SIGNATURES }: RuleContext,
): boolean {
  if (assumesSignatures) return (transaction.signatures?.length ?? 0) >= participants.min;
  try {
    return signatures.isMultiSigned(transaction, participants);
  } catch (error) {
    if (error instanceof TransactionError || error instanceof RangeError) return false;
    throw error;
  }
}

/**
 * Writes the sender with its new nonce and balance (transactions-rules.md 2.3). Checks the balance even if G2 was
 * skipped.
 *
 * @throws {RuleError} InsufficientBalanceError
 */
export function spend(transaction: Transaction, context: RuleContext, sender: Wallet): void {
  const nonce = transaction.version > 1 ? present(transaction.nonce, "nonce") : sender.nonce + 1n;
  const balance = sender.balance - transaction.amount - transaction.fee;
  if (
    balance < 0n &&
    !isListedNegativeBalance(
      context.network,
      present(sender.publicKey, "the public key of the sender"),
      nonce,
      balance,
    )
  ) {
    throw insufficientBalance();
  }
  saveWallet(context.draft, { ...sender, nonce, balance });
}

const isListedNegativeBalance = (
  { exceptions }: Network,
  publicKey: string,
  nonce: bigint,
  balance: bigint,
): boolean => exceptions.negativeBalances?.[publicKey]?.[`${nonce}`] === `${balance}`;

/** The sender in the chain state; in a block this is the sender itself. */
const chainWallet = (state: StateReader, sender: Wallet): Wallet => walletAt(state, sender.address);
