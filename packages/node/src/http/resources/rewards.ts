/** Coins that the rewarded transactions of a block created (state.md 4.1), for `GET /blocks/{id}`. */
import { INDIVIDUAL, isAliveDemand, nftOf, type Reward, rewardOfType, voucherOf } from "@uniknode/ledger";
import type { Milestone, Network, Transaction } from "@uniknode/protocol";
import type { Snapshot } from "../../read/port.ts";
import type { StoredBlock } from "../../read/rows.ts";
import type { CreatedRewards } from "../responses/block.ts";

/** Returns the created coins; undefined for a block without transactions. */
export async function createdRewards(
  network: Network,
  { tokens, transactions }: Snapshot,
  { height, numberOfTransactions }: Pick<StoredBlock, "height" | "numberOfTransactions">,
): Promise<CreatedRewards | undefined> {
  if (numberOfTransactions === 0) return undefined;
  // Transactions follow the milestone of the parent block (trap A1).
  const milestone = network.milestoneAt(Math.max(height - 1, 1));
  const typeOf = async (tokenId: string) => Number((await tokens.find(tokenId))?.type);
  let minters = 0n;
  let foundation = 0n;
  for (const transaction of await transactions.certifiedInBlock(height)) {
    const reward = await rewardOf(transaction, milestone, typeOf);
    if (!reward) continue;
    minters += reward.sender + reward.forger;
    // The old network returns only the last one, as recorded responses show.
    foundation = reward.foundation;
  }
  return { unikMintRewards: `${minters}`, foundationRewards: `${foundation}` };
}

/** Computes a reward as when the block was applied; reads the type from the token, where it never changes. */
async function rewardOf(
  transaction: Transaction,
  milestone: Milestone,
  typeOf: (tokenId: string) => Promise<number>,
): Promise<Reward | undefined> {
  const paysWhenAlive = milestone.unsTokenEcoV2 === true;
  if (voucherOf(transaction) !== undefined) {
    const type = Number(nftOf(transaction).token.properties?.type);
    return paysWhenAlive && type === INDIVIDUAL ? undefined : rewardOfType(milestone, type);
  }
  if (!paysWhenAlive || !isAliveDemand(transaction)) return undefined;
  const type = await typeOf(nftOf(transaction).token.tokenId);
  return type === INDIVIDUAL ? rewardOfType(milestone, type) : undefined;
}
