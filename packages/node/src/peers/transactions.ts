/** Transactions between nodes: received from peers (p2p.md 7.6), and broadcast to them (p2p.md 12.2). */
import { type SealedTransaction, transactionToJson } from "@uniknode/protocol";
import type { Logger } from "pino";
import type { AdmissionResult } from "../gateway/gateway.ts";
import { clientGroup } from "../platform/addresses.ts";
import { setNewest } from "../platform/bounded-entries.ts";
import { lengthOf } from "../platform/json/external.ts";
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

/**
 * Characters of all queued messages, and of those of one client; a message counts as 16 KiB at least. Further ones are dropped, and their
 * senders send them again. An old node stores more on disk.
 */
const MAX_WAITING = 8 * 1024 * 1024;
const MAX_OF_CLIENT = 1024 * 1024;
const MIN_LENGTH = 16 * 1024;

type Message = { readonly items: Items; readonly client: string; readonly length: number };

export class InboundTransactions {
  readonly #deps: InboundTransactionsDeps;
  readonly #waiting: Message[] = [];
  #waitingLength = 0;
  /** Characters of the queued messages of each client. */
  readonly #lengths = new Map<string, number>();
  #isBusy = false;

  constructor(deps: InboundTransactionsDeps) {
    this.#deps = deps;
  }

  /** Queues the items of one message: the reply is immediate, and messages are processed one after another. */
  post(items: Items, address: string): void {
    const length = Math.max(lengthOf(items), MIN_LENGTH);
    const client = clientGroup(address);
    const before = this.#lengths.get(client) ?? 0;
    const isTooMuch = before > 0 && before + length > MAX_OF_CLIENT;
    const isFull = this.#waiting.length > 0 && this.#waitingLength + length > MAX_WAITING;
    if (isTooMuch || isFull) return;
    this.#waiting.push({ items, client, length });
    this.#waitingLength += length;
    this.#lengths.set(client, before + length);
    if (!this.#isBusy) void this.#work();
  }

  async #work(): Promise<void> {
    this.#isBusy = true;
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      const { client, length } = next;
      this.#waitingLength -= length;
      const left = (this.#lengths.get(client) ?? 0) - length;
      if (left > 0) this.#lengths.set(client, left);
      else this.#lengths.delete(client);
      await this.#take(next.items).catch((err) =>
        this.#deps.logger.debug({ err }, "failed to admit posted transactions"),
      );
    }
    this.#isBusy = false;
  }

  async #take(items: Items): Promise<void> {
    if (items.length === 0) return;
    // A message with an invalid transaction is not passed on (pool.md 2).
    const result = await this.#deps.submit(items, { isBatch: true });
    if (result.data.invalid.length === 0) this.#deps.broadcast(items, result);
  }
}

type TransactionBroadcastDeps = {
  /** Addresses of all peers. */
  readonly peers: () => string[];
  readonly request: PeerClient["request"];
  readonly pending: (id: string) => SealedTransaction | undefined;
  /** Reads an item without verifying it. */
  readonly read: (item: Items[number]) => SealedTransaction;
  readonly logger: Logger;
};

const MAX_RECIPIENTS = 20;

export class TransactionBroadcast {
  readonly #deps: TransactionBroadcastDeps;
  #dropped = 0;

  constructor(deps: TransactionBroadcastDeps) {
    this.#deps = deps;
  }

  /** Sends the items that the pool selected for broadcast. */
  async broadcast(items: Items, { data: { broadcast } }: AdmissionResult): Promise<void> {
    const received = new Map(items.map((item) => [item.id, item]));
    await this.send(
      broadcast.flatMap((id) => {
        // Transactions that did not fit into the pool are available as received only.
        const transaction = this.#deps.pending(id) ?? this.#read(received.get(id));
        return transaction ? [transactionToJson(transaction.data)] : [];
      }),
    );
  }

  /** Reads an item, whose other members peers would refuse. */
  #read(item: Items[number] | undefined): SealedTransaction | undefined {
    try {
      return item && this.#deps.read(item);
    } catch {
      // A block has changed the rules.
      return undefined;
    }
  }

  async send(items: Items): Promise<void> {
    // A message with a transaction that is too large, or with too many, would be refused as a whole.
    const sendable = items.filter(isTransactionSmall);
    for (let at = 0; at < sendable.length; at += MAX_TRANSACTIONS) {
      const batch = sendable.slice(at, at + MAX_TRANSACTIONS);
      await Promise.all(sample(this.#deps.peers(), MAX_RECIPIENTS).map((ip) => this.#post(ip, [...batch])));
    }
  }

  async #post(ip: string, transactions: Record<string, unknown>[]): Promise<void> {
    const limits = { timeoutMs: TIMES_MS.postReply, maxBytes: CLIENT_MESSAGE_BYTES.other };
    await this.#deps.request(ip, "p2p.peer.postTransactions", { transactions }, limits).catch((error) => {
      if (error.code === "PEER_BUSY") this.#dropped++;
      this.#deps.logger.debug({ ip, reason: error.message }, "failed to send transactions");
    });
  }

  /** Posts that were dropped because too many waited for a peer, since the process started. */
  dropped(): number {
    return this.#dropped;
  }
}

type RebroadcastDeps = {
  /** Returns a transaction while it is pending. */
  readonly pending: (id: string) => SealedTransaction | undefined;
  readonly send: (transactions: readonly Record<string, unknown>[]) => void;
};

/** Most transactions are in a block by then; on the main network it is a little more than a minute. */
const PAUSE_BLOCKS = 10;
/** Maximum number of transactions to send again, the size of a full pool; older ones are omitted. */
const MAX_REMEMBERED = 15_000;

/**
 * Broadcasts transactions again that stay pending: a peer may refuse a transaction that it would accept later, for
 * instance below a milestone whose rules allow it (trap A1), or while its pool is full.
 */
export class Rebroadcast {
  readonly #deps: RebroadcastDeps;
  /** Height at which each transaction was sent last, lowest first. */
  readonly #sentAt = new Map<string, number>();

  constructor(deps: RebroadcastDeps) {
    this.#deps = deps;
  }

  /** Transactions were sent while the head was at `height`. */
  sent(ids: readonly string[], height: number): void {
    for (const id of ids) setNewest(this.#sentAt, id, height, MAX_REMEMBERED);
  }

  /** Called when the head is at `height`: sends transactions again that have been pending for long. */
  headMoved(height: number): void {
    const due: SealedTransaction[] = [];
    for (const [id, at] of this.#sentAt) {
      if (height - at < PAUSE_BLOCKS || due.length === MAX_TRANSACTIONS) break;
      const transaction = this.#deps.pending(id);
      if (transaction) due.push(transaction);
      else this.#sentAt.delete(id);
    }
    if (due.length === 0) return;
    for (const { data } of due) setNewest(this.#sentAt, data.id, height, MAX_REMEMBERED);
    this.#deps.send(due.map(({ data }) => transactionToJson(data)));
  }
}
