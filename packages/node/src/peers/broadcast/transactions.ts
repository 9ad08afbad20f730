/** Broadcast of transactions (p2p.md 12.2). */
import { type SealedTransaction, transactionToJson } from "@uniknode/protocol";
import type { Logger } from "pino";
import type { AdmissionResult } from "../../gateway/gateway.ts";
import type { Items } from "../inbound/transactions.ts";
import { sample } from "../table/peer.ts";
import type { PeerClient } from "../transport/client.ts";
import { CLIENT_MESSAGE_BYTES, MAX_TRANSACTIONS, TIMES_MS } from "../wire/limits.ts";
import { isTransactionSmall } from "../wire/requests/transactions.ts";

export type TransactionBroadcastDeps = {
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
