/** Transactions between nodes: received from peers (p2p.md 7.6), and broadcast to them (p2p.md 12.2). */

import { type SealedTransaction, transactionToJson } from "@uniknode/protocol";
import type { Logger } from "pino";
import type { AdmissionResult } from "../gateway/gateway.ts";
import { setNewest } from "../platform/bounded-entries.ts";
import { lengthOf } from "../platform/json/size.ts";
import { sample } from "./peer-table.ts";
import type { PeerClient } from "./transport/client.ts";
import { isTransactionSmall } from "./wire/events.ts";
import { CLIENT_MESSAGE_BYTES, MAX_TRANSACTIONS, TIMES_MS } from "./wire/limits.ts";

export type Items = readonly Readonly<Record<string, unknown>>[];

export type InboundTransactionsDeps = {
  /** Admits the items of a message that match the batch schema. */
  readonly submit: (
    items: readonly unknown[],
    options: { readonly isBatch: true },
  ) => Promise<AdmissionResult>;
  /** Broadcasts the items that the pool selected for it. */
  readonly broadcast: (items: Items, result: AdmissionResult) => void;
  readonly logger: Logger;
};

export type InboundTransactions = {
  /** Queues the items of one message. */
  post(items: Items): void;
};

/** Queued messages; further ones are dropped, and their senders send them again. An old node stores more on disk. */
const MAX_WAITING = 500;
/** Characters of all queued messages, if there are several: their values take several times as much memory. */
const MAX_WAITING_LENGTH = 8 * 1024 * 1024;

export function createInboundTransactions(deps: InboundTransactionsDeps): InboundTransactions {
  const { logger } = deps;
  const waiting: { readonly items: Items; readonly length: number }[] = [];
  let waitingLength = 0;
  let isBusy = false;

  async function take(items: Items): Promise<void> {
    if (items.length === 0) return;
    // A message is accepted or rejected as a whole (pool.md 2).
    const result = await deps.submit(items, { isBatch: true });
    if (result.data.invalid.length === 0) deps.broadcast(items, result);
  }

  async function work(): Promise<void> {
    isBusy = true;
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      waitingLength -= next.length;
      await take(next.items).catch((err) => logger.debug({ err }, "failed to admit posted transactions"));
    }
    isBusy = false;
  }

  return {
    post(items) {
      const length = lengthOf(items);
      const isFull = waiting.length >= MAX_WAITING || waitingLength + length > MAX_WAITING_LENGTH;
      if (isFull && waiting.length > 0) return;
      waiting.push({ items, length });
      waitingLength += length;
      if (!isBusy) void work();
    },
  };
}

type TransactionBroadcastDeps = {
  /** Addresses of all peers. */
  readonly peers: () => string[];
  readonly request: PeerClient["request"];
  readonly pending: (id: string) => SealedTransaction | undefined;
  readonly logger: Logger;
};

const MAX_RECIPIENTS = 20;

export type TransactionBroadcast = {
  /** Sends the items that the pool selected for broadcast. */
  broadcast(items: Items, result: AdmissionResult): Promise<void>;
  send(items: Items): Promise<void>;
  /** Posts that were dropped because too many waited for a peer, since the process started. */
  dropped(): number;
};

export function createTransactionBroadcast(deps: TransactionBroadcastDeps): TransactionBroadcast {
  let dropped = 0;

  async function post(ip: string, transactions: Record<string, unknown>[]): Promise<void> {
    const limits = { timeoutMs: TIMES_MS.postReply, maxBytes: CLIENT_MESSAGE_BYTES.other };
    await deps.request(ip, "p2p.peer.postTransactions", { transactions }, limits).catch((error) => {
      if (error.code === "PEER_BUSY") dropped++;
      deps.logger.debug({ ip, reason: error.message }, "failed to send transactions");
    });
  }

  async function send(items: Items): Promise<void> {
    // A message with a transaction that is too large, or with too many, would be refused as a whole.
    const sendable = items.filter(isTransactionSmall);
    for (let at = 0; at < sendable.length; at += MAX_TRANSACTIONS) {
      const batch = sendable.slice(at, at + MAX_TRANSACTIONS);
      await Promise.all(sample(deps.peers(), MAX_RECIPIENTS).map((ip) => post(ip, [...batch])));
    }
  }

  return {
    send,
    dropped: () => dropped,
    async broadcast(items, { data: { broadcast } }) {
      const received = new Map(items.map((item) => [item.id, item]));
      await send(
        broadcast.flatMap((id) => {
          // Transactions that did not fit into the pool are available as received only.
          const transaction = deps.pending(id);
          const item = transaction ? transactionToJson(transaction.data) : received.get(id);
          return item ? [item] : [];
        }),
      );
    },
  };
}

type RebroadcastDeps = {
  /** Returns a transaction while it is pending. */
  readonly pending: (id: string) => SealedTransaction | undefined;
  readonly send: (transactions: readonly Record<string, unknown>[]) => void;
};

type Rebroadcast = {
  /** Transactions were sent while the head was at `height`. */
  sent(ids: readonly string[], height: number): void;
  /** Called when the head is at `height`: sends transactions again that have been pending for long. */
  headMoved(height: number): void;
};

/** Most transactions are in a block by then; on the main network it is a little more than a minute. */
const PAUSE_BLOCKS = 10;
/** Maximum number of transactions to send again, the size of a full pool; older ones are omitted. */
const MAX_REMEMBERED = 15_000;

/**
 * Broadcasts transactions again that stay pending: a peer may refuse a transaction that it would accept later, for
 * instance below a milestone whose rules allow it (trap A1), or while its pool is full.
 */
export function createRebroadcast({ pending, send }: RebroadcastDeps): Rebroadcast {
  /** Height at which each transaction was sent last, lowest first. */
  const sentAt = new Map<string, number>();

  return {
    sent(ids, height) {
      for (const id of ids) setNewest(sentAt, id, height, MAX_REMEMBERED);
    },
    headMoved(height) {
      const due: SealedTransaction[] = [];
      for (const [id, at] of sentAt) {
        if (height - at < PAUSE_BLOCKS || due.length === MAX_TRANSACTIONS) break;
        const transaction = pending(id);
        if (transaction) due.push(transaction);
        else sentAt.delete(id);
      }
      if (due.length === 0) return;
      for (const { data } of due) setNewest(sentAt, data.id, height, MAX_REMEMBERED);
      send(due.map(({ data }) => transactionToJson(data)));
    },
  };
}
