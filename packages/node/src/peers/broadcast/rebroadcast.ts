/**
 * Broadcasts transactions again that stay pending: a peer may refuse a transaction that it would accept later, for
 * instance below a milestone whose rules allow it (trap A1), or while its pool is full.
 */
import { type SealedTransaction, transactionToJson } from "@uniknode/protocol";
import { setNewest } from "../../platform/bounded-entries.ts";
import { MAX_TRANSACTIONS } from "../wire/limits.ts";

export type RebroadcastDeps = {
  /** Returns a transaction while it is pending. */
  readonly pending: (id: string) => SealedTransaction | undefined;
  readonly send: (transactions: readonly Record<string, unknown>[]) => void;
};

export type Rebroadcast = {
  /** Transactions were sent while the head was at `height`. */
  sent(ids: readonly string[], height: number): void;
  /** Called when the head is at `height`: sends transactions again that have been pending for long. */
  headMoved(height: number): void;
};

/** Most transactions are in a block by then; on the main network it is a little more than a minute. */
const PAUSE_BLOCKS = 10;
/** Maximum number of transactions to send again, the size of a full pool; older ones are omitted. */
const MAX_REMEMBERED = 15_000;

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
