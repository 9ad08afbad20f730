/** Registration of a delegate, also the base of the one by unik (transactions-rules.md 3.3 and 7.2). */
import { assetMember, type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import type { Delegate, Wallet } from "../../state/tables.ts";
import { saveDelegate, walletOf } from "../../wallets.ts";
import {
  checkCommon,
  isMultiSignatureWallet,
  multiSignatureNotSupported,
  refusal,
} from "../shared/common.ts";
import type { Rule, RuleContext } from "../shared/rule.ts";

/**
 * The checks of transactions-rules.md 3.3 in their order.
 *
 * @throws {RuleError} the first refusal
 */
export function checkRegistration(transaction: Transaction, context: RuleContext, sender: Wallet): void {
  const { username } = assetMember(transaction.asset, "delegate");
  if (isMultiSignatureWallet(context, sender)) throw multiSignatureNotSupported(); // 1
  if (!username) throw refusal("WalletNotADelegateError", "the wallet is not a delegate."); // 2
  // 3: a resigned delegate is still one (trap A14)
  if (sender.attributes.delegate !== undefined) {
    throw refusal("WalletIsAlreadyDelegateError", "the wallet already has a registered username.");
  }
  // 4. Trap A28: the network looks names up in an object.
  if (context.state.get("usernames", username) !== undefined || username in Object.prototype) {
    throw refusal(
      "WalletUsernameAlreadyRegisteredError",
      `the username '${username}' is already registered.`,
    );
  }
  checkCommon(transaction, context, sender); // 5
}

/** Makes the sender a delegate (state.md 2.1). `type` is absent for core registrations. */
export function register(transaction: Transaction, { draft, network }: RuleContext, type?: number): void {
  const sender = walletOf(draft, transaction.senderPublicKey, network);
  const { username } = assetMember(transaction.asset, "delegate");
  const delegate: Delegate = {
    username,
    voteBalance: 0n,
    forgedFees: 0n,
    forgedRewards: 0n,
    producedBlocks: 0,
    round: 0,
    ...(type !== undefined && { type }),
  };
  saveDelegate(draft, sender, delegate);
  draft.set("usernames", username, sender.address);
}

export const delegateRegistration: Rule = {
  typeGroup: TYPE_GROUPS.core,
  type: 2,
  check: checkRegistration,
  applyToSender: (transaction, context) => register(transaction, context),
};
