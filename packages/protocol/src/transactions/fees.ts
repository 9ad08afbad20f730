/** Static fees (transactions.md 13) and minimum fees of pools (pool.md 7), in the smallest unit. They are not consensus rules. */
import type { Milestone } from "../networks/network.ts";
import type { TransactionBody } from "./transaction.ts";
import { findTransactionType, transactionKey, unknownType } from "./types/registry.ts";
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
  // Blocks with other fees of entities are refused (transactions-rules.md 4), and the old node never reads them there.
  if (key === "entity") return undefined;
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

/** Fee policy of a node, as its configuration shows it (`transactionPool.dynamicFees`). */
export type DynamicFees =
  | { readonly enabled: false }
  | {
      readonly enabled: true;
      /** Smallest units per byte. */
      readonly minFeePool: number;
      readonly minFeeBroadcast: number;
      /** Added to the size by type key. */
      readonly addonBytes: Readonly<Record<string, number>>;
    };

/**
 * Fee that a node requires: the static fee exactly, or at least a fee for the size.
 *
 * @param transaction paid by its size, unlike certified mints, claims and refunds, which can be free
 */
export function requiredFee(
  transaction: TransactionBody,
  serializedBytes: number,
  milestone: Milestone,
  policy: DynamicFees,
): bigint {
  const key = transactionKey(transaction.typeGroup, transaction.type);
  if (!policy.enabled || key === "entity") return staticFee(transaction, milestone);
  const feePerByte = Math.min(policy.minFeePool, policy.minFeeBroadcast);
  return minimumFee(serializedBytes, policy.addonBytes[key] ?? 0, feePerByte);
}

/**
 * (addon + half the bytes, rounded half up) x fee per byte. Halving the bytes is an error of the old node
 * that must be kept.
 */
export function minimumFee(serializedBytes: number, addonBytes: number | null, feePerByte: number): bigint {
  const chargedBytes = (addonBytes ?? 0) + Math.round(serializedBytes / 2);
  return BigInt(chargedBytes) * BigInt(Math.max(feePerByte, 1));
}

const ONE_TOKEN = 100_000_000n;

/** Returns true if a fee is probably a mistake: more than a token, and ten times the usual fee. */
export const isHighFee = (fee: bigint, usualFee: bigint): boolean => fee > ONE_TOKEN && fee > 10n * usualFee;
