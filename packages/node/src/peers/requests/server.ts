/** The peer server: its handlers of the events of the protocol, its rate limits and its transport (p2p.md 5 to 7 and 9). */
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
import type { InboundBlocks } from "../inbound-blocks.ts";
import type { PeerLifecycle } from "../lifecycle.ts";
import type { PeersOptions } from "../peers-options.ts";
import type { Propagation } from "../propagation.ts";
import type { InboundTransactions } from "../transactions.ts";
import { type Caller, ReplyError, type RequestHandler } from "../transport/calls.ts";
import { PeerServer } from "../transport/server.ts";
import type { Call } from "../wire/client-messages.ts";
import {
  type EventName,
  isInternal,
  type NetworkState,
  type Plugin,
  type ResultOf,
  type Status,
  UNIKNODE_PROTOCOL,
} from "../wire/events.ts";
import { MAX_PEERS, RATE_LIMITS } from "../wire/limits.ts";
import { NOT_READY } from "../wire/server-messages.ts";
import { BlockHandlers, ForgerHandlers, ReplyQueue } from "./handlers.ts";

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
  const { peerTable, traffic } = lifecycle;
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
      isBanned: (address) => lifecycle.isRefused(address),
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
    blocks: new BlockHandlers({ blocks: chain.blocks, head }),
    forger: new ForgerHandlers({ network, slots, rounds, state, head, nowMs, pool }),
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

export type RequestHandlerDeps = {
  readonly blocks: BlockHandlers;
  readonly forger: ForgerHandlers;
  readonly inboundBlocks: Pick<InboundBlocks, "post">;
  readonly inboundTransactions: Pick<InboundTransactions, "post">;
  readonly rateLimits: RateLimits;
  readonly status: () => Status;
  /** Addresses of peers by increasing latency. */
  readonly peers: () => string[];
  /** Returns true if an address, in any form, belongs to a peer or a separate forger. */
  readonly isPeerOrForger: (address: string) => boolean;
  /** Pings the peers first. */
  readonly networkState: () => Promise<NetworkState>;
  /** Starts a round of synchronisation. */
  readonly triggerSync: () => void;
  /** An event that a separate forger emits. */
  readonly onForgerEvent: (name: string, body: Readonly<Record<string, unknown>>) => void;
  /** Called with the address of a caller, which may become a peer. */
  readonly onCaller: (address: string) => void;
  readonly genesisBlock: Readonly<Record<string, unknown>>;
  /** Returns true if the node is in sync with the network: otherwise a forger must not build on its head. */
  readonly isSynced: () => boolean;
};

type RequestHandlers = {
  readonly [E in EventName]: (
    argument: Extract<Call, { event: E }>["argument"],
    caller: Caller,
  ) => ResultOf<E> | Promise<ResultOf<E>>;
};

/** Maximum for one client: a peer requests further blocks only after the reply or its timeout. */
const MAX_QUEUED_REPLIES = 4;

export function createRequestHandler(deps: RequestHandlerDeps): RequestHandler {
  const { blocks, forger, rateLimits } = deps;
  const replyQueue = new ReplyQueue({ maxPerClient: MAX_QUEUED_REPLIES });

  const handlers: RequestHandlers = {
    // A client rejects a longer list.
    "p2p.peer.getPeers": () =>
      deps
        .peers()
        .slice(0, MAX_PEERS)
        .map((ip) => ({ ip })),
    "p2p.peer.getStatus": deps.status,
    "p2p.peer.getCommonBlocks": (argument) => blocks.getCommonBlocks(argument),
    "p2p.peer.getBlocks": (argument, { address }) =>
      replyQueue.add(address, () => blocks.getBlocks(argument)),
    "p2p.peer.postBlock": async ({ block }, caller) => {
      await deps.inboundBlocks.post(block, caller);
      return {};
    },
    "p2p.peer.postTransactions": ({ transactions }, { address }) => {
      deps.inboundTransactions.post(transactions, address);
      return [];
    },
    "p2p.internal.acceptNewPeer": ({ ip }) => {
      deps.onCaller(ip);
      return {};
    },
    "p2p.internal.isPeerOrForger": ({ ip }) => ({ isPeerOrForger: deps.isPeerOrForger(ip) }),
    "p2p.internal.emitEvent": ({ event, body }) => {
      deps.onForgerEvent(event, body);
      return {};
    },
    "p2p.internal.getUnconfirmedTransactions": () => forger.getUnconfirmedTransactions(),
    "p2p.internal.getCurrentRound": () => forger.getCurrentRound(),
    "p2p.internal.getNetworkState": deps.networkState,
    "p2p.internal.getRateLimitStatus": ({ ip, endpoint }) =>
      rateLimits.peek(normalizeAddress(ip), endpoint, performance.now()),
    "p2p.internal.isBlockedByRateLimit": ({ ip }) => ({
      blocked: rateLimits.isBlocked(normalizeAddress(ip), performance.now()),
    }),
    "p2p.internal.syncBlockchain": () => {
      deps.triggerSync();
      return {};
    },
    "p2p.internal.getRateLimitedEndpoints": () => Object.keys(RATE_LIMITS) as (keyof typeof RATE_LIMITS)[],
    "uniknode.peer.getBlocks": (argument, { address }) =>
      replyQueue.add(address, () => blocks.getPackedBlocks(argument)),
    "uniknode.peer.getGenesis": () => ({ genesisBlock: deps.genesisBlock }),
  };

  return async (call, caller) => {
    if (isInternal(call.event) && !deps.isSynced()) throw new ReplyError(NOT_READY);
    if (!isInternal(call.event)) deps.onCaller(caller.address);
    // The argument belongs to the event, which the type of the table cannot express.
    const handle = handlers[call.event] as (argument: unknown, caller: Caller) => ResultOf<EventName>;
    return handle(call.argument, caller);
  };
}
