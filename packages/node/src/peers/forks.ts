/**
 * Branches of other nodes: which one replaces blocks of ours, and how it is fetched. A fetched branch is kept in memory until it is on the
 * chain.
 */
import { type FetchedBlock, inputByteLength } from "../chain/pipeline/receive.ts";
import { download } from "./download/download.ts";
import type { Fetch, Source } from "./download/source.ts";
import { isForked, type Peer } from "./peer-table.ts";

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

type FetchBranchDeps = {
  readonly fetch: Fetch;
  /** Ends the download early. */
  readonly signal: AbortSignal;
};

type FetchedBranch = {
  /** Blocks without gaps, beginning with the first that our chain does not have. */
  readonly blocks: readonly FetchedBlock[];
  /** Source of each block. */
  readonly providers: readonly Source[];
  /** Sources that did not send the blocks that they claim, or not in time. */
  readonly failing: readonly Source[];
};

/** Maximum bytes of a branch in memory: 5,000 blocks of fifty transfers are 42 MB. */
const MAX_BYTES = 128 * 1024 * 1024;
/** Time for a branch. The node is not in sync meanwhile, and a source could send one block after another at long intervals. */
const MAX_MS = 600_000;

/** Fetches as much of the range as the sources send, up to the bounds on its bytes and its time. */
export async function fetchBranch(
  range: { readonly after: number; readonly to: number },
  sources: readonly Source[],
  { fetch, signal }: FetchBranchDeps,
): Promise<FetchedBranch> {
  const blocks: FetchedBlock[] = [];
  const providers: Source[] = [];
  const failing = new Set<Source>();
  const full = new AbortController();
  let bytes = 0;
  const timer = setTimeout(() => {
    for (const source of sources) failing.add(source);
    full.abort();
  }, MAX_MS);
  await download(range, sources, {
    fetch,
    async accept(some, provider) {
      for (const block of some) {
        bytes += inputByteLength(block);
        if (bytes > MAX_BYTES) full.abort();
        if (full.signal.aborted) break;
        blocks.push(block);
        providers.push(provider);
      }
      return [];
    },
    onFailure: (source) => failing.add(source),
    signal: AbortSignal.any([signal, full.signal]),
  }).finally(() => clearTimeout(timer));
  return { blocks, providers, failing: [...failing] };
}
