/**
 * The peers of a node: who they are (`discovery`), how they are talked to (`transport`), what they are answered
 * (`answers`), what they bring (`arrivals`), what they are told (`broadcast`), and how the chain follows them (`sync`,
 * `forks`).
 */
import { randomUUID } from "node:crypto";
import type { Rounds } from "@uniknode/ledger";
import type { Block, BlockHeader, Network, SealedTransaction, Slots } from "@uniknode/protocol";
import type { Logger } from "pino";
import type { Chain } from "../chain/chain.ts";
import type { Verifier } from "../chain/verifier.ts";
import { createClosing } from "../lifecycle/closing.ts";
import type { AdmissionAnswer, PeerInfo, SyncProgress } from "../serving/gateway.ts";
import type { PeerStore } from "../store/peers.ts";
import { createAnswers } from "./answers/answers.ts";
import { createBlockAnswers } from "./answers/blocks.ts";
import { createForgerAnswers } from "./answers/forger.ts";
import { statusOf } from "./answers/status.ts";
import { createBlockArrivals } from "./arrivals/blocks.ts";
import { createDoubleForging } from "./arrivals/double-forging.ts";
import { createSightings } from "./arrivals/sightings.ts";
import { createTransactionArrivals, type Items } from "./arrivals/transactions.ts";
import { createBlockBroadcast } from "./broadcast/blocks.ts";
import { createRepeat } from "./broadcast/repeat.ts";
import { createTransactionBroadcast } from "./broadcast/transactions.ts";
import { createCandidates } from "./discovery/candidates.ts";
import { createDiscovery } from "./discovery/discovery.ts";
import { dropFailing } from "./discovery/drop-failing.ts";
import { createPing } from "./discovery/ping.ts";
import { createReturning } from "./discovery/return.ts";
import { networkState } from "./forging/network-state.ts";
import { obstacleOf } from "./forging/obstacle.ts";
import { reportNetworkState as report } from "./forging/report.ts";
import { createBans } from "./guards/bans.ts";
import { createRateLimits } from "./guards/rate-limits.ts";
import { networkHeight } from "./known/network-height.ts";
import type { Peer } from "./known/peer.ts";
import { createRegister, type Fate } from "./known/register.ts";
import { peerInfo } from "./known/view.ts";
import { localAddressOf, type PeersOptions } from "./options.ts";
import { createFetch } from "./sync/source.ts";
import { createSync } from "./sync/sync.ts";
import { formsOf, matchesAddress } from "./transport/address-patterns.ts";
import { createOutgoing } from "./transport/outgoing.ts";
import { createPeerServer } from "./transport/server.ts";
import { createTraffic, type Traffic } from "./transport/traffic.ts";
import { allowedVersions, isVersionAllowed } from "./version-gate.ts";
import type { Plugin } from "./wire/replies/results.ts";

export type PeersDeps = {
  readonly network: Network;
  readonly slots: Slots;
  readonly rounds: Rounds;
  readonly genesisBlock: Readonly<Record<string, unknown>>;
  readonly chain: Chain;
  readonly verify: Verifier["verify"];
  readonly store: PeerStore;
  readonly pool: {
    readonly submit: (items: unknown[]) => Promise<AdmissionAnswer>;
    readonly size: () => number;
    /** A pending transaction. */
    readonly get: (id: string) => SealedTransaction | undefined;
    /** Transactions for the next block. */
    readonly select: () => SealedTransaction[];
  };
  /** Other services of this node, at least one; asked for once peers are listened to. */
  readonly plugins: () => Readonly<Record<string, Plugin>>;
  /** Whether this node forges with the key. */
  readonly isOwnDelegate: (publicKey: string) => boolean;
  readonly onPeer: (peer: Peer, fate: Fate) => void;
  /** A block arrived and goes to the chain. */
  readonly onBlock: (block: Block) => void;
  /** An event that a separate forger tells. */
  readonly onForgerEvent: (name: string, body: Readonly<Record<string, unknown>>) => void;
  readonly nowMs: () => number;
  readonly logger: Logger;
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
  close(): Promise<void>;
};

/** Longest wait for the peers before forging (p2p.md 15), and share of a slot where that is shorter. */
const FAST_PING_MS = 1_500;
const FAST_PING_SLOTS = 0.2;
/** Connections for each peer of a subnet: an old one may still be ending. */
const CONNECTIONS_PER_PEER = 2;

