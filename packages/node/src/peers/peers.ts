/**
 * The peers of a node: their lifecycle, the propagation of blocks and transactions, the server for their
 * requests, and the state of the network before a slot: the preflight check, its log line, and the report for a separate forger.
 */
import {
  type BlockHeader,
  type EncodedBlock,
  headerToJson,
  type Network,
  type Slots,
} from "@uniknode/protocol";
import type { Logger } from "pino";
import type { PeerBounds, SyncProgress } from "../gateway/figures.ts";
import type { AdmissionResult, PeerInfo } from "../gateway/gateway.ts";
import { Closing } from "../platform/lifecycle/closing.ts";
import type { Deadline } from "../platform/threads/call.ts";
import { branchToSwitchTo } from "./forks.ts";
import { PeerLifecycle, type PeerLifecycleDeps } from "./lifecycle.ts";
import { headerFromPeer, isForked, networkHeight, type Peer, peerInfo } from "./peer-table.ts";
import type { PeersOptions } from "./peers-options.ts";
import { Propagation, type PropagationDeps } from "./propagation.ts";
import { createRequestServer, type RequestServerDeps } from "./requests/server.ts";
import type { Items } from "./transactions.ts";
import type { TrafficFigures } from "./transport/memory-bounds.ts";
import type { PeerServer } from "./transport/server.ts";
import { fault as unmaskingFault } from "./transport/unmasking.ts";
import type { NetworkState } from "./wire/events.ts";

export type PeersDeps = Omit<PeerLifecycleDeps, "endSessions"> &
  PropagationDeps &
  Omit<RequestServerDeps, "networkState"> & {
    /** Returns true if this node forges with the key. */
    readonly isOwnDelegate: (publicKey: string) => boolean;
  };

/** Maximum wait for the peers before forging (p2p.md 15), and the share of a slot where that is shorter. */
const FAST_PING_MS = 1_500;
const FAST_PING_SLOTS = 0.2;

export class Peers {
  readonly #options: PeersOptions;
  readonly #deps: PeersDeps;
  readonly #closing = new Closing();
  readonly #lifecycle: PeerLifecycle;
  readonly #propagation: Propagation;
  readonly #server: PeerServer;
  /** Id of the head at which the state of the network was last logged. */
  #reportedHead = "";

  constructor(options: PeersOptions, deps: PeersDeps) {
    this.#options = options;
    this.#deps = deps;
    const endSessions = (address: string) => this.#server.endSessions(address);
    this.#lifecycle = new PeerLifecycle(options, { ...deps, endSessions }, this.#closing);
    // The server closes after the last broadcasts: peers may have to fetch the blocks below them.
    this.#closing.add("server", () => this.#server.close());
    this.#propagation = new Propagation(this.#lifecycle, deps, this.#closing);
    this.#server = createRequestServer(options, this.#lifecycle, this.#propagation, {
      ...deps,
      networkState: async () => {
        await this.#pingFast();
        return this.#networkState();
      },
    });
  }

  /** Listens, searches for peers, and starts the synchronisation. Settles with the port. */
  async start(): Promise<number> {
    if (unmaskingFault !== undefined) {
      const text = "addon bufferutil not used: frames are unmasked in JavaScript";
      this.#deps.logger.warn({ reason: unmaskingFault }, text);
    }
    const port = await this.#server.listen();
    await this.#lifecycle.discovery.start();
    this.#propagation.sync.start();
    return port;
  }

  /** Gives a block of this node's forger to the chain and broadcasts it. Settles with why the chain refused it. */
  submitBlock(block: EncodedBlock): Promise<string | undefined> {
    return this.#propagation.blocks.submitBlock(block);
  }

  /** Broadcasts the items that the pool selected for it. */
  broadcastTransactions(items: Items, result: AdmissionResult): void {
    this.#propagation.broadcastTransactions(items, result);
  }

  /** Returns the reason why no block may be forged now; undefined if there is none. Pings the peers first. */
  async preflightFailure(): Promise<string | undefined> {
    const { chain, isOwnDelegate, logger } = this.#deps;
    const { sync } = this.#propagation;
    if (sync.isSynced()) await this.#pingFast();
    const { id } = chain.head();
    // A slot may be attempted many times on one head.
    if (this.#reportedHead !== id) reportNetworkState(this.#networkState(), { isOwnDelegate, logger });
    this.#reportedHead = id;
    const head = { head: chain.head(), isSynced: sync.isSynced() };
    const failure = checkPreflight(this.#lifecycle.peerTable.all(), head);
    if (failure !== undefined) sync.trigger();
    return failure;
  }

  list(): PeerInfo[] {
    return this.#lifecycle.peerTable.all().map((peer) => peerInfo(peer, this.#options.port));
  }

  /** Returns the height of the network as the peers claim it; undefined without peers. */
  networkHeight(): number | undefined {
    const heights = this.#lifecycle.peerTable.all().map(({ height }) => height);
    return heights.length === 0 ? undefined : networkHeight(heights);
  }

  /** Absent while in sync with the network. */
  progress(): SyncProgress | undefined {
    return this.#propagation.sync.progress();
  }

  /** Bytes on the wire since the process started. */
  traffic(): TrafficFigures {
    return this.#lifecycle.traffic.read();
  }

  bounds(): PeerBounds {
    const banned = this.#lifecycle.bans.count();
    return { ...this.#server.figures(), banned, postsDropped: this.#propagation.postsDropped() };
  }

  /** @param deadline ends the wait for peers that have not received the last blocks; starts now if absent */
  close(deadline?: Deadline): Promise<void> {
    return this.#closing.closeAll(this.#deps.logger, deadline);
  }

  #pingFast(): Promise<void> {
    const withinMs = Math.min(FAST_PING_MS, FAST_PING_SLOTS * this.#deps.slots.blocktime * 1000);
    return this.#lifecycle.discovery.pingAll({ isForced: true, withinMs });
  }

  #networkState(): NetworkState {
    const { network, slots, chain, nowMs } = this.#deps;
    const now = slots.timeAt(nowMs());
    const { minPeers } = this.#options;
    return networkState(this.#lifecycle.peerTable.all(), {
      network,
      slots,
      head: chain.head(),
      now,
      minPeers,
    });
  }
}

/**
 * Returns the reason why the node must not forge on its head; undefined if there is none. Neither a quorum
 * nor a number of peers is required: on these networks a node forges alone if necessary (forger.md 4,
 * traps.md D6). However, no peer may be ahead with headers that were verified: any key can sign a claimed head.
 */
export function checkPreflight(
  peers: readonly Peer[],
  { head, isSynced }: { readonly head: BlockHeader; readonly isSynced: boolean },
): string | undefined {
  if (!isSynced) return `not in sync with the network at height ${head.height}`;
  const ahead = peers.filter((peer) => !isForked(peer) && peer.verification.verifiedHeight > head.height);
  if (ahead.length > 0) {
    const height = Math.max(...ahead.map(({ verification }) => verification.verifiedHeight));
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
