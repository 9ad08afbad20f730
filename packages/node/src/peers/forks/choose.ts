/** Whether this node's branch is the wrong one, and how far it has to go back (p2p.md 14, consensus.md 8). */
import { isForked, type Peer } from "../table/peer.ts";

export type Branch = {
  /** The highest block that the branch has in common with ours. */
  readonly commonHeight: number;
  /** The highest head on it. */
  readonly height: number;
  /** Those who left our branch there; other ones of them may have gone other ways since. */
  readonly peers: readonly Peer[];
  /** Those whose head that is. */
  readonly holders: readonly Peer[];
};

/** Blocks that are undone at most. */
export const MAX_ROLLBACK = 5_000;

/** The branch to go to: one that is better than ours and in reach. Undefined while there is none. */
export function branchToSwitchTo(peers: readonly Peer[], ownHeight: number): Branch | undefined {
  const branch = betterBranch(peers, ownHeight);
  return branch && isWithinRollback(branch, ownHeight) ? branch : undefined;
}

/** Whether no more blocks would have to be undone than may be. */
export const isWithinRollback = ({ commonHeight }: Branch, ownHeight: number): boolean =>
  ownHeight - commonHeight <= MAX_ROLLBACK;

/**
 * A better branch than ours: at least half of the peers are on another branch, and the largest group of them is higher
 * than we are. Undefined while there is nothing better than where we are.
 *
 * An old node also goes to a lower branch. Two nodes that look at each other at the same time would change places for
 * ever; by height they agree.
 */
export function betterBranch(peers: readonly Peer[], ownHeight: number): Branch | undefined {
  const forked = peers.filter(isForked);
  if (forked.length === 0 || forked.length * 2 < peers.length) return undefined;
  const groups = Map.groupBy(forked, ({ verification }) => verification.highestCommonHeight);
  const [largest] = [...groups].sort(
    ([heightA, a], [heightB, b]) => b.length - a.length || heightB - heightA,
  );
  const [commonHeight, members] = largest!;
  const height = Math.max(...members.map(({ verification }) => verification.hisHeight));
  if (height <= ownHeight) return undefined;
  return { commonHeight, height, peers: members, holders: holdersOf(members, height) };
}

/** Of the heads at a height, there may be several: those who have the one that most have, by its id among equals. */
function holdersOf(peers: readonly Peer[], height: number): Peer[] {
  const highest = peers.filter(({ verification }) => verification.hisHeight === height);
  const byHead = [...Map.groupBy(highest, ({ status }) => status.state.header?.id ?? "")];
  const [[, holders]] = byHead.sort(([idA, a], [idB, b]) => b.length - a.length || (idA < idB ? -1 : 1)) as [
    [string, Peer[]],
  ];
  return holders;
}