export function createPeers(options: PeersOptions, deps: PeersDeps): Peers {
  const { network, slots, rounds, chain, logger, nowMs } = deps;
  const { state, head } = chain;
  const closing = createClosing();
  const fastPingMs = Math.min(FAST_PING_MS, FAST_PING_SLOTS * slots.blocktime * 1000);
  const now = () => slots.timeAt(nowMs());
  const header = (height: number): BlockHeader | undefined => chain.blocks.header(height);

  const register = createRegister((peer, fate) => {
    if (fate === "removed") returning.lost(peer.ip);
    deps.onPeer(peer, fate);
  });
  const addresses = () => register.all().map(({ ip }) => ip);
  const traffic = createTraffic();
  const outgoing = createOutgoing(
    { port: options.port, localAddress: localAddressOf(options) },
    { network, onHeight: register.setHeight, onSocket: traffic.watch },
  );
  closing.add("outgoing connections", outgoing.close);
  const ask = dropFailing(outgoing, register);
  const bans = createBans({
    store: deps.store,
    nowMs,
    logger,
    onBan(ip) {
      register.remove(ip);
      outgoing.disconnect(ip);
      deps.store.forget(ip);
    },
  });

  const isWhitelisted = matchesAddress(options.whitelist);
  const isBlacklisted = matchesAddress(options.blacklist);
  const isForger = matchesAddress(options.remoteAccess);
  const isRefused = (address: string) => bans.isBanned(address) || isBlacklisted(address);

  const processId = randomUUID();
  const ping = createPing({
    processId,
    network,
    slots,
    rounds,
    state,
    verify: deps.verify,
    now,
    head,
    header,
    register,
    ask: outgoing.ask,
  });
  const candidates = createCandidates(
    {
      maxPeersPerSubnet: options.maxPeersPerSubnet,
      loopback: options.takesLoopback ? { own: options.host } : undefined,
    },
    {
      register,
      ping,
      isBanned: (ip) => isRefused(ip) || !isWhitelisted(ip),
      disconnect: outgoing.disconnect,
      logger,
    },
  );
  const returning = createReturning((ip) => candidates.submit(ip));
  closing.add("lost peers", returning.close);
  const discovery = createDiscovery(options, {
    register,
    candidates,
    ping,
    outgoing,
    store: deps.store,
    nowMs,
    logger,
  });
  closing.add("discovery", discovery.close);

  // Versions that a milestone rules out are left with its block (p2p.md 10.5).
  const unsubscribe = chain.subscribe(({ applied }) => {
    if (!applied.some(({ block }) => network.isMilestone(block.header.height))) return;
    const ranges = allowedVersions(network, head().height);
    for (const { ip, status } of register.all()) {
      if (isVersionAllowed(status.config.version, ranges, network.description.name)) continue;
      register.remove(ip);
      outgoing.disconnect(ip);
    }
  });
  closing.add("versions", unsubscribe);

  const doubleForging = createDoubleForging({ network, slots, header, logger });
  const sync = createSync({
    network,
    chain,
    register,
    pingAll: discovery.pingAll,
    fetch: createFetch(outgoing.ask, network),
    ban: bans.ban,
    onForeignHeader: doubleForging.look,
    logger,
  });
  closing.add("synchronisation", sync.close);

  const sightings = createSightings();
  const sendBlock = createBlockBroadcast({ network, peers: addresses, ask, sightings, logger });
  const transactionBroadcast = createTransactionBroadcast({ peers: addresses, ask, logger });
  const inBackground = (work: Promise<unknown>) =>
    void work.catch((err) => logger.error({ err }, "passing on failed"));
  const repeat = createRepeat({
    pending: deps.pool.get,
    send: (items) => inBackground(transactionBroadcast.send(items)),
  });
  const broadcastTransactions: Peers["broadcastTransactions"] = (items, answer) => {
    repeat.sent(answer.data.broadcast, head().height);
    inBackground(transactionBroadcast.pass(items, answer));
  };
  const endRepeating = chain.subscribe(() => {
    if (sync.isInStep()) repeat.headMoved(head().height);
  });
  closing.add("repeating", endRepeating);
  const arrivals = createBlockArrivals({
    network,
    slots,
    rounds,
    chain,
    sightings,
    doubleForging,
    broadcast: (block) => inBackground(sendBlock(block)),
    onReceived: deps.onBlock,
    onUnchained: ({ height }) => {
      if (height > head().height) sync.wake();
    },
    onForkSuspected: sync.wake,
    ban: bans.ban,
    nowMs,
    logger,
  });
  const transactions = createTransactionArrivals({
    network,
    head,
    submit: deps.pool.submit,
    broadcast: broadcastTransactions,
    logger,
  });

  const stateNow = () =>
    networkState(register.all(), { network, slots, head: head(), now: now(), minPeers: options.minPeers });
  const pingFast = () => discovery.pingAll({ isForced: true, withinMs: fastPingMs });
  const freshState = async () => {
    await pingFast();
    return stateNow();
  };
  const rateLimits = createRateLimits({
    eventsPerSecond: options.eventsPerSecond,
    exempt: new Set([...options.remoteAccess, ...options.whitelist].flatMap(formsOf)),
  });
  const server = createPeerServer(
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
      replyHeaders: () => ({ version: options.version, height: head().height }),
      isBanned: isRefused,
      onSocket: traffic.watch,
      logger,
      answer: createAnswers({
        blocks: createBlockAnswers({ blocks: chain.blocks, head }),
        forger: createForgerAnswers({ network, slots, rounds, state, head, nowMs, pool: deps.pool }),
        arrivals,
        transactions,
        rateLimits,
        status: () =>
          statusOf({
            network,
            slots,
            head,
            now,
            processId,
            version: options.version,
            plugins: deps.plugins(),
          }),
        peers: () =>
          register
            .all()
            .toSorted((a, b) => a.latencyMs - b.latencyMs)
            .map(({ ip }) => ip),
        isPeerOrForger: (address) =>
          isForger(address) || formsOf(address).some((form) => register.get(form) !== undefined),
        networkState: freshState,
        synchronise: sync.wake,
        onForgerEvent: deps.onForgerEvent,
        onCaller: (address) => void candidates.submit(address),
        genesisBlock: deps.genesisBlock,
        isInStep: sync.isInStep,
      }),
    },
  );

  let reportedHead = "";

  return {
    async start() {
      const port = await server.listen();
      closing.add("server", server.close);
      await discovery.start();
      sync.start();
      return port;
    },
    submit: arrivals.submit,
    broadcastTransactions,
    async obstacle() {
      if (sync.isInStep()) await pingFast();
      const { id } = head();
      // A slot may be tried many times on one head.
      if (reportedHead !== id) report(stateNow(), { isOwnDelegate: deps.isOwnDelegate, logger });
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
    close: () => closing.closeAll((part, err) => logger.error({ part, err }, "closing failed")),
  };
}
