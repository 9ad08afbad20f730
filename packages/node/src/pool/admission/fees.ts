/** Minimum fees of the pool (pool.md 7); local policy, blocks may contain any fee. */
import { isCertifiedMint } from "@uniknode/ledger";
import {
  type Milestone,
  minimumFee,
  type SealedTransaction,
  staticFee,
  transactionKey,
} from "@uniknode/protocol";
import type { FeePolicy } from "../pool-options.ts";
import { Refusal } from "../refusal.ts";

/** Returns true if the fee suffices for the pool, and for being broadcast. */
export function checkFee(
  { data, bytes }: SealedTransaction,
  milestone: Milestone,
  policy: FeePolicy,
): { pool: boolean; broadcast: boolean } {
  const key = transactionKey(data.typeGroup, data.type);
  if (!policy.dynamic) {
    const isExact = data.fee === staticFee(data, milestone);
    return { pool: isExact, broadcast: isExact };
  }
  if (key === "htlcClaim" || key === "htlcRefund") return { pool: true, broadcast: true };
  if (key === "entity") {
    const suffices = data.fee >= staticFee(data, milestone);
    return { pool: suffices, broadcast: suffices };
  }
  if (isCertifiedMint(data) && isFreeMint(data.asset, milestone)) return { pool: true, broadcast: true };
  const suffices = (feePerByte: number) =>
    data.fee >= minimumFee(bytes.length, policy.addonBytes[key] ?? 0, feePerByte);
  return { pool: suffices(policy.minFeePool), broadcast: suffices(policy.minFeeBroadcast) };
}

/** Certified mints are free from V3 on, mints of individuals from V2 on. */
function isFreeMint(asset: SealedTransaction["data"]["asset"], milestone: Milestone): boolean {
  if (milestone.unsTokenEcoV3) return true;
  const [token] = Object.values(asset?.nft ?? {});
  return milestone.unsTokenEcoV2 === true && token?.properties?.type === "1";
}

/**
 * Step 13.
 *
 * @throws {Refusal}
 */
export function requireFee(transaction: SealedTransaction, milestone: Milestone, policy: FeePolicy) {
  const fee = checkFee(transaction, milestone, policy);
  if (fee.pool || fee.broadcast) return fee;
  throw new Refusal("ERR_LOW_FEE", "The fee is too low to broadcast and accept the transaction");
}
