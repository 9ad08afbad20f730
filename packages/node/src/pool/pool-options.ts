/** Options of the pool. */

export type FeePolicy = {
  /** False: the fee must equal the static fee of the milestone exactly. */
  dynamic: boolean;
  /** Smallest unit per byte, for the pool and for the broadcast. */
  minFeePool: number;
  minFeeBroadcast: number;
  /** Bytes added to the size by type key; 0 for types not named. */
  addonBytes: Readonly<Record<string, number>>;
};

export type PoolOptions = {
  /** Maximum number of pending transactions. */
  readonly poolSize: number;
  readonly poolMaxPerSender: number;
  /** Public keys exempt from the limit per sender. */
  readonly poolAllowedSenders: readonly string[];
  /** Maximum age of a pending version 1 transaction in blocks. */
  readonly maxTransactionAge: number;
  readonly fees: FeePolicy;
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
