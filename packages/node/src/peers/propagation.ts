/** Propagation of blocks and transactions between nodes: received, fetched and broadcast. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Rounds } from "@uniknode/ledger";
import type { BatchOptions, Block, BlockHeader, Network, SealedTransaction, Slots } from "@uniknode/protocol";
import type { Logger } from "pino";
import type { Chain } from "../chain/chain.ts";
import type { AdmissionAnswer } from "../gateway/gateway.ts";
import type { Closing } from "../platform/lifecycle/closing.ts";
import { createBlockBroadcast } from "./broadcast/blocks.ts";
import { createPendingSends } from "./broadcast/pending-sends.ts";
import { createRebroadcast } from "./broadcast/rebroadcast.ts";
import { createTransactionBroadcast } from "./broadcast/transactions.ts";
import { dropUnresponsive } from "./discovery/drop-unresponsive.ts";
import { createFetch } from "./download/source.ts";
import { createInboundBlocks, type InboundBlocks } from "./inbound/blocks.ts";
import { createDoubleForging } from "./inbound/double-forging.ts";
import { createBlockObservations } from "./inbound/observations.ts";
import { createInboundTransactions, type InboundTransactions, type Items } from "./inbound/transactions.ts";
import type { PeerLifecycle } from "./lifecycle.ts";
import { createSync, type Sync } from "./sync/sync.ts";

export type PropagationDeps = {
  readonly network: Network;
  readonly slots: Slots;
  readonly rounds: Rounds;
  readonly chain: Chain;
  readonly pool: {
    readonly submit: (items: readonly unknown[], batch: BatchOptions) => Promise<AdmissionAnswer>;
    /** A pending transaction. */
    readonly get: (id: string) => SealedTransaction | undefined;
  };
  /** A block was received: it goes to the chain, or came before the node was in sync for the first time. */
  readonly onBlock: (block: Block, state: "received" | "disregarded") => void;
  /** A header was received from another node; it is neither verified nor on the chain. */
  readonly onForeignHeader: (header: BlockHeader) => void;
  /** The node is in sync with the network for the first time. */
  readonly onStarted: () => void;
  readonly nowMs: () => number;
  readonly logger: Logger;
};

export type Propagation = {
  readonly sync: Sync;
  readonly blocks: InboundBlocks;
  readonly transactions: InboundTransactions;
  /** Broadcasts the items that the pool selected for it. */
  broadcastTransactions(items: Items, answer: AdmissionAnswer): void;
  /** Posts that were dropped before they were sent, since the process started. */
  postsDropped(): { readonly block: number; readonly transactions: number };
};

/**
 * Times for pending broadcasts at shutdown: the last block of a forger must reach the network. On networks with fast
 * blocks it may wait for the rate limit of an address; a peer that then does not reply is not waited for.
 */
const DRAIN = { withinMs: 4_400, replyMs: 1_500 };
/** Peers that lack the blocks below the last one may fetch them for this long after their refusal. */
const LINGER_MS = 1_000;

/** @param closing collects the close functions of everything that is opened */
export function createPropagation(
  { peerTable, client, candidates, discovery, bans }: PeerLifecycle,
  deps: PropagationDeps,
  closing: Pick<Closing, "add">,
): Propagation {
  const { network, slots, rounds, chain, pool, logger, nowMs } = deps;
  const { head } = chain;
  const doubleForging = createDoubleForging({ network, slots, header: chain.blocks.header, logger });
  const checkForeignHeader = (foreign: BlockHeader) => {
    doubleForging.check(foreign);
    deps.onForeignHeader(foreign);
  };
  const peerAddresses = () => peerTable.all().map(({ ip }) => ip);
  const request = dropUnresponsive(client, peerTable);
  const observations = createBlockObservations();
  const blockBroadcast = createBlockBroadcast({
    peers: peerAddresses,
    request,
    hasCapacity: client.hasCapacity,
    observations,
    logger,
  });
  const transactionBroadcast = createTransactionBroadcast({
    peers: peerAddresses,
    request,
    pending: pool.get,
    logger,
  });
  const pendingSends = createPendingSends((err) => logger.error({ err }, "broadcast failed"));
  closing.add("pending broadcasts", async () => {
    await pendingSends.settled(DRAIN, () => blockBroadcast.unsent() > 0);
    await sleep(Math.max(0, LINGER_MS - blockBroadcast.sinceRefusalMs()));
  });

  let isStarted = false;
  const sync = createSync({
    network,
    chain,
    peerTable,
    pingAll: discovery.pingAll,
    fetch: createFetch(client.request, network),
    ban: bans.ban,
    suspend: candidates.suspend,
    reinstate: candidates.reinstate,
    onForeignHeader: checkForeignHeader,
    onFetched({ height }) {
      // Blocks that are fetched before the node is in sync are old for every peer.
      if (!isStarted) return;
      const [block] = chain.blocks.bytes(height, height);
      pendingSends.add(blockBroadcast.announceFetched(height, block!));
    },
    onSynced() {
      if (!isStarted) deps.onStarted();
      isStarted = true;
    },
    logger,
  });
  closing.add("synchronisation", sync.close);

  const rebroadcast = createRebroadcast({
    pending: pool.get,
    send: (items) => pendingSends.add(transactionBroadcast.send(items)),
  });
  const unsubscribe = chain.subscribe(() => {
    if (sync.isSynced()) rebroadcast.headMoved(head().height);
  });
  closing.add("rebroadcast", unsubscribe);
  const broadcastTransactions: Propagation["broadcastTransactions"] = (items, answer) => {
    rebroadcast.sent(answer.data.broadcast, head().height);
    pendingSends.add(transactionBroadcast.broadcast(items, answer));
  };

  return {
    sync,
    broadcastTransactions,
    postsDropped: () => ({
      block: blockBroadcast.dropped(),
      transactions: transactionBroadcast.dropped(),
    }),
    blocks: createInboundBlocks({
      network,
      slots,
      rounds,
      chain,
      observations,
      doubleForging: { check: checkForeignHeader },
      isStarted: () => isStarted,
      broadcast: (block) => pendingSends.add(blockBroadcast.broadcast(block)),
      onReceived: (block) => deps.onBlock(block, "received"),
      onDisregarded(block) {
        deps.onBlock(block, "disregarded");
        // Its sender has it.
        sync.trigger();
      },
      onUnchained: ({ height }) => {
        if (height > head().height) sync.trigger();
      },
      ban: bans.ban,
      nowMs,
      logger,
    }),
    transactions: createInboundTransactions({
      submit: pool.submit,
      broadcast: broadcastTransactions,
      logger,
    }),
  };
}
