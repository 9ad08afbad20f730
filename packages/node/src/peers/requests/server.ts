/** The peer server, assembled from the handlers, the rate limits and the transport (p2p.md 6, 7 and 9). */
import {
  type BlockHeader,
  headerToJson,
  type Network,
  type Rounds,
  type SealedTransaction,
  type Slots,
} from "@uniknode/protocol";
import type { Logger } from "pino";
import type { Chain } from "../../chain/chain.ts";
import { matchesAddress, normalizeAddress } from "../addresses.ts";
import { RateLimits } from "../guards/rate-limits.ts";
import type { PeerLifecycle } from "../lifecycle.ts";
import type { PeersOptions } from "../peers-options.ts";
import type { Propagation } from "../propagation.ts";
import type { RequestHandler } from "../transport/calls.ts";
import { PeerServer } from "../transport/server.ts";
import { type NetworkState, type Plugin, type Status, UNIKNODE_PROTOCOL } from "../wire/events.ts";
import { createBlockHandlers } from "./blocks.ts";
import { createForgerHandlers } from "./forger.ts";
import { createRequestHandler } from "./handlers.ts";

export type RequestServerDeps = {
  readonly network: Network;
  readonly slots: Slots;
  readonly rounds: Rounds;
  readonly genesisBlock: Readonly<Record<string, unknown>>;
  readonly chain: Chain;
  readonly pool: {
    readonly size: () => number;
    /** Transactions for the next block. */
    readonly select: () => SealedTransaction[];
  };
  /** Other services of this node, at least one; read for every status. */
  readonly plugins: () => Readonly<Record<string, Plugin>>;
  /** Pings the peers first. */
  readonly networkState: () => Promise<NetworkState>;
  /** An event that a separate forger emits. */
  readonly onForgerEvent: (name: string, body: Readonly<Record<string, unknown>>) => void;
  readonly nowMs: () => number;
  readonly logger: Logger;
};

/** Connections for each peer of a subnet: a peer may open a new one before its old one has ended. */
const CONNECTIONS_PER_PEER = 2;

export function createRequestServer(
  options: PeersOptions,
  lifecycle: PeerLifecycle,
  propagation: Propagation,
  deps: RequestServerDeps,
): PeerServer {
  const { peerTable, traffic, isRefused } = lifecycle;
  const { network, chain, logger } = deps;
  const rateLimits = new RateLimits({
    eventsPerSecond: options.p2pRateLimit,
    exempt: new Set(options.remoteAccess.map(normalizeAddress)),
  });
  return new PeerServer(
    {
      host: options.host,
      port: options.port,
      maxConnectionsPerSubnet: CONNECTIONS_PER_PEER * options.maxPeersPerSubnet,
      remoteAccess: options.remoteAccess,
    },
    {
      network,
      rateLimits,
      isReady: () => true,
      replyHeaders: () => ({ version: options.version, height: chain.head().height }),
      isBanned: isRefused,
      isPeer: (address) => peerTable.get(address) !== undefined,
      onSocket: (socket) => traffic.watch(socket),
      logger,
      handle: buildHandler(options, lifecycle, propagation, { ...deps, rateLimits }),
    },
  );
}

function buildHandler(
  { version, remoteAccess }: PeersOptions,
  { peerTable, candidates, processId }: PeerLifecycle,
  { sync, blocks, transactions }: Propagation,
  deps: RequestServerDeps & { readonly rateLimits: RateLimits },
): RequestHandler {
  const { network, slots, rounds, chain, pool, nowMs } = deps;
  const { state, head } = chain;
  const now = () => slots.timeAt(nowMs());
  const isForger = matchesAddress(remoteAccess);
  return createRequestHandler({
    blocks: createBlockHandlers({ blocks: chain.blocks, head }),
    forger: createForgerHandlers({ network, slots, rounds, state, head, nowMs, pool }),
    inboundBlocks: blocks,
    inboundTransactions: transactions,
    rateLimits: deps.rateLimits,
    status: () => buildStatus({ network, slots, head, now, processId, version, plugins: deps.plugins() }),
    peers: () =>
      peerTable
        .all()
        .toSorted((a, b) => a.latencyMs - b.latencyMs)
        .map(({ ip }) => ip),
    isPeerOrForger: (address) => isForger(address) || peerTable.get(normalizeAddress(address)) !== undefined,
    networkState: deps.networkState,
    triggerSync: () => sync.trigger(),
    onForgerEvent: deps.onForgerEvent,
    onCaller: (address) => void candidates.dial(address),
    genesisBlock: deps.genesisBlock,
    isSynced: () => sync.isSynced(),
  });
}

type StatusDeps = {
  readonly network: Network;
  readonly slots: Slots;
  readonly head: () => BlockHeader;
  /** Network time in seconds. */
  readonly now: () => number;
  /** Announced version. */
  readonly version: string;
  /** Other services of this node, at least one. */
  readonly plugins: Readonly<Record<string, Plugin>>;
  /** Random text that identifies this process. */
  readonly processId: string;
};

/** Builds the reply to `getStatus`: the description of this node (p2p.md 7.2). */
export function buildStatus(deps: StatusDeps): Status {
  const { network, slots, head, now, version, plugins, processId } = deps;
  // Read once, so that height and header are of the same block.
  const header = head();
  const { name, nethash, pubKeyHash, client } = network.description;
  return {
    state: {
      height: header.height,
      forgingAllowed: slots.isForgingPhase(now()),
      currentSlot: slots.slotAt(now()),
      header: headerToJson(header),
    },
    config: {
      version,
      network: {
        version: pubKeyHash,
        // Peers do not compare the names, but reject long ones.
        name: name.slice(0, 20),
        nethash,
        explorer: client.explorer.slice(0, 128),
        token: { name: client.token.slice(0, 8), symbol: client.symbol.slice(0, 5) },
      },
      plugins,
      uniknode: { protocol: UNIKNODE_PROTOCOL, processId },
    },
  };
}
