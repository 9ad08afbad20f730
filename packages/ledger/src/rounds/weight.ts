/** Weight of a delegate in the ranking (state.md 5.2). */
import type { Milestone } from "@uniknode/protocol";
import type { Delegate, StateReader } from "../state/tables.ts";
import { walletAt } from "../wallets.ts";

const INDIVIDUAL = 1;

/**
 * The delegate with its `weightedVoteBalance` by the milestone: computed while `voterMaximumWeight` is in force,
 * removed otherwise.
 */
export function withWeight(
  state: StateReader,
  publicKey: string,
  delegate: Delegate,
  { voterMaximumWeight }: Milestone,
): Delegate {
  if (voterMaximumWeight) {
    const cap = voterMaximumWeight.individual;
    const isCapped = delegate.type === INDIVIDUAL && cap !== undefined;
    const weight = isCapped ? cappedVotes(state, publicKey, BigInt(cap)) : delegate.voteBalance;
    return delegate.weightedVoteBalance === weight ? delegate : { ...delegate, weightedVoteBalance: weight };
  }
  if (delegate.weightedVoteBalance === undefined) return delegate;
  const { weightedVoteBalance: _, ...others } = delegate;
  return others;
}

/** Sum over the voters of their balances, each up to the cap. Locked amounts do not count. */
function cappedVotes(state: StateReader, publicKey: string, cap: bigint): bigint {
  let sum = 0n;
  for (const address of state.voters(publicKey)) {
    const { balance } = walletAt(state, address);
    sum += balance < cap ? balance : cap;
  }
  return sum;
}
