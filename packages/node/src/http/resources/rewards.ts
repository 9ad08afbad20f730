/** Coins that the rewarded transactions of a block created (state.md 4.1), for `GET /blocks/{id}`. */
import { INDIVIDUAL, isAliveDemand, nftOf, type Reward, rewardOfType, voucherOf } from "@uniknode/ledger";
import type { Milestone, Transaction } from "@uniknode/protocol";
import type { StoredBlock } from "../../read/sqlite/blocks.ts";
import type { CreatedRewards } from "../answers/block.ts";
import type { Api } from "./api.ts";

/** Undefined for a block without transactions. */
export function createdRewards(
  { network, queries }: Api,
  { height, numberOfTransactions }: Pick<StoredBlock, "height" | "numberOfTransactions">,
): CreatedRewards | undefined {
  if (numberOfTransactions === 0) return undefined;
  // Transactions follow the milestone of the block below theirs (trap A1).
  const milestone = network.milestoneAt(Math.max(height - 1, 1));
  const typeOf = (tokenId: string) => Number(queries.tokens.find(tokenId)?.type);
  let minters = 0n;
  let foundation = 0n;
  for (const transaction of queries.transactions.certifiedInBlock(height)) {
    const reward = rewardOf(transaction, milestone, typeOf);
    if (!reward) continue;
    minters += reward.sender + reward.forger;
    // The old network tells of the last one only, however many there are: recorded answers show it.
    foundation = reward.foundation;
  }
  return { unikMintRewards: `${minters}`, foundationRewards: `${foundation}` };
}

/** As when the block was applied, except that a token's type is asked of the token: it never changes. */
function rewardOf(
  transaction: Transaction,
  milestone: Milestone,
  typeOf: (tokenId: string) => number,
): Reward | undefined {
  const paysWhenAlive = milestone.unsTokenEcoV2 === true;
  if (voucherOf(transaction) !== undefined) {
    const type = Number(nftOf(transaction).token.properties?.type);
    return paysWhenAlive && type === INDIVIDUAL ? undefined : rewardOfType(milestone, type);
  }
  if (!paysWhenAlive || !isAliveDemand(transaction)) return undefined;
  const type = typeOf(nftOf(transaction).token.tokenId);
  return type === INDIVIDUAL ? rewardOfType(milestone, type) : undefined;
}
