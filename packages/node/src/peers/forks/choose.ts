/** Chooses the branch to switch to, and the rollback that it needs (p2p.md 14, consensus.md 8). */
import { isForked, type Peer } from "../peer-table.ts";

export type Branch = {
  /** Height of the highest block that the branch has in common with ours. */
  readonly commonHeight: number;
  /** Height of the highest head on it. */
  readonly height: number;
  /** Peers that forked from our branch at `commonHeight`; above it, they may be on several branches. */
  readonly peers: readonly Peer[];
  /** Peers with that head. */
  readonly holders: readonly Peer[];
};

/** Maximum number of blocks that are reverted. */
export const MAX_ROLLBACK = 5_000;

/** Returns a better branch than ours within the maximum rollback; undefined if there is none. */
export function branchToSwitchTo(peers: readonly Peer[], ownHeight: number): Branch | undefined {
  const branch = betterBranch(peers, ownHeight);
  return branch && isWithinRollback(branch, ownHeight) ? branch : undefined;
}

/** Returns true if the switch to a branch reverts no more than the maximum of blocks. */
export const isWithinRollback = ({ commonHeight }: Branch, ownHeight: number): boolean =>
  ownHeight - commonHeight <= MAX_ROLLBACK;

/**
 * Returns a better branch than ours: at least half of the peers are on another branch, and the largest group of them is higher
 * than our head. Undefined if there is none.
 *
 * An old node also switches to a lower branch, so that two nodes could exchange branches forever; comparing the heights
 * prevents this.
 */
export function betterBranch(peers: readonly Peer[], ownHeight: number): Branch | undefined {
  const forked = peers.filter(isForked);
  if (forked.length === 0 || forked.length * 2 < peers.length) return undefined;
  const groups = Map.groupBy(forked, ({ verification }) => verification.highestCommonHeight);
  const [largest] = [...groups].sort(
    ([heightA, a], [heightB, b]) => b.length - a.length || heightB - heightA,
  );
  if (!largest) return undefined;
  const [commonHeight, members] = largest;
  const height = Math.max(...members.map(({ verification }) => verification.hisHeight));
  if (height <= ownHeight) return undefined;
  return { commonHeight, height, peers: members, holders: holdersOf(members, height) };
}

/** The peers with the most frequent head at a height; among equally frequent ones, the smallest id decides. */
function holdersOf(peers: readonly Peer[], height: number): Peer[] {
  const highest = peers.filter(({ verification }) => verification.hisHeight === height);
  const byHead = [...Map.groupBy(highest, ({ status }) => status.state.header?.id ?? "")];
  const [[, holders]] = byHead.sort(([idA, a], [idB, b]) => b.length - a.length || (idA < idB ? -1 : 1)) as [
    [string, Peer[]],
  ];
  return holders;
}
