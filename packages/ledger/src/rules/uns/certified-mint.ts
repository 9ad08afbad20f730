/** Certified minting of a unik (transactions-rules.md 6.1). */
import { type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import { voucherKey, type Wallet } from "../../state/tables.ts";
import { walletOf } from "../../wallets.ts";
import { checkMint } from "../nft/mint.ts";
import { checkFreeService, checkPaidCertification } from "../shared/certification.ts";
import { CERTIFIED_MINT, INDIVIDUAL, nftOf, rewardOfType, voucherOf } from "../shared/economy.ts";
import { RuleError } from "../shared/error.ts";
import { kindName, typeFromText } from "../shared/kinds.ts";
import { advanceReward, payService } from "../shared/payments.ts";
import { TYPE } from "../shared/properties.ts";
import type { Rule, RuleContext } from "../shared/rule.ts";
import { mintToken } from "../shared/tokens.ts";

function checkCertifiedMint(transaction: Transaction, context: RuleContext, sender: Wallet): void {
  const voucher = voucherOf(transaction);
  const type = requireType(transaction); // 7: checked before all others by the network
  checkMint(transaction, context, sender, { skipsBalance: voucher !== undefined }); // 1 to 5
  checkPaidCertification(transaction, context); // 6
  checkVotedType(type, context, sender); // 8
  if (voucher === undefined) return;
  checkFreeService(transaction, dueFee(type, context)); // 9, 10
  checkUnused(voucher, transaction, context); // 11
}

function requireType(transaction: Transaction): number {
  const type = nftOf(transaction).token.properties?.[TYPE];
  if (!type) throw new RuleError("Error", "Asset must contain did type.");
  return typeFromText(type);
}

/** A wallet that votes for a delegate of one type cannot get uniks of another one. Types 0 and NaN count as none (trap A30). */
function checkVotedType(type: number, { state, network }: RuleContext, { attributes }: Wallet): void {
  if (attributes.vote === undefined) return;
  const voted = walletOf(state, attributes.vote, network).attributes.delegate?.type;
  if (!voted || voted === type) return;
  throw new RuleError(
    "InvalidDidTypeError",
    `Unable to mint ${kindName(type)} UniknameID because the crypto-account is already supporting ` +
      `(voting for) ${kindName(voted)} delegate. Please remove your support (unvote) first`,
  );
}

/** The forger's reward; 0 for vouchers of individuals under V2. */
function dueFee(type: number, { milestone }: RuleContext): bigint {
  if (kindName(type) === undefined) {
    throw new RuleError("InvalidDidTypeError", `no voucher exists for tokens of type ${type}`);
  }
  return milestone.unsTokenEcoV2 && type === INDIVIDUAL ? 0n : rewardOfType(milestone, type).forger;
}

/** Counts uses in earlier blocks only: one block may use a voucher several times (trap A3). */
function checkUnused(voucher: string, transaction: Transaction, { state }: RuleContext): void {
  if (state.get("vouchers", voucherKey(nftOf(transaction).name, voucher)) === undefined) return;
  throw new RuleError(
    "VoucherAlreadyUsedError",
    `Failed to apply transaction: voucher "${voucher}" has already been used`,
  );
}

export const certifiedMint: Rule = {
  typeGroup: TYPE_GROUPS.uns,
  type: CERTIFIED_MINT,
  advance: advanceReward,
  check: checkCertifiedMint,
  applyToSender: mintToken,
  applyToRecipient: payService,
};
