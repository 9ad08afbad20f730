/**
 * Records used vouchers and disclose demands when the block is complete: the checks see stored blocks only, so that one
 * block may use the same voucher several times (trap A3).
 */
import type { SealedTransaction, Transaction } from "@uniknode/protocol";
import { nftOf, voucherOf } from "../rules/shared/economy.ts";
import type { Draft } from "../state/draft.ts";
import { voucherKey } from "../state/tables.ts";

export function recordUses(draft: Draft, transactions: readonly SealedTransaction[]): void {
  for (const { data } of transactions) {
    const voucher = voucherOf(data);
    if (voucher !== undefined) record(draft, "vouchers", voucherKey(nftOf(data).name, voucher), data);
    const certification = data.asset?.["disclose-demand-certification"];
    if (certification) record(draft, "disclosures", certification.payload.sub, data);
  }
}

/** Keeps the first use. */
function record(draft: Draft, table: "vouchers" | "disclosures", key: string, { id }: Transaction): void {
  if (draft.get(table, key) === undefined) draft.set(table, key, id);
}
