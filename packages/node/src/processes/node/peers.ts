/** The peers of a node, whose changes are reported as events. */
import type { BlockHeader } from "@uniknode/protocol";
import type { Chain } from "../../chain/chain.ts";
import { eventOfArrival } from "../../events/block-events.ts";
import { eventOfPeer, eventOfSeparateForger } from "../../events/node-events.ts";
import { peerView } from "../../peers/peer-table.ts";
import { Peers } from "../../peers/peers.ts";
import type { PeersOptions } from "../../peers/peers-options.ts";
import type { Closing } from "../../platform/lifecycle/closing.ts";
import { createSubscribers, type Subscribe } from "../../platform/notifier.ts";
import type { Pool } from "../../pool/pool.ts";
import type { Database } from "../../store/engine/database.ts";
import { createPeerStore } from "../../store/node/peers.ts";
import type { Verifier } from "../../verification/verifier.ts";
import type { NodeEventLog } from "./event-log.ts";
import type { Environment, NodeDeps, NodeOptions } from "./node-options.ts";

export type NodePeers = {
  readonly peers: Peers;
  /** The listener is called with every header from another node; it is neither verified nor on the chain. */
  readonly subscribeToHeaders: Subscribe<BlockHeader>;
};

type NodePeersDeps = Omit<Environment, "now"> &
  Pick<NodeEventLog, "events" | "report"> &
  Pick<NodeDeps, "genesisBlock"> & {
    readonly chain: Chain;
    readonly verifier: Pick<Verifier, "verify">;
    readonly database: Database;
    readonly pool: Pool;
    /** Port of the HTTP API. */
    readonly httpPort: () => number;
    /** Called when the node is in sync with the network for the first time. */
    readonly onSynced: () => void;
  };

export function createNodePeers(
  options: PeersOptions,
  { delegates }: Pick<NodeOptions, "delegates">,
  deps: NodePeersDeps,
  onStop: Closing["add"],
): NodePeers {
  const { network, slots, rounds, chain, verifier, database, pool, events, report, nowMs, logger } = deps;
  const headers = createSubscribers<BlockHeader>();
  const peers = new Peers(options, {
    network,
    slots,
    rounds,
    genesisBlock: deps.genesisBlock,
    chain,
    verify: (checks) => verifier.verify(checks),
    store: createPeerStore(database),
    pool,
    plugins: () => ({ "@arkecosystem/core-api": { enabled: true, port: deps.httpPort() } }),
    isOwnDelegate: (publicKey) => delegates.has(publicKey),
    onPeer(peer, change) {
      const view = peerView(peer, { port: options.port, network, nowMs: nowMs() });
      report(eventOfPeer(view, change, nowMs()));
    },
    onBlock(block, outcome) {
      if (events.isRecorded(`block.${outcome}`)) report(eventOfArrival(block, outcome));
    },
    onForeignHeader: headers.notify,
    onStarted: deps.onSynced,
    onForgerEvent: (name, body) => report(eventOfSeparateForger(name, body, nowMs())),
    nowMs,
    logger,
  });
  onStop("peers", (deadline) => peers.close(deadline));
  return { peers, subscribeToHeaders: headers.subscribe };
}
