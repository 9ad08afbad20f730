/** Passing transactions on (p2p.md 12.2). */
import { type SealedTransaction, transactionToJson } from "@uniknode/protocol";
import type { Logger } from "pino";
import type { AdmissionAnswer } from "../../gateway/gateway.ts";
import type { Items } from "../inbound/transactions.ts";
import { sample } from "../table/sample.ts";
import type { PeerClient } from "../transport/client.ts";
import { CLIENT_MESSAGE_BYTES, MAX_TRANSACTIONS, TIMES_MS } from "../wire/limits.ts";
import { isTransactionSmall } from "../wire/requests/transactions.ts";

export type TransactionBroadcastDeps = {
  /** Addresses of all peers. */
  readonly peers: () => string[];
  readonly request: PeerClient["request"];
  /** A pending transaction. */
  readonly pending: (id: string) => SealedTransaction | undefined;
  readonly logger: Logger;
};

const MAX_RECIPIENTS = 20;

export type TransactionBroadcast = {
  /** Sends those of the items that are to be passed on, by the answer of their admission. */
  pass(items: Items, answer: AdmissionAnswer): Promise<void>;
  /** Sends all of them. */
  send(items: Items): Promise<void>;
  /** Posts that were not sent since too many waited for a peer, since the process started. */
  dropped(): number;
};

export function createTransactionBroadcast(deps: TransactionBroadcastDeps): TransactionBroadcast {
  let dropped = 0;

  async function post(ip: string, transactions: Record<string, unknown>[]): Promise<void> {
    const limits = { timeoutMs: TIMES_MS.postReply, maxBytes: CLIENT_MESSAGE_BYTES.other };
    await deps.request(ip, "p2p.peer.postTransactions", { transactions }, limits).catch((error) => {
      if (error.code === "PEER_BUSY") dropped++;
      deps.logger.debug({ ip, reason: error.message }, "transactions were not passed on");
    });
  }

  async function send(items: Items): Promise<void> {
    // A message with one that is too large, or with too many, would be refused as a whole.
    const fit = items.filter(isTransactionSmall);
    for (let at = 0; at < fit.length; at += MAX_TRANSACTIONS) {
      const part = fit.slice(at, at + MAX_TRANSACTIONS);
      await Promise.all(sample(deps.peers(), MAX_RECIPIENTS).map((ip) => post(ip, [...part])));
    }
  }

  return {
    send,
    dropped: () => dropped,
    async pass(items, { data: { broadcast } }) {
      const received = new Map(items.map((item) => [item.id, item]));
      await send(
        broadcast.flatMap((id) => {
          // Those that the pool had no room for are known as they came only.
          const transaction = deps.pending(id);
          const item = transaction ? transactionToJson(transaction.data) : received.get(id);
          return item ? [item] : [];
        }),
      );
    },
  };
}
