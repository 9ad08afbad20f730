/** The peers of a node, whose changes are reported as events. */
import type { BlockHeader } from "@uniknode/protocol";
import { eventOfArrival } from "../../events/block-events.ts";
import { eventOfPeer, eventOfSeparateForger } from "../../events/node-events.ts";
import { peerView } from "../../peers/peer-table.ts";
import { Peers } from "../../peers/peers.ts";
import type { PeersOptions } from "../../peers/peers-options.ts";
import type { Closing } from "../../platform/lifecycle/closing.ts";
import { type Subscribe, Subscribers } from "../../platform/notifier.ts";
import { PeerStore } from "../../store/node/peers.ts";
import type { NodeCore } from "./core.ts";
import type { NodeDeps, NodeOptions } from "./node-options.ts";

export type NodePeers = {
  readonly peers: Peers;
  /** The listener is called with every header from another node; it is neither verified nor on the chain. */
  readonly subscribeToHeaders: Subscribe<BlockHeader>;
};

type NodePeersDeps = Pick<NodeDeps, "genesisBlock"> & {
  readonly core: Pick<NodeCore, "shared" | "consensus" | "pool">;
  /** Port of the HTTP API. */
  readonly httpPort: () => number;
  /** Called when the node is in sync with the network for the first time. */
  readonly onSynced: () => void;
};

export function createNodePeers(
  options: PeersOptions,
  { delegates }: Pick<NodeOptions, "delegates">,
  { core, genesisBlock, httpPort, onSynced }: NodePeersDeps,
  onStop: Closing["add"],
): NodePeers {
  const { shared, pool } = core;
  const { chain, verifier } = core.consensus;
  const { network, database, events, reporter, nowMs } = shared;
  const headers = new Subscribers<BlockHeader>();
  const peers = new Peers(options, {
    ...shared,
    genesisBlock,
    chain,
    verify: (checks) => verifier.verify(checks),
    store: new PeerStore(database),
    pool,
    plugins: () => ({ "@arkecosystem/core-api": { enabled: true, port: httpPort() } }),
    isOwnDelegate: (publicKey) => delegates.has(publicKey),
    onPeer(peer, change) {
      const view = peerView(peer, { port: options.port, network, nowMs: nowMs() });
      reporter.report(eventOfPeer(view, change, nowMs()));
    },
    onBlock(block, outcome) {
      if (events.isRecorded(`block.${outcome}`)) reporter.report(eventOfArrival(block, outcome));
    },
    onForeignHeader: (header) => headers.notify(header),
    onStarted: onSynced,
    onForgerEvent: (name, body) => reporter.report(eventOfSeparateForger(name, body, nowMs())),
  });
  onStop("peers", (deadline) => peers.close(deadline));
  return { peers, subscribeToHeaders: (listener) => headers.subscribe(listener) };
}
