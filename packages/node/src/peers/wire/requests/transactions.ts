/** Size limits of transactions in a message, independent of their validity (p2p.md 7.6). */
import { MAX_TRANSACTIONS } from "../limits.ts";
import { isRecord } from "../record.ts";

const MAX_MEMBERS = 50;
const MAX_ASSET_MEMBERS = 100;
const MAX_PAYMENTS = 128;

/** Returns true if a value is a list of transactions that every peer accepts in one message. */
export const areTransactionsSmall = (transactions: unknown): boolean =>
  Array.isArray(transactions) &&
  transactions.length <= MAX_TRANSACTIONS &&
  transactions.every(isTransactionSmall);

/** Returns true if a transaction is small enough to be sent to peers. */
export function isTransactionSmall(transaction: unknown): boolean {
  if (!isRecord(transaction)) return false;
  const { asset, ...members } = transaction;
  return (
    countBelow(members, MAX_MEMBERS) <= MAX_MEMBERS &&
    // The asset itself counts.
    (1 + countBelow(asset, MAX_ASSET_MEMBERS) <= MAX_ASSET_MEMBERS || arePayments(asset))
  );
}

/** Number of members and elements at all depths; stops counting soon after the maximum. */
function countBelow(value: unknown, maximum: number): number {
  if (typeof value !== "object" || value === null || maximum < 0) return 0;
  // In a message, bytes are an object of two members.
  if (value instanceof Uint8Array) return 2;
  let count = 0;
  for (const member of Object.values(value)) {
    count += 1 + countBelow(member, maximum - count - 1);
    if (count > maximum) break;
  }
  return count;
}

/** An asset of payments has its own limits. */
function arePayments(asset: unknown): boolean {
  if (!isRecord(asset) || !Array.isArray(asset.payments) || Object.keys(asset).length !== 1) return false;
  return asset.payments.length <= MAX_PAYMENTS && asset.payments.every(isPayment);
}

const isPayment = (payment: unknown): boolean =>
  isRecord(payment) &&
  Object.keys(payment).length === 2 &&
  typeof payment.amount === "string" &&
  typeof payment.recipientId === "string";
