/** Passing transactions on (p2p.md 12.2). */
import type { Logger } from "pino";
import type { AdmissionAnswer } from "../../serving/gateway.ts";
import type { Items } from "../arrivals/transactions.ts";
import { sample } from "../sample.ts";
import type { Outgoing } from "../transport/outgoing.ts";
import { CLIENT_MESSAGE_BYTES, MAX_TRANSACTIONS, TIMES_MS } from "../wire/limits.ts";
import { isTransactionSmall } from "../wire/requests/transactions.ts";

export type TransactionBroadcastDeps = {
  /** Addresses of all peers. */
  readonly peers: () => string[];
  readonly ask: Outgoing["ask"];
  readonly logger: Logger;
};

const MAX_RECIPIENTS = 20;

/** Sends those of the items that are to be passed on, by the answer of their admission. */
export function createTransactionBroadcast(deps: TransactionBroadcastDeps) {
  async function send(ip: string, transactions: Record<string, unknown>[]): Promise<void> {
    const limits = { timeoutMs: TIMES_MS.postReply, maxBytes: CLIENT_MESSAGE_BYTES.other };
    await deps.ask(ip, "p2p.peer.postTransactions", { transactions }, limits).catch((error) => {
      deps.logger.debug({ ip, reason: error.message }, "transactions were not passed on");
    });
  }

  return async (items: Items, { data }: AdmissionAnswer): Promise<void> => {
    const wanted = new Set<unknown>(data.broadcast);
    // A message with one that is too large, or with too many, would be refused as a whole.
    const fit = items.filter((item) => wanted.has(item.id) && isTransactionSmall(item));
    for (let at = 0; at < fit.length; at += MAX_TRANSACTIONS) {
      const part = fit.slice(at, at + MAX_TRANSACTIONS);
      await Promise.all(sample(deps.peers(), MAX_RECIPIENTS).map((ip) => send(ip, [...part])));
    }
  };
}
