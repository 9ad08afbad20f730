/** The weight of delegates (state.md 5.2), and their ranking by weight and type (consensus.md 3). */
import type { Milestone } from "@uniknode/protocol";
import type { Draft } from "../state/draft.ts";
import type { Delegate, StateReader, Wallet } from "../state/tables.ts";
import { saveDelegate, saveWallet, walletAt } from "../wallets.ts";

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

const ORGANIZATION = 2;
const NETWORK = 3;

/** A wallet that is a registered delegate. */
export type DelegateWallet = Wallet & {
  readonly publicKey: string;
  readonly attributes: { delegate: Delegate };
};

/**
 * Ranks all delegates and writes their ranks and weights.
 *
 * @param milestone of the head, which is two below the first height of the round (trap A2)
 * @returns the wallets of the ranked delegates, rank 1 first
 * @throws {Error} if two delegates share a public key
 */
export function rankDelegates(draft: Draft, milestone: Milestone): DelegateWallet[] {
  const candidates: DelegateWallet[] = [];
  for (const address of [...draft.delegates()]) {
    const wallet = walletAt(draft, address) as DelegateWallet;
    const { delegate } = wallet.attributes;
    if (!delegate.resigned) {
      candidates.push(withDelegate(wallet, withWeight(draft, wallet.publicKey, delegate, milestone)));
    } else if (delegate.rank !== undefined) {
      const { rank: _, ...unranked } = delegate;
      saveDelegate(draft, wallet, unranked);
    }
  }
  return orderByType(candidates.sort(byWeight), milestone).map((candidate, index) => {
    const ranked = withRank(candidate, index + 1);
    if (ranked !== walletAt(draft, ranked.address)) saveWallet(draft, ranked);
    return ranked;
  });
}

const withDelegate = (wallet: DelegateWallet, delegate: Delegate): DelegateWallet =>
  wallet.attributes.delegate === delegate
    ? wallet
    : { ...wallet, attributes: { ...wallet.attributes, delegate } };

function withRank(wallet: DelegateWallet, rank: number): DelegateWallet {
  const { delegate } = wallet.attributes;
  return delegate.rank === rank ? wallet : withDelegate(wallet, { ...delegate, rank });
}

/** Weight descending, then public key ascending: lower-case hexadecimal sorts as its bytes. */
function byWeight(a: DelegateWallet, b: DelegateWallet): number {
  const [weightA, weightB] = [weightOf(a), weightOf(b)];
  if (weightA !== weightB) return weightA > weightB ? -1 : 1;
  if (a.publicKey === b.publicKey) throw new Error(`two delegates have the public key ${a.publicKey}`);
  return a.publicKey < b.publicKey ? -1 : 1;
}

const weightOf = ({ attributes: { delegate } }: DelegateWallet): bigint =>
  delegate.weightedVoteBalance ?? delegate.voteBalance;

/**
 * Selection by type (consensus.md 3.1): the delegates selected for the quotas, then all others in their
 * order. Seats that a quota cannot fill go to the highest of the individuals and of the delegates without
 * type.
 */
function orderByType(sorted: DelegateWallet[], milestone: Milestone): DelegateWallet[] {
  const quotas = milestone.nbDelegatesByType;
  if (!quotas) return sorted;
  const ofType = (type: number) => sorted.filter(({ attributes }) => attributes.delegate.type === type);
  const organizations = ofType(ORGANIZATION);
  const networks = ofType(NETWORK);
  const primary = sorted.filter(
    ({ attributes: { delegate } }) => delegate.type !== ORGANIZATION && delegate.type !== NETWORK,
  );
  const taken = new Set<DelegateWallet>();
  const count = { individual: 0, organization: 0, network: 0 };
  /** Takes the first of the candidates; returns false if there are none. */
  const take = (preferred: DelegateWallet[], others: DelegateWallet[] = []): boolean => {
    const first = preferred.shift() ?? others.shift();
    if (first) taken.add(first);
    return first !== undefined;
  };
  for (let pick = 0; pick < milestone.activeDelegates; pick++) {
    if (count.individual < quotas.individual && take(primary)) count.individual++;
    else if (count.organization < quotas.organization && take(organizations, primary)) count.organization++;
    else if (count.network < quotas.network && take(networks, primary)) count.network++;
  }
  return [...taken, ...sorted.filter((wallet) => !taken.has(wallet))];
}
