/** Propagation of blocks and transactions between nodes: received, fetched and broadcast. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Block, BlockHeader, Network, Rounds, SealedTransaction, Slots } from "@uniknode/protocol";
import type { Logger } from "pino";
import type { Chain } from "../chain/chain.ts";
import type { AdmissionResult } from "../gateway/gateway.ts";
import type { Closing } from "../platform/lifecycle/closing.ts";
import { type Deadline, isOver, remainingMs } from "../platform/threads/call.ts";
import {
  type BlockBroadcast,
  type BlockObservations,
  createBlockBroadcast,
  createBlockObservations,
} from "./block-broadcast.ts";
import { createFetch } from "./download/source.ts";
import {
  createDoubleForging,
  createInboundBlocks,
  type DoubleForging,
  type InboundBlocks,
  type InboundBlocksDeps,
} from "./inbound-blocks.ts";
import { dropUnresponsive, type PeerLifecycle } from "./lifecycle.ts";
import { createSync, type Sync, type SyncDeps } from "./sync/sync.ts";
import {
  createInboundTransactions,
  createRebroadcast,
  createTransactionBroadcast,
  type InboundTransactions,
  type InboundTransactionsDeps,
  type Items,
  type TransactionBroadcast,
} from "./transactions.ts";

export type PropagationDeps = {
  readonly network: Network;
  readonly slots: Slots;
  readonly rounds: Rounds;
  readonly chain: Chain;
  readonly pool: {
    readonly submit: InboundTransactionsDeps["submit"];
    readonly get: (id: string) => SealedTransaction | undefined;
  };
  /** Called when a block was received: it is queued for the chain, or ignored before the first synchronisation. */
  readonly onBlock: (block: Block, state: "received" | "disregarded") => void;
  /** Called with each header from another node; it is neither verified nor on the chain. */
  readonly onForeignHeader: (header: BlockHeader) => void;
  /** Called when the node is in sync with the network for the first time. */
  readonly onStarted: () => void;
  readonly nowMs: () => number;
  readonly logger: Logger;
};

export type Propagation = {
  readonly sync: Sync;
  readonly blocks: InboundBlocks;
  readonly transactions: InboundTransactions;
  /** Broadcasts the items that the pool selected for it. */
  broadcastTransactions(items: Items, result: AdmissionResult): void;
  /** Posts that were dropped before they were sent, since the process started. */
  postsDropped(): { readonly block: number; readonly transactions: number };
};

/**
 * Wait for replies to the last broadcasts at shutdown, after the last of them was sent: the last block of a forger must
 * reach the network, but a peer that does not reply is not waited for.
 */
const REPLY_MS = 1_500;
/** Peers that lack the blocks below the last one may fetch them for this long after their refusal. */
const LINGER_MS = 1_000;

type State = {
  readonly lifecycle: PeerLifecycle;
  readonly deps: PropagationDeps;
  /** Checks the headers of other nodes, which are neither verified nor on the chain. */
  readonly foreignHeaders: DoubleForging;
  readonly observations: BlockObservations;
  readonly blockBroadcast: BlockBroadcast;
  readonly transactionBroadcast: TransactionBroadcast;
  /** Broadcasts that run in the background. */
  readonly pendingSends: PendingSends;
  /** True if the node has been in sync with the network since its start. */
  isStarted: boolean;
};

/** @param closing collects the close functions of everything that is opened */
export function createPropagation(
  lifecycle: PeerLifecycle,
  deps: PropagationDeps,
  closing: Pick<Closing, "add">,
): Propagation {
  const { chain, pool, logger } = deps;
  const state = createState(lifecycle, deps);
  const { blockBroadcast, transactionBroadcast, pendingSends } = state;
  closing.add("pending broadcasts", (deadline) => finishBroadcasts(state, deadline));
  const sync = createSync(syncDeps(state));
  closing.add("synchronisation", sync.close);
  const rebroadcast = createRebroadcast({
    pending: (id) => pool.get(id),
    send: (items) => pendingSends.add(transactionBroadcast.send(items)),
  });
  const unsubscribe = chain.subscribe(() => {
    if (sync.isSynced()) rebroadcast.headMoved(chain.head().height);
  });
  closing.add("rebroadcast", unsubscribe);
  const broadcastTransactions: Propagation["broadcastTransactions"] = (items, result) => {
    rebroadcast.sent(result.data.broadcast, chain.head().height);
    pendingSends.add(transactionBroadcast.broadcast(items, result));
  };
  return {
    sync,
    broadcastTransactions,
    postsDropped: () => ({ block: blockBroadcast.dropped(), transactions: transactionBroadcast.dropped() }),
    blocks: createInboundBlocks(inboundBlocksDeps(state, sync)),
    transactions: createInboundTransactions({
      submit: (items, options) => pool.submit(items, options),
      broadcast: broadcastTransactions,
      logger,
    }),
  };
}

