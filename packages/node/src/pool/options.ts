/** Options of the pool. */
import type { AdmissionOptions } from "./admission/parse.ts";

export type PoolOptions = AdmissionOptions & { readonly maxTransactions: number };

/** The defaults of the Unikname networks (pool.md 1). */
export const DEFAULT_POOL_OPTIONS: PoolOptions = {
  maxTransactions: 15_000,
  maxTransactionsPerSender: 300,
  allowedSenders: [],
  maxTransactionAge: 2_700,
  fees: {
    dynamic: true,
    minFeePool: 1_000,
    minFeeBroadcast: 1_000,
    addonBytes: {
      transfer: 100,
      secondSignature: 250,
      delegateRegistration: 400_000,
      vote: 100,
      multiSignature: 500,
      ipfs: 250,
      multiPayment: 500,
      delegateResignation: 100,
      htlcLock: 100,
      htlcClaim: 0,
      htlcRefund: 0,
    },
  },
};
