/** Members of a header that describe its transactions (blocks.md 4). */
import { bytesToHex, concatBytes, hexToBytes } from "../crypto/bytes.ts";
import { sha256 } from "../crypto/hashes.ts";
import type { Transaction } from "../transactions/transaction.ts";

/** Hash of the concatenated transaction ids in block order. */
export const payloadHashOf = (transactionIds: readonly string[]): string =>
  bytesToHex(sha256(concatBytes(...transactionIds.map(hexToBytes))));

/** Sums of the decoded members; the payments of a multi-payment are not in its amount. */
export function totalsOf(transactions: readonly Transaction[]): { totalAmount: bigint; totalFee: bigint } {
  let totalAmount = 0n;
  let totalFee = 0n;
  for (const { amount, fee } of transactions) {
    totalAmount += amount;
    totalFee += fee;
  }
  return { totalAmount, totalFee };
}