function createState(lifecycle: PeerLifecycle, deps: PropagationDeps): State {
  const { client, peerTable } = lifecycle;
  const { network, slots, chain, pool, logger } = deps;
  const doubleForging = createDoubleForging({ network, slots, header: chain.blocks.header, logger });
  const observations = createBlockObservations();
  const peers = () => peerTable.all().map(({ ip }) => ip);
  const request = dropUnresponsive(client, peerTable);
  const { hasCapacity } = client;
  return {
    lifecycle,
    deps,
    foreignHeaders: {
      check(header) {
        doubleForging.check(header);
        deps.onForeignHeader(header);
      },
    },
    observations,
    blockBroadcast: createBlockBroadcast({ peers, request, hasCapacity, observations, logger }),
    transactionBroadcast: createTransactionBroadcast({
      peers,
      request,
      pending: (id) => pool.get(id),
      logger,
    }),
    pendingSends: createPendingSends((err) =>
      logger.error({ err }, "failed to broadcast a block or transactions"),
    ),
    isStarted: false,
  };
}

async function finishBroadcasts({ blockBroadcast, pendingSends }: State, deadline: Deadline): Promise<void> {
  await pendingSends.settled({ deadline, replyMs: REPLY_MS }, () => blockBroadcast.unsent() > 0);
  await sleep(Math.min(remainingMs(deadline), Math.max(0, LINGER_MS - blockBroadcast.sinceRefusalMs())));
}

function syncDeps(state: State): SyncDeps {
  const { peerTable, client, candidates, discovery, bans } = state.lifecycle;
  const { network, chain, logger, onStarted } = state.deps;
  return {
    network,
    chain,
    peerTable,
    pingAll: discovery.pingAll,
    fetch: createFetch(client.request, network),
    ban: bans.ban,
    suspend: candidates.suspend,
    reinstate: candidates.reinstate,
    onForeignHeader: state.foreignHeaders.check,
    onFetched({ height }) {
      // Blocks that are fetched before the node is in sync are old for every peer.
      if (!state.isStarted) return;
      const [block] = chain.blocks.bytes(height, height);
      if (block) state.pendingSends.add(state.blockBroadcast.announceFetched(height, block));
    },
    onSynced() {
      if (!state.isStarted) onStarted();
      state.isStarted = true;
    },
    logger,
  };
}

function inboundBlocksDeps(state: State, sync: Sync): InboundBlocksDeps {
  const { network, slots, rounds, chain, onBlock, nowMs, logger } = state.deps;
  return {
    network,
    slots,
    rounds,
    chain,
    observations: state.observations,
    doubleForging: state.foreignHeaders,
    isStarted: () => state.isStarted,
    broadcast: (block) => state.pendingSends.add(state.blockBroadcast.broadcast(block)),
    onReceived: (block) => onBlock(block, "received"),
    onDisregarded(block) {
      onBlock(block, "disregarded");
      // Its sender has it.
      sync.trigger();
    },
    onUnchained({ height }) {
      if (height > chain.head().height) sync.trigger();
    },
    ban: state.lifecycle.bans.ban,
    nowMs,
    logger,
  };
}

/** Broadcasts that run in the background, until the node closes. */
type PendingSends = {
  /** Tracks work in the background. */
  add(work: Promise<unknown>): void;
  /**
   * Settles when all work has ended; when nothing is left to send and no reply came for `replyMs`; or at the deadline.
   *
   * @param hasUnsent whether something waits to be sent
   */
  settled(
    times: { readonly deadline: Deadline; readonly replyMs: number },
    hasUnsent: () => boolean,
  ): Promise<void>;
};

/** Interval at which unsent messages are checked at shutdown. */
const POLL_MS = 50;

/** @param onFailure called with the error of failed work */
export function createPendingSends(onFailure: (error: unknown) => void): PendingSends {
  const pending = new Set<Promise<unknown>>();
  return {
    add(work) {
      const watched: Promise<unknown> = work.catch(onFailure).finally(() => pending.delete(watched));
      pending.add(watched);
    },
    async settled({ deadline, replyMs }, hasUnsent) {
      let sentAt = performance.now();
      while (!isOver(deadline) && pending.size > 0) {
        const now = performance.now();
        if (hasUnsent()) sentAt = now;
        if (now - sentAt >= replyMs) return;
        await Promise.race([Promise.all(pending), sleep(POLL_MS)]);
      }
    },
  };
}
