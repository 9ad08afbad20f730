/**
 * The peers of a node: their lifecycle, the propagation of blocks and transactions, the server for their
 * requests, and the preflight check against them.
 */
import type { EncodedBlock } from "@uniknode/protocol";
import type { PeerBounds, SyncProgress } from "../gateway/figures.ts";
import type { AdmissionResult, PeerInfo } from "../gateway/gateway.ts";
import { createClosing } from "../platform/lifecycle/closing.ts";
import { networkState } from "./forging/network-state.ts";
import { checkPreflight } from "./forging/preflight.ts";
import { reportNetworkState } from "./forging/report.ts";
import type { Items } from "./inbound/transactions.ts";
import { createPeerLifecycle, type PeerLifecycleDeps } from "./lifecycle.ts";
import type { PeersOptions } from "./options.ts";
import { createPropagation, type PropagationDeps } from "./propagation.ts";
import { createRequestServer, type RequestServerDeps } from "./requests/server.ts";
import { networkHeight } from "./table/peer.ts";
import type { Traffic } from "./transport/traffic.ts";
import { fault as unmaskingFault } from "./transport/unmasking.ts";
import { peerInfo } from "./view.ts";

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
  submit(block: EncodedBlock): Promise<string | undefined>;
  /** Broadcasts the items that the pool selected for it. */
  broadcastTransactions(items: Items, answer: AdmissionResult): void;
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
  close(): Promise<void>;
};

/** Maximum wait for the peers before forging (p2p.md 15), and the share of a slot where that is shorter. */
const FAST_PING_MS = 1_500;
const FAST_PING_SLOTS = 0.2;

export function createPeers(options: PeersOptions, deps: PeersDeps): Peers {
  const { network, slots, logger, nowMs } = deps;
  const { head } = deps.chain;
  const closing = createClosing();
  const lifecycle = createPeerLifecycle(options, deps, closing);
  const { peerTable, discovery, traffic } = lifecycle;
  // The server closes after the last broadcasts: peers may have to fetch the blocks below them.
  closing.add("server", () => server.close());
  const propagation = createPropagation(lifecycle, deps, closing);
  const { sync } = propagation;

  const fastPingMs = Math.min(FAST_PING_MS, FAST_PING_SLOTS * slots.blocktime * 1000);
  const pingFast = () => discovery.pingAll({ isForced: true, withinMs: fastPingMs });
  const now = () => slots.timeAt(nowMs());
  const stateNow = () =>
    networkState(peerTable.all(), { network, slots, head: head(), now: now(), minPeers: options.minPeers });
  const server = createRequestServer(options, lifecycle, propagation, {
    ...deps,
    async networkState() {
      await pingFast();
      return stateNow();
    },
  });

  let reportedHead = "";

  return {
    async start() {
      if (unmaskingFault !== undefined) {
        logger.warn(
          { reason: unmaskingFault },
          "addon bufferutil not used: frames are unmasked in JavaScript",
        );
      }
      const port = await server.listen();
      await discovery.start();
      sync.start();
      return port;
    },
    submit: propagation.blocks.submit,
    broadcastTransactions: propagation.broadcastTransactions,
    async preflightFailure() {
      if (sync.isSynced()) await pingFast();
      const { id } = head();
      // A slot may be attempted many times on one head.
      if (reportedHead !== id) {
        reportNetworkState(stateNow(), { isOwnDelegate: deps.isOwnDelegate, logger });
      }
      reportedHead = id;
      const failure = checkPreflight(peerTable.all(), { head: head(), isSynced: sync.isSynced() });
      if (failure !== undefined) sync.trigger();
      return failure;
    },
    list: () => peerTable.all().map((peer) => peerInfo(peer, options.port)),
    networkHeight() {
      const heights = peerTable.all().map(({ height }) => height);
      return heights.length === 0 ? undefined : networkHeight(heights);
    },
    progress: sync.progress,
    traffic: traffic.read,
    bounds: () => ({
      ...server.figures(),
      banned: lifecycle.bans.count(),
      postsDropped: propagation.postsDropped(),
    }),
    close: () => closing.closeAll(logger),
  };
}
