/** Figures of the pool, for metrics. */
import type { AdmissionTime } from "../gateway/figures.ts";
import type { RefusalCode } from "./refusal.ts";

/** `excess`: beyond the maximum of pending transactions of a sender; `POOL_BUSY`: beyond the maximum of waiting ones. */
export type PoolRefusal = RefusalCode | "excess" | "POOL_BUSY";

export type PoolFigures = {
  /** Bytes of the pending transactions. */
  readonly poolBytes: number;
  /** Transactions whose admission is in progress. */
  readonly poolWaiting: number;
  /** Transactions that wait for a recheck after a change of the chain; they are not selected for a block. */
  readonly poolUnchecked: number;
  /** Milliseconds of the consensus thread for rechecks since the process started. */
  readonly poolRecheckMs: number;
  /** Time of the consensus thread for submissions. */
  readonly admission: AdmissionTime;
  /** Transactions refused since the process started, by reason; reasons that did not occur are absent. */
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
