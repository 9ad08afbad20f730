/** Figures of the pool, for metrics. */
import type { RefusalCode } from "./admission/refusal.ts";

/** `excess`: beyond the transactions that a sender may have pending; `POOL_BUSY`: beyond those that may wait. */
export type PoolRefusal = RefusalCode | "excess" | "POOL_BUSY";

export type PoolFigures = {
  /** Bytes of the pending transactions. */
  readonly poolBytes: number;
  /** Transactions whose admission is under way. */
  readonly poolWaiting: number;
  /** Transactions that were refused since the process started, by the reason; reasons that did not occur are absent. */
  readonly poolRefused: Readonly<Partial<Record<PoolRefusal, number>>>;
};

export type RefusalCounts = {
  count(reason: PoolRefusal, transactions?: number): void;
  read(): PoolFigures["poolRefused"];
};

export function createRefusalCounts(): RefusalCounts {
  const counts: Partial<Record<PoolRefusal, number>> = {};
  return {
    count(reason, transactions = 1) {
      if (transactions > 0) counts[reason] = (counts[reason] ?? 0) + transactions;
    },
    read: () => ({ ...counts }),
  };
}
