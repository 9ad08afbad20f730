/** Options of the pool. */
import type { AdmissionOptions } from "./admission/parse.ts";

export type PoolOptions = AdmissionOptions & {
  /** Maximum number of pending transactions. */
  readonly poolSize: number;
};

/** Maximum number of transactions in one API request. */
export const DEFAULT_POOL_MAX_PER_REQUEST = 40;

/** The defaults of the Unikname networks (pool.md 1). */
export const DEFAULT_POOL_OPTIONS: PoolOptions = {
  poolSize: 15_000,
  poolMaxPerSender: 300,
  poolAllowedSenders: [],
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
