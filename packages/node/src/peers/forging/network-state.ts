/** State of the network for a forger, from the status of the peers (forger.md 4, p2p.md 9). */
import { type BlockHeader, headerToJson, type Network, type Slots } from "@uniknode/protocol";
import { isForked, type Peer } from "../table/peer.ts";
import { headerFromPeer } from "../verification/header.ts";
import type { NetworkState } from "../wire/replies/results.ts";

export type Observer = {
  readonly network: Network;
  readonly slots: Slots;
  readonly head: BlockHeader;
  /** Network time in seconds. */
  readonly now: number;
  readonly minPeers: number;
};

const NORMAL = 0;
const BELOW_MINIMUM = 1;

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
