/** What goes from node to node: blocks and transactions, those that arrive, those that are passed on, those fetched. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Rounds } from "@uniknode/ledger";
import type { Block, BlockHeader, Network, SealedTransaction, Slots } from "@uniknode/protocol";
import type { Logger } from "pino";
import type { Chain } from "../chain/chain.ts";
import type { AdmissionAnswer } from "../gateway/gateway.ts";
import type { Closing } from "../platform/lifecycle/closing.ts";
import { createBlockBroadcast } from "./broadcast/blocks.ts";
import { createPendingSends } from "./broadcast/pending-sends.ts";
import { createRebroadcast } from "./broadcast/rebroadcast.ts";
import { createTransactionBroadcast } from "./broadcast/transactions.ts";
import { dropUnresponsive } from "./discovery/drop-unresponsive.ts";
import { createInboundBlocks, type InboundBlocks } from "./inbound/blocks.ts";
import { createDoubleForging } from "./inbound/double-forging.ts";
import { createBlockObservations } from "./inbound/observations.ts";
import { createInboundTransactions, type InboundTransactions, type Items } from "./inbound/transactions.ts";
import type { PeerLifecycle } from "./lifecycle.ts";
import { createFetch } from "./sync/source.ts";
import { createSync, type Sync } from "./sync/sync.ts";

export type PropagationDeps = {
  readonly network: Network;
  readonly slots: Slots;
  readonly rounds: Rounds;
  readonly chain: Chain;
  readonly pool: {
    readonly submit: (items: unknown[]) => Promise<AdmissionAnswer>;
    /** A pending transaction. */
    readonly get: (id: string) => SealedTransaction | undefined;
  };
  /** A block arrived: it goes to the chain, or came before the node was in step for the first time. */
  readonly onBlock: (block: Block, fate: "received" | "disregarded") => void;
  /** A header arrived from another node; it is neither verified nor on the chain. */
  readonly onForeignHeader: (header: BlockHeader) => void;
  /** The node is in step with the network for the first time. */
  readonly onStarted: () => void;
  readonly nowMs: () => number;
  readonly logger: Logger;
};

export type Propagation = {
  readonly sync: Sync;
  readonly blocks: InboundBlocks;
  readonly transactions: InboundTransactions;
  /** Passes on what the pool wants to be passed on. */
  broadcastTransactions(items: Items, answer: AdmissionAnswer): void;
  /** Posts that were not sent, since the process started. */
  postsDropped(): { readonly block: number; readonly transactions: number };
};

/**
 * What is being passed on when the node ends has so long: the last block of a forger must reach its network. An address
 * may have to wait for more than 4 s until it takes another one.
 */
const DRAIN_MS = 6_000;
/** Peers that lack the blocks below the last one fetch them meanwhile. */
const FETCH_MS = 1_000;

/** @param closing is told how to end what is opened */
export function createPropagation(
  { peerTable, client, candidates, discovery, bans }: PeerLifecycle,
  deps: PropagationDeps,
  closing: Pick<Closing, "add">,
): Propagation {
  const { network, slots, rounds, chain, pool, logger, nowMs } = deps;
  const { head } = chain;
  const doubleForging = createDoubleForging({ network, slots, header: chain.blocks.header, logger });
  const look = (foreign: BlockHeader) => {
    doubleForging.look(foreign);
    deps.onForeignHeader(foreign);
  };
  const addresses = () => peerTable.all().map(({ ip }) => ip);
  const request = dropUnresponsive(client, peerTable);
  const observations = createBlockObservations();
  const blockBroadcast = createBlockBroadcast({
    peers: addresses,
    request,
    hasCapacity: client.hasCapacity,
    observations,
    logger,
  });
  const transactionBroadcast = createTransactionBroadcast({
    peers: addresses,
    request,
    pending: pool.get,
    logger,
  });
  const underWay = createPendingSends((err) => logger.error({ err }, "passing on failed"));
  closing.add("passing on", async () => {
    await underWay.ended(DRAIN_MS);
    await sleep(Math.max(0, FETCH_MS - blockBroadcast.sinceRefusalMs()));
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
    onForeignHeader: look,
    onFetched({ height }) {
      // What a node fetches before it is ready is everybody's past.
      if (!isStarted) return;
      const [block] = chain.blocks.bytes(height, height);
      underWay.add(blockBroadcast.passFetched(height, block!));
    },
    onSynced() {
      if (!isStarted) deps.onStarted();
      isStarted = true;
    },
    logger,
  });
  closing.add("synchronisation", sync.close);

  const repeat = createRebroadcast({
    pending: pool.get,
    send: (items) => underWay.add(transactionBroadcast.send(items)),
  });
  const endRepeating = chain.subscribe(() => {
    if (sync.isSynced()) repeat.headMoved(head().height);
  });
  closing.add("repeating", endRepeating);
  const broadcastTransactions: Propagation["broadcastTransactions"] = (items, answer) => {
    repeat.sent(answer.data.broadcast, head().height);
    underWay.add(transactionBroadcast.pass(items, answer));
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
      doubleForging: { look },
      isStarted: () => isStarted,
      broadcast: (block) => underWay.add(blockBroadcast.pass(block)),
      onReceived: (block) => deps.onBlock(block, "received"),
      onDisregarded(block) {
        deps.onBlock(block, "disregarded");
        // Whoever posted it has it.
        sync.wake();
      },
      onUnchained: ({ height }) => {
        if (height > head().height) sync.wake();
      },
      ban: bans.ban,
      nowMs,
      logger,
    }),
    transactions: createInboundTransactions({
      network,
      head,
      submit: pool.submit,
      broadcast: broadcastTransactions,
      logger,
    }),
  };
}
