/** What goes from node to node: blocks and transactions, those that arrive, those that are passed on, those fetched. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Rounds } from "@uniknode/ledger";
import type { Block, BlockHeader, Network, SealedTransaction, Slots } from "@uniknode/protocol";
import type { Logger } from "pino";
import type { Chain } from "../chain/chain.ts";
import type { AdmissionAnswer } from "../gateway/gateway.ts";
import type { Closing } from "../platform/lifecycle/closing.ts";
import { createBlockBroadcast } from "./broadcast/blocks.ts";
import { createUnderWay } from "./broadcast/pending-sends.ts";
import { createRepeat } from "./broadcast/rebroadcast.ts";
import { createTransactionBroadcast } from "./broadcast/transactions.ts";
import { dropFailing } from "./discovery/drop-unresponsive.ts";
import { type BlockArrivals, createBlockArrivals } from "./inbound/blocks.ts";
import { createDoubleForging } from "./inbound/double-forging.ts";
import { createSightings } from "./inbound/observations.ts";
import { createTransactionArrivals, type Items, type TransactionArrivals } from "./inbound/transactions.ts";
import type { Acquaintance } from "./lifecycle.ts";
import { createFetch } from "./sync/source.ts";
import { createSync, type Sync } from "./sync/sync.ts";

export type ExchangeDeps = {
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

export type Exchange = {
  readonly sync: Sync;
  readonly blocks: BlockArrivals;
  readonly transactions: TransactionArrivals;
  /** Passes on what the pool wants to be passed on. */
  broadcastTransactions(items: Items, answer: AdmissionAnswer): void;
  /** Posts that were not sent, since the process started. */
  postsDropped(): { readonly block: number; readonly transactions: number };
};

/**
 * What is being passed on when the node ends has so long: the last block of a forger must reach its network. An address
 * may have to wait for more than 4 s until it takes another one.
 */
const FAREWELL_MS = 6_000;
/** Peers that lack the blocks below the last one fetch them meanwhile. */
const FETCH_MS = 1_000;

/** @param closing is told how to end what is opened */
export function createExchange(
  { register, outgoing, candidates, discovery, bans }: Acquaintance,
  deps: ExchangeDeps,
  closing: Pick<Closing, "add">,
): Exchange {
  const { network, slots, rounds, chain, pool, logger, nowMs } = deps;
  const { head } = chain;
  const doubleForging = createDoubleForging({ network, slots, header: chain.blocks.header, logger });
  const look = (foreign: BlockHeader) => {
    doubleForging.look(foreign);
    deps.onForeignHeader(foreign);
  };
  const addresses = () => register.all().map(({ ip }) => ip);
  const ask = dropFailing(outgoing, register);
  const sightings = createSightings();
  const blockBroadcast = createBlockBroadcast({
    network,
    peers: addresses,
    ask,
    hasRoom: outgoing.hasRoom,
    sightings,
    logger,
  });
  const transactionBroadcast = createTransactionBroadcast({
    peers: addresses,
    ask,
    pending: pool.get,
    logger,
  });
  const underWay = createUnderWay((err) => logger.error({ err }, "passing on failed"));
  closing.add("passing on", async () => {
    await underWay.ended(FAREWELL_MS);
    await sleep(Math.max(0, FETCH_MS - blockBroadcast.sinceRefusalMs()));
  });

  let isStarted = false;
  const sync = createSync({
    network,
    chain,
    register,
    pingAll: discovery.pingAll,
    fetch: createFetch(outgoing.ask, network),
    ban: bans.ban,
    doubt: candidates.doubt,
    trust: candidates.trust,
    onForeignHeader: look,
    onFetched({ height }) {
      // What a node fetches before it is ready is everybody's past.
      if (isStarted) underWay.add(blockBroadcast.passFetched(chain.blocks.block(height)!));
    },
    onInStep() {
      if (!isStarted) deps.onStarted();
      isStarted = true;
    },
    logger,
  });
  closing.add("synchronisation", sync.close);

  const repeat = createRepeat({
    pending: pool.get,
    send: (items) => underWay.add(transactionBroadcast.send(items)),
  });
  const endRepeating = chain.subscribe(() => {
    if (sync.isInStep()) repeat.headMoved(head().height);
  });
  closing.add("repeating", endRepeating);
  const broadcastTransactions: Exchange["broadcastTransactions"] = (items, answer) => {
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
    blocks: createBlockArrivals({
      network,
      slots,
      rounds,
      chain,
      sightings,
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
    transactions: createTransactionArrivals({
      network,
      head,
      submit: pool.submit,
      broadcast: broadcastTransactions,
      logger,
    }),
  };
}
