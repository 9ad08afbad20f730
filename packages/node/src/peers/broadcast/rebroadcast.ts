/**
 * Passing on again what stays pending: a peer refuses what it would take a moment later, for instance while it stands at
 * a block below ours whose rules do not allow it yet (trap A1), or while its pool is full.
 */
import { type SealedTransaction, transactionToJson } from "@uniknode/protocol";
import { MAX_TRANSACTIONS } from "../wire/limits.ts";

export type RebroadcastDeps = {
  /** A pending transaction; undefined once it is none. */
  readonly pending: (id: string) => SealedTransaction | undefined;
  readonly send: (transactions: readonly Record<string, unknown>[]) => void;
};

export type Rebroadcast = {
  /** Transactions were passed on while the head had a height. */
  sent(ids: readonly string[], height: number): void;
  /** The head has another height: sends again what is pending since long. */
  headMoved(height: number): void;
};

/** Most transactions are in a block by then; on the main network it is a little more than a minute. */
const PAUSE_BLOCKS = 10;
/** As many as a pool holds; older ones are given up. */
const MAX_REMEMBERED = 15_000;

export function createRebroadcast({ pending, send }: RebroadcastDeps): Rebroadcast {
  /** Height at which each was sent last, the earliest first. */
  const sentAt = new Map<string, number>();

  function remember(id: string, height: number): void {
    sentAt.delete(id);
    sentAt.set(id, height);
    const [oldest] = sentAt.keys();
    if (sentAt.size > MAX_REMEMBERED) sentAt.delete(oldest!);
  }

  return {
    sent(ids, height) {
      for (const id of ids) remember(id, height);
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
      for (const { data } of due) remember(data.id, height);
      send(due.map(({ data }) => transactionToJson(data)));
    },
  };
}
