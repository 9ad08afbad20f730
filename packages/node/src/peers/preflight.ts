/**
 * State of the network before a slot: branches of other nodes, which one replaces blocks of ours, and how it is fetched; the check of this
 * node's forger, its log line, and the report for a separate forger. A fetched branch is kept in memory until it is on the chain.
 */
import { type BlockHeader, headerToJson, type Network, type Slots } from "@uniknode/protocol";
import type { Logger } from "pino";
import { type FetchedBlock, inputByteLength } from "../chain/pipeline/receive.ts";
import { download } from "./download/download.ts";
import type { Fetch, Source } from "./download/source.ts";
import { headerFromPeer, isForked, type Peer, peersAhead } from "./peer-table.ts";
import type { NetworkState } from "./wire/events.ts";

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
  /** Sources that did not send the blocks that they claim. */
  readonly failing: readonly Source[];
};

/** Maximum bytes of a branch in memory: 5,000 blocks of fifty transfers are 42 MB. */
const MAX_BYTES = 128 * 1024 * 1024;

/** Fetches as much of the range as the sources send, up to the bound on its bytes. */
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
  });
  return { blocks, providers, failing: [...failing] };
}

/**
 * Returns the reason why the node must not forge on its head; undefined if there is none. Neither a quorum
 * nor a number of peers is required: on these networks a node forges alone if necessary (forger.md 4,
 * traps.md D6). However, no verified peer may be ahead.
 */
export function checkPreflight(
  peers: readonly Peer[],
  { head, isSynced }: { readonly head: BlockHeader; readonly isSynced: boolean },
): string | undefined {
  if (!isSynced) return `not in sync with the network at height ${head.height}`;
  const ahead = peersAhead(peers, head.height);
  if (ahead.length > 0) {
    const height = Math.max(...ahead.map(({ verification }) => verification.hisHeight));
    return `behind: ${ahead.length} of ${peers.length} peers are at height ${height}, this node at ${head.height}`;
  }
  const branch = branchToSwitchTo(peers, head.height);
  if (!branch) return undefined;
  return (
    `on a wrong branch: ${branch.peers.length} of ${peers.length} peers left it at height ` +
    `${branch.commonHeight} and are at height ${branch.height}`
  );
}

type Observer = {
  readonly network: Network;
  readonly slots: Slots;
  readonly head: BlockHeader;
  /** Network time in seconds. */
  readonly now: number;
  readonly minPeers: number;
};

const NORMAL = 0;
const BELOW_MINIMUM = 1;

/** Returns the state of the network for a forger, from the status of the peers (forger.md 4, p2p.md 9). */
export function networkState(peers: readonly Peer[], observer: Observer): NetworkState {
  const { network, slots, head, now, minPeers } = observer;
  const overHeight = peers.filter(({ height }) => height > head.height);
  const against = peers.filter((peer) => peer.height > head.height || isForked(peer));
  const slot = slots.slotAt(now);
  return {
    status: peers.length < minPeers ? BELOW_MINIMUM : NORMAL,
    nodeHeight: head.height,
    lastBlockId: head.id,
    quorumDetails: {
      peersQuorum: peers.length - against.length,
      peersNoQuorum: against.length,
      peersOverHeight: overHeight.length,
      peersOverHeightBlockHeaders: Object.fromEntries(
        overHeight.flatMap(({ status: { state } }) => {
          if (!state.header || state.height <= head.height) return [];
          return [[state.header.id, headerToJson(headerFromPeer(state.header, network))]];
        }),
      ),
      peersForked: peers.filter(isForked).length,
      peersDifferentSlot: peers.filter(({ status }) => status.state.currentSlot !== slot).length,
      peersForgingNotAllowed: peers.filter(({ status }) => !status.state.forgingAllowed).length,
    },
  };
}

/**
 * Logs the state of the network before a slot of this node (forger.md 4), without effect on forging.
 *
 * @param deps `isOwnDelegate` returns true if this node forges with the key
 */
export function reportNetworkState(
  { nodeHeight, quorumDetails }: NetworkState,
  {
    isOwnDelegate,
    logger,
  }: { readonly isOwnDelegate: (publicKey: string) => boolean; readonly logger: Logger },
): void {
  const { peersOverHeightBlockHeaders, ...figures } = quorumDetails;
  const quorum = shareOfAgreeing(figures);
  const level = isQuorumEnough(quorum) ? "debug" : "info";
  logger[level]({ height: nodeHeight, quorum, ...figures }, "about to forge");
  for (const { height, id, generatorPublicKey } of Object.values(peersOverHeightBlockHeaders)) {
    if (!isOwnDelegate(generatorPublicKey)) continue;
    logger.warn(
      { height, id, generatorPublicKey },
      "another process appears to forge with a key of this node",
    );
  }
}

const MIN_QUORUM = 0.66;

/** Share of the peers that agree with this node (p2p.md 14); the forgers of these networks do not require it. */
export const shareOfAgreeing = ({
  peersQuorum,
  peersNoQuorum,
}: Pick<NetworkState["quorumDetails"], "peersQuorum" | "peersNoQuorum">): number =>
  peersQuorum === 0 ? 0 : peersQuorum / (peersQuorum + peersNoQuorum);

export const isQuorumEnough = (quorum: number): boolean => quorum >= MIN_QUORUM;
