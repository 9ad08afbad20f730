/**
 * The peers of a node: their lifecycle, the propagation of blocks and transactions, the server for their
 * requests, and the preflight check against them.
 */
import type { EncodedBlock } from "@uniknode/protocol";
import type { Logger } from "pino";
import type { PeerBounds, SyncProgress } from "../gateway/figures.ts";
import type { AdmissionResult, PeerInfo } from "../gateway/gateway.ts";
import { createClosing } from "../platform/lifecycle/closing.ts";
import type { Deadline } from "../platform/threads/call.ts";
import { createPeerLifecycle, type PeerLifecycle, type PeerLifecycleDeps } from "./lifecycle.ts";
import { networkHeight, peerInfo } from "./peer-table.ts";
import type { PeersOptions } from "./peers-options.ts";
import { checkPreflight, networkState, reportNetworkState } from "./preflight.ts";
import { createPropagation, type Propagation, type PropagationDeps } from "./propagation.ts";
import { createRequestServer, type RequestServerDeps } from "./requests/server.ts";
import type { Items } from "./transactions.ts";
import type { Traffic } from "./transport/traffic.ts";
import { fault as unmaskingFault } from "./transport/unmasking.ts";
import type { NetworkState } from "./wire/events.ts";

export type PeersDeps = PeerLifecycleDeps &
  PropagationDeps &
  Omit<RequestServerDeps, "networkState"> & {
    /** Returns true if this node forges with the key. */
    readonly isOwnDelegate: (publicKey: string) => boolean;
  };

export type Peers = {
  /** Listens, runs the first round of discovery, and starts the synchronisation. Settles with the port. */
  start(): Promise<number>;
  /** Gives a block of this node's forger to the chain and broadcasts it. Settles with why the chain refused it. */
  submitBlock(block: EncodedBlock): Promise<string | undefined>;
  /** Broadcasts the items that the pool selected for it. */
  broadcastTransactions(items: Items, result: AdmissionResult): void;
  /** Returns the reason why no block may be forged now; undefined if there is none. Pings the peers first. */
  preflightFailure(): Promise<string | undefined>;
  list(): PeerInfo[];
  /** Returns the height of the network as the peers claim it; undefined without peers. */
  networkHeight(): number | undefined;
  /** Absent while in sync with the network. */
  progress(): SyncProgress | undefined;
  /** Bytes on the wire since the process started. */
  traffic: Traffic["read"];
  bounds(): PeerBounds;
  /** @param deadline ends the wait for peers that have not received the last blocks; starts now if absent */
  close(deadline?: Deadline): Promise<void>;
};

/** Maximum wait for the peers before forging (p2p.md 15), and the share of a slot where that is shorter. */
const FAST_PING_MS = 1_500;
const FAST_PING_SLOTS = 0.2;

type State = {
  readonly options: PeersOptions;
  readonly deps: PeersDeps;
  readonly lifecycle: PeerLifecycle;
  readonly propagation: Propagation;
  /** Id of the head at which the state of the network was last logged. */
  reportedHead: string;
};

export function createPeers(options: PeersOptions, deps: PeersDeps): Peers {
  const closing = createClosing();
  const lifecycle = createPeerLifecycle(options, deps, closing);
  const { peerTable, discovery, traffic, bans } = lifecycle;
  // The server closes after the last broadcasts: peers may have to fetch the blocks below them.
  closing.add("server", () => server.close());
  const propagation = createPropagation(lifecycle, deps, closing);
  const { sync, blocks, broadcastTransactions, postsDropped } = propagation;
  const state: State = { options, deps, lifecycle, propagation, reportedHead: "" };
  const server = createRequestServer(options, lifecycle, propagation, {
    ...deps,
    async networkState() {
      await pingFast(state);
      return stateNow(state);
    },
  });
  return {
    async start() {
      logUnmasking(deps.logger);
      const port = await server.listen();
      await discovery.start();
      sync.start();
      return port;
    },
    submitBlock: blocks.submitBlock,
    broadcastTransactions,
    preflightFailure: () => preflightFailure(state),
    list: () => peerTable.all().map((peer) => peerInfo(peer, options.port)),
    networkHeight() {
      const heights = peerTable.all().map(({ height }) => height);
      return heights.length === 0 ? undefined : networkHeight(heights);
    },
    progress: sync.progress,
    traffic: traffic.read,
    bounds: () => ({ ...server.figures(), banned: bans.count(), postsDropped: postsDropped() }),
    close: (deadline) => closing.closeAll(deps.logger, deadline),
  };
}

function logUnmasking(logger: Logger): void {
  if (unmaskingFault === undefined) return;
  logger.warn({ reason: unmaskingFault }, "addon bufferutil not used: frames are unmasked in JavaScript");
}

function pingFast({ deps, lifecycle }: State): Promise<void> {
  const withinMs = Math.min(FAST_PING_MS, FAST_PING_SLOTS * deps.slots.blocktime * 1000);
  return lifecycle.discovery.pingAll({ isForced: true, withinMs });
}

function stateNow({ options, deps, lifecycle }: State): NetworkState {
  const { network, slots, chain, nowMs } = deps;
  const now = slots.timeAt(nowMs());
  const { minPeers } = options;
  return networkState(lifecycle.peerTable.all(), { network, slots, head: chain.head(), now, minPeers });
}

async function preflightFailure(state: State): Promise<string | undefined> {
  const { deps, lifecycle, propagation } = state;
  const { chain, isOwnDelegate, logger } = deps;
  const { sync } = propagation;
  if (sync.isSynced()) await pingFast(state);
  const { id } = chain.head();
  // A slot may be attempted many times on one head.
  if (state.reportedHead !== id) reportNetworkState(stateNow(state), { isOwnDelegate, logger });
  state.reportedHead = id;
  const head = { head: chain.head(), isSynced: sync.isSynced() };
  const failure = checkPreflight(lifecycle.peerTable.all(), head);
  if (failure !== undefined) sync.trigger();
  return failure;
}
