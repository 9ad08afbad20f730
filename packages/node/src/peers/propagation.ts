/** Propagation of blocks and transactions between nodes: received, fetched and broadcast. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Block,
  type BlockHeader,
  type Network,
  type Rounds,
  type SealedTransaction,
  type Slots,
  transactionFromJson,
} from "@uniknode/protocol";
import type { Logger } from "pino";
import type { Chain } from "../chain/chain.ts";
import type { AdmissionResult } from "../gateway/gateway.ts";
import type { Closing } from "../platform/lifecycle/closing.ts";
import { type Deadline, isOver, remainingMs } from "../platform/threads/call.ts";
import { BlockBroadcast, BlockObservations } from "./block-broadcast.ts";
import { createFetch } from "./download/source.ts";
import { DoubleForging, InboundBlocks, type InboundBlocksDeps } from "./inbound-blocks.ts";
import { dropUnresponsive, type PeerLifecycle } from "./lifecycle.ts";
import { Sync, type SyncDeps } from "./sync/sync.ts";
import {
  InboundTransactions,
  type InboundTransactionsDeps,
  type Items,
  Rebroadcast,
  TransactionBroadcast,
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

/**
 * Wait for replies to the last broadcasts at shutdown, after the last of them was sent: the last block of a forger must
 * reach the network, but a peer that does not reply is not waited for.
 */
const REPLY_MS = 1_500;
/** Peers that lack the blocks below the last one may fetch them for this long after their refusal. */
const LINGER_MS = 1_000;

export class Propagation {
  readonly sync: Sync;
  readonly blocks: InboundBlocks;
  readonly transactions: InboundTransactions;
  readonly #lifecycle: PeerLifecycle;
  readonly #deps: PropagationDeps;
  readonly #doubleForging: DoubleForging;
  readonly #observations = new BlockObservations();
  readonly #blockBroadcast: BlockBroadcast;
  readonly #transactionBroadcast: TransactionBroadcast;
  readonly #rebroadcast: Rebroadcast;
  readonly #pendingSends: PendingSends;
  /** True if the node has been in sync with the network since its start. */
  #isStarted = false;

