/** Static fees (transactions.md 13), in the smallest unit. They are not a consensus rule: pools require them. */
import type { Milestone } from "../networks/network.ts";
import type { TransactionBody } from "./transaction.ts";
import { findTransactionType, unknownType } from "./types/registry.ts";
import type { TransactionType } from "./types/type.ts";

/**
 * Static fee of a transaction under a milestone.
 *
 * @throws {TransactionError} UnkownTransactionError
 */
export function staticFee(transaction: TransactionBody, milestone: Milestone): bigint {
  const type = findTransactionType(transaction.typeGroup, transaction.type);
  if (!type) throw unknownType(transaction.typeGroup, transaction.type);
  const named = feeInMilestone(type, milestone);
  return (named ?? type.staticFee(transaction)) * (type.feeUnits?.(transaction) ?? 1n);
}

/** Static fee of a type in lists of fees: for one unit, and for a registration if the type has several actions. */
export const typeStaticFee = (type: TransactionType, milestone: Milestone): bigint =>
  feeInMilestone(type, milestone) ?? type.staticFee(registrationOf(type));

function feeInMilestone({ key }: TransactionType, { fees }: Milestone): bigint | undefined {
  const fee = fees.staticFees[key];
  return fee === undefined ? undefined : BigInt(fee);
}

const REGISTER = 0;

const registrationOf = ({ typeGroup, type }: TransactionType): TransactionBody => ({
  version: 2,
  network: 0,
  typeGroup,
  type,
  senderPublicKey: "",
  fee: 0n,
  amount: 0n,
  asset: { action: REGISTER },
});
