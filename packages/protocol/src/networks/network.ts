/** A network as a value (networks.md): its constants, its milestones and its listed exceptions. */

/** Shares of one rewarded event, in the smallest unit (state.md 4.1). */
export type VoucherReward = { forger: number; sender: number; foundation: number };

/** Kinds of identity by their name in the configuration; `type` 1, 2 and 3 in this order. */
export type ByKind<T> = { individual: T; organization: T; network: T };

/** Content of `network.json` (networks.md 1). */
export type NetworkDescription = {
  name: string;
  messagePrefix: string;
  bip32: { public: number; private: number };
  /** Address version byte, also the network byte of transactions: 1 to 255. */
  pubKeyHash: number;
  /** Payload hash of the genesis block. */
  nethash: string;
  wif: number;
  slip44: number;
  aip20: number;
  client: { token: string; symbol: string; explorer: string };
  transactionsConfig?: Record<string, { enable?: boolean }>;
  forgeFactory?: { unikidWhiteList: string[] };
  foundation?: { publicKey: string };
  delegateWhitelistUniks?: string[];
  /** `HEIGHT:ID` of a block that is known to be on the chain, for nodes that catch up (not a rule). */
  assumeValid?: string;
};

/** The merged parameters in force from `height` on (networks.md 2). Amounts are safe integers. */
export type Milestone = {
  height: number;
  reward: number;
  activeDelegates: number;
  /** Seconds of a slot; only the first milestone's value counts. */
  blocktime: number;
  /** Network time zero, ISO 8601; only the first milestone's value counts. */
  epoch: string;
  block: {
    version: number;
    maxTransactions: number;
    /** Bytes. */
    maxPayload: number;
    idFullSha256?: boolean;
    acceptExpiredTransactionTimestamps?: boolean;
  };
  fees: { staticFees: Record<string, number> };
  /** Bytes. */
  vendorFieldLength: number;
  multiPaymentLimit?: number;
  aip11?: boolean;
  aip36?: boolean;
  htlcEnabled?: boolean;
  ignoreInvalidSecondSignatureField?: boolean;
  ignoreExpiredTransactions?: boolean;
  p2p?: { minimumVersions: string[] };
  voucherRewards?: ByKind<VoucherReward>;
  nbDelegatesByType?: ByKind<number>;
  voterMaximumWeight?: { individual?: number } | false;
  urlCheckers?: string[];
  certifiedNFTsOnly?: boolean;
  disableArkLegacyVote?: boolean;
  unsTokenEcoV2?: boolean;
  unsTokenEcoV3?: boolean;
};

/** Content of `exceptions.json` (networks.md 3). */
export type Exceptions = {
  blocks?: string[];
  blocksTransactions?: Record<string, string[]>;
  transactions?: string[];
  outlookTable?: Record<string, string>;
  transactionIdFixTable?: Record<string, string>;
  wrongTransactionOrder?: Record<string, string[]>;
  negativeBalances?: Record<string, Record<string, string>>;
};

/** An entry of `milestones.json`: the parameters that change at its height. */
export type MilestoneChange = { height: number; [parameter: string]: unknown };

/** The files of a network but the genesis block. */
export type NetworkFiles = {
  network: NetworkDescription;
  milestones: MilestoneChange[];
  exceptions: Exceptions;
};

/** A network ready for use; created by `createNetwork`. */
export type Network = {
  readonly description: NetworkDescription;
  readonly exceptions: Exceptions;
  /** Merged, ascending by height. */
  readonly milestones: readonly Milestone[];
  /** The milestone in force at a height of 1 or more. */
  milestoneAt(height: number): Milestone;
  /** Returns true if some milestone has exactly this height. */
  isMilestone(height: number): boolean;
};