  /** @param closing collects the close functions of everything that is opened */
  constructor(lifecycle: PeerLifecycle, deps: PropagationDeps, closing: Pick<Closing, "add">) {
    const { network, slots, chain, pool, logger } = deps;
    const { client, peerTable } = lifecycle;
    this.#lifecycle = lifecycle;
    this.#deps = deps;
    this.#doubleForging = new DoubleForging({
      network,
      slots,
      header: (height) => chain.blocks.header(height),
      logger,
    });
    this.#pendingSends = new PendingSends((err) =>
      logger.error({ err }, "failed to broadcast a block or transactions"),
    );
    const sending = {
      peers: () => peerTable.all().map(({ ip }) => ip),
      request: dropUnresponsive(client, peerTable),
      pending: (id: string) => pool.get(id),
      logger,
    };
    this.#blockBroadcast = new BlockBroadcast({
      ...sending,
      hasCapacity: (ip, event, count) => client.hasCapacity(ip, event, count),
      observations: this.#observations,
    });
    this.#transactionBroadcast = new TransactionBroadcast({
      ...sending,
      read: (item) =>
        transactionFromJson(item, { network, height: chain.head().height }, { checkSignature: false }),
    });
    this.#rebroadcast = new Rebroadcast({
      pending: sending.pending,
      send: (items) => this.#pendingSends.add(this.#transactionBroadcast.send(items)),
    });
    closing.add("pending broadcasts", (deadline) => this.#finishBroadcasts(deadline));
    this.sync = new Sync(this.#syncDeps());
    closing.add("synchronisation", () => this.sync.close());
    const unsubscribe = chain.subscribe(() => {
      if (this.sync.isSynced()) this.#rebroadcast.headMoved(chain.head().height);
    });
    closing.add("rebroadcast", unsubscribe);
    this.blocks = new InboundBlocks(this.#inboundBlocksDeps());
    this.transactions = new InboundTransactions({
      submit: (items, options) => pool.submit(items, options),
      broadcast: (items, result) => this.broadcastTransactions(items, result),
      logger,
    });
  }

  /** Broadcasts the items that the pool selected for it. */
  broadcastTransactions(items: Items, result: AdmissionResult): void {
    this.#rebroadcast.sent(result.data.broadcast, this.#deps.chain.head().height);
    this.#pendingSends.add(this.#transactionBroadcast.broadcast(items, result));
  }

  /** Posts that were dropped before they were sent, since the process started. */
  postsDropped(): { readonly block: number; readonly transactions: number } {
    return { block: this.#blockBroadcast.dropped(), transactions: this.#transactionBroadcast.dropped() };
  }

  async #finishBroadcasts(deadline: Deadline): Promise<void> {
    const blocks = this.#blockBroadcast;
    await this.#pendingSends.settled({ deadline, replyMs: REPLY_MS }, () => blocks.unsent() > 0);
    await sleep(Math.min(remainingMs(deadline), Math.max(0, LINGER_MS - blocks.sinceRefusalMs())));
  }

  /** Checks a header of another node, which is neither verified nor on the chain. */
  #checkForeign(header: BlockHeader): void {
    this.#doubleForging.check(header);
    this.#deps.onForeignHeader(header);
  }

  #syncDeps(): SyncDeps {
    const { peerTable, client, candidates, discovery, bans } = this.#lifecycle;
    const { network, slots, chain, nowMs, logger, onStarted } = this.#deps;
    return {
      network,
      chain,
      peerTable,
      pingAll: (round) => discovery.pingAll(round),
      fetch: createFetch(client.request, network),
      ban: (ip, reason) => bans.ban(ip, reason),
      suspend: (ip) => candidates.suspend(ip),
      reinstate: (ip) => candidates.reinstate(ip),
      onForeignHeader: (header) => this.#checkForeign(header),
      onFetched: ({ height }) => {
        // Blocks that are fetched before the node is in sync are old for every peer.
        if (!this.#isStarted) return;
        const [block] = chain.blocks.bytes(height, height);
        if (block) this.#pendingSends.add(this.#blockBroadcast.announceFetched(height, block));
      },
      onSynced: () => {
        if (!this.#isStarted) onStarted();
        this.#isStarted = true;
      },
      slots,
      nowMs,
      logger,
    };
  }

  #inboundBlocksDeps(): InboundBlocksDeps {
    const { network, slots, rounds, chain, onBlock, nowMs, logger } = this.#deps;
    return {
      network,
      slots,
      rounds,
      chain,
      header: (height) => chain.blocks.header(height),
      observations: this.#observations,
      checkForeign: (header) => this.#checkForeign(header),
      isStarted: () => this.#isStarted,
      broadcast: (block) => this.#pendingSends.add(this.#blockBroadcast.broadcast(block)),
      onReceived: (block) => onBlock(block, "received"),
      onDisregarded: (block) => {
        onBlock(block, "disregarded");
        // Its sender has it.
        this.sync.trigger();
      },
      onUnchained: ({ height }) => {
        if (height > chain.head().height) this.sync.trigger();
      },
      ban: (ip, reason) => this.#lifecycle.bans.ban(ip, reason),
      nowMs,
      logger,
    };
  }
}

/** Interval at which unsent messages are checked at shutdown. */
const POLL_MS = 50;

/** Broadcasts that run in the background, until the node closes. */
export class PendingSends {
  readonly #onFailure: (error: unknown) => void;
  readonly #pending = new Set<Promise<unknown>>();

  /** @param onFailure called with the error of failed work */
  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  /** Tracks work in the background. */
  add(work: Promise<unknown>): void {
    const watched: Promise<unknown> = work
      .catch(this.#onFailure)
      .finally(() => this.#pending.delete(watched));
    this.#pending.add(watched);
  }

  /**
   * Settles when all work has ended; when nothing is left to send and no reply came for `replyMs`; or at the deadline.
   *
   * @param hasUnsent whether something waits to be sent
   */
  async settled(
    { deadline, replyMs }: { readonly deadline: Deadline; readonly replyMs: number },
    hasUnsent: () => boolean,
  ): Promise<void> {
    let sentAt = performance.now();
    while (!isOver(deadline) && this.#pending.size > 0) {
      const now = performance.now();
      if (hasUnsent()) sentAt = now;
      if (now - sentAt >= replyMs) return;
      await Promise.race([Promise.all(this.#pending), sleep(POLL_MS)]);
    }
  }
}
