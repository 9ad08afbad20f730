/** State of the network before a slot: the check of this node's forger, its log line, and the report for a separate forger. */
import { type BlockHeader, headerToJson, type Network, type Slots } from "@uniknode/protocol";
import type { Logger } from "pino";
import { branchToSwitchTo } from "./forks.ts";
import { headerFromPeer, isForked, type Peer, peersAhead } from "./peer-table.ts";
import type { NetworkState } from "./wire/events.ts";

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
