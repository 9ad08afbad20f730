/** The faults of a block after its multisignatures are checked against the wallets (blocks.md 8.2 point 3). */
import {
  type Block,
  type BlockFault,
  containsMultiSignatures,
  type SealedTransaction,
  TransactionError,
} from "@uniknode/protocol";
import { requireRule } from "../rules/registry.ts";
import { refusal } from "../rules/shared/common.ts";
import { isVerifiedIn } from "../signatures.ts";
import type { JudgeContext } from "./context.ts";

type Context = Pick<JudgeContext, "network" | "head" | "draft" | "assumesSignatures" | "signatures">;

/**
 * The remaining faults. Signatures of multisignature wallets cannot be verified without the wallet. If a block has such
 * transactions, all its transactions are verified again against the wallets from before the block: a wallet cannot spend
 * in the block that registers it (trap A17).
 *
 * @throws {RuleError} if a transaction has no rule in force, or signatures that cannot be checked
 */
export function verifyWithWallets(
  context: Context,
  block: Block,
  faults: readonly BlockFault[],
): readonly BlockFault[] {
  if (!containsMultiSignatures(block)) return faults;
  const unverified = block.transactions.flatMap((transaction, sequence): BlockFault[] =>
    isVerified(context, transaction)
      ? []
      : [{ code: "unverified-transaction", transactionId: transaction.data.id, sequence }],
  );
  return faults
    .filter(({ code }) => code !== "unverified-transaction")
    .flatMap((fault): BlockFault[] => {
      if (fault.code !== "unverified-transactions") return [fault];
      return unverified.length > 0 ? [fault, ...unverified] : [];
    });
}

function isVerified(context: Context, transaction: SealedTransaction): boolean {
  requireRule(transaction.data, context);
  try {
    return isVerifiedIn(context.draft, transaction, context.network, context);
  } catch (error) {
    if (!(error instanceof TransactionError || error instanceof RangeError)) throw error;
    throw refusal("InvalidMultiSignaturesError", `the multi signatures cannot be examined: ${error.message}`);
  }
}
