/** Opens a round when the block before its first height is applied (consensus.md 5). */
import { forgingOrder, type Milestone, type RoundInfo } from "@uniknode/protocol";
import type { Draft } from "../state/draft.ts";
import type { Round } from "../state/tables.ts";
import { saveDelegate } from "../wallets.ts";
import { type DelegateWallet, rankDelegates } from "./ranking.ts";

/**
 * Ranks the delegates and fixes the forging order of a round, which is never computed again (trap B5).
 *
 * @param info of the first height of the round: its number of delegates is used
 * @param milestone of two heights below: its quotas and weights are used (trap A2)
 * @returns the active delegates, rank 1 first
 * @throws {Error} if there are fewer candidates than places
 */
export function openRound(draft: Draft, info: RoundInfo, milestone: Milestone): DelegateWallet[] {
  const { round, roundHeight, maxDelegates } = info;
  const active = rankDelegates(draft, milestone).slice(0, maxDelegates);
  if (active.length < maxDelegates) {
    throw new Error(
      `Expected to find ${maxDelegates} delegates but only found ${active.length}. This indicates an issue with the genesis block & delegates.`,
    );
  }
  const record: Round = {
    round,
    height: roundHeight,
    delegates: active.map(({ publicKey, attributes }) => ({
      publicKey,
      voteBalance: attributes.delegate.voteBalance,
    })),
    order: forgingOrder(
      round,
      active.map(({ publicKey }) => publicKey),
    ),
  };
  draft.set("rounds", String(round), record);
  return active.map((wallet) => {
    const delegate = { ...wallet.attributes.delegate, round };
    saveDelegate(draft, wallet, delegate);
    return { ...wallet, attributes: { ...wallet.attributes, delegate } };
  });
}
