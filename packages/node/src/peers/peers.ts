/**
 * The peers of a node: who they are (`acquaintance`), what goes to and fro (`exchange`), how they are received
 * (`reception`), and what they make of forging.
 */
import type { Block } from "@uniknode/protocol";
import type { PeerBounds, SyncProgress } from "../gateway/figures.ts";
import type { AdmissionAnswer, PeerInfo } from "../gateway/gateway.ts";
import { createClosing } from "../platform/lifecycle/closing.ts";
import { networkState } from "./forging/network-state.ts";
import { obstacleOf } from "./forging/preflight.ts";
import { reportNetworkState } from "./forging/report.ts";
import type { Items } from "./inbound/transactions.ts";
import { type AcquaintanceDeps, createAcquaintance } from "./lifecycle.ts";
import type { PeersOptions } from "./options.ts";
import { createExchange, type ExchangeDeps } from "./propagation.ts";
import { createReception, type ReceptionDeps } from "./requests/server.ts";
import { networkHeight } from "./table/network-height.ts";
import { peerInfo } from "./table/view.ts";
import type { Traffic } from "./transport/traffic.ts";

export type PeersDeps = AcquaintanceDeps &
  ExchangeDeps &
  Omit<ReceptionDeps, "networkState"> & {
    /** Whether this node forges with the key. */
    readonly isOwnDelegate: (publicKey: string) => boolean;
  };

export type Peers = {
  /** Listens, looks for peers once, and follows them from then on. Settles with the port that it listens on. */
  start(): Promise<number>;
  /** Gives a block of this node's forger to the chain and to the network; the answer is why it was not taken. */
  submit(block: Block): Promise<string | undefined>;
  /** Passes on what the pool wants to be passed on. */
  broadcastTransactions(items: Items, answer: AdmissionAnswer): void;
  /** Why no block may be forged now, if so. Asks the peers where they stand. */
  obstacle(): Promise<string | undefined>;
  list(): PeerInfo[];
  /** Height of the network as the peers tell it; absent while there is none. */
  networkHeight(): number | undefined;
  /** Absent while in step with the network. */
  progress(): SyncProgress | undefined;
  /** Bytes on the wire, since the process started. */
  traffic: Traffic["read"];
  bounds(): PeerBounds;
  close(): Promise<void>;
};

/** Longest wait for the peers before forging (p2p.md 15), and share of a slot where that is shorter. */
const FAST_PING_MS = 1_500;
const FAST_PING_SLOTS = 0.2;

export function createPeers(options: PeersOptions, deps: PeersDeps): Peers {
  const { network, slots, logger, nowMs } = deps;
  const { head } = deps.chain;
  const closing = createClosing();
  const acquaintance = createAcquaintance(options, deps, closing);
  const { register, discovery, traffic } = acquaintance;
  // It serves until the last blocks are passed on: peers may have to fetch those below them.
  closing.add("server", () => server.close());
  const exchange = createExchange(acquaintance, deps, closing);
  const { sync } = exchange;

  const fastPingMs = Math.min(FAST_PING_MS, FAST_PING_SLOTS * slots.blocktime * 1000);
  const pingFast = () => discovery.pingAll({ isForced: true, withinMs: fastPingMs });
  const now = () => slots.timeAt(nowMs());
  const stateNow = () =>
    networkState(register.all(), { network, slots, head: head(), now: now(), minPeers: options.minPeers });
  const server = createReception(options, acquaintance, exchange, {
    ...deps,
    async networkState() {
      await pingFast();
      return stateNow();
    },
  });

  let reportedHead = "";

  return {
    async start() {
      const port = await server.listen();
      await discovery.start();
      sync.start();
      return port;
    },
    submit: exchange.blocks.submit,
    broadcastTransactions: exchange.broadcastTransactions,
    async obstacle() {
      if (sync.isInStep()) await pingFast();
      const { id } = head();
      // A slot may be tried many times on one head.
      if (reportedHead !== id) {
        reportNetworkState(stateNow(), { isOwnDelegate: deps.isOwnDelegate, logger });
      }
      reportedHead = id;
      const obstacle = obstacleOf(register.all(), { head: head(), isInStep: sync.isInStep() });
      if (obstacle !== undefined) sync.wake();
      return obstacle;
    },
    list: () => register.all().map((peer) => peerInfo(peer, options.port)),
    networkHeight() {
      const heights = register.all().map(({ height }) => height);
      return heights.length === 0 ? undefined : networkHeight(heights);
    },
    progress: sync.progress,
    traffic: traffic.read,
    bounds: () => ({
      ...server.figures(),
      banned: acquaintance.bans.count(),
      postsDropped: exchange.postsDropped(),
    }),
    close: () => closing.closeAll(logger),
  };
}
