/** `/node` (http-api.md 6.2). */
import type { Amount, ApiResponse } from "../responses.ts";
import type { Send } from "../send.ts";

export type NodeStatus = {
  readonly synced: boolean;
  /** Height of the head. */
  readonly now: number;
  /** Blocks that the node lacks. */
  readonly blocksCount: number;
  /** Time of the node's clock, in seconds since the epoch of the network. */
  readonly timestamp: number;
  readonly progress?: SyncProgress;
  /** Text with the time at which a block can follow the head; only while it is in the future. */
  readonly futureHead?: string;
  readonly assumeValid?: AssumedBlock;
};

/** Block up to which signatures are not checked; present while the chain is below it. */
export type AssumedBlock = {
  readonly height: number;
  readonly id: string;
  /** First block whose signatures were not checked. */
  readonly uncheckedFrom?: number;
};

/** Present while the node fetches blocks. */
export type SyncProgress = {
  /** Height of the network by the claims of the peers. */
  readonly target: number;
  /** Share of all blocks, 0 to 100. */
  readonly percent: number;
  readonly blocksPerSecond: number;
  /** Absent while the speed is unknown. */
  readonly secondsLeft?: number;
};

export type NodeSyncing = {
  readonly syncing: boolean;
  readonly blocks: number;
  readonly height: number;
  readonly id: string;
  readonly progress?: SyncProgress;
};

export type NodeConfiguration = {
  /** Version of the old network's software that the node is compatible with. */
  readonly core: { readonly version: string };
  readonly nethash: string;
  readonly slip44: number;
  readonly wif: number;
  readonly token: string;
  readonly symbol: string;
  readonly explorer: string;
  /** First byte of addresses. */
  readonly version: number;
  /** Ports of enabled services, by the names that clients expect. */
  readonly ports: Readonly<Record<string, number>>;
  readonly constants: Milestone;
  readonly transactionPool: {
    readonly dynamicFees:
      | { readonly enabled: false }
      | {
          readonly enabled: true;
          /** Smallest units for each byte. */
          readonly minFeePool: number;
          readonly minFeeBroadcast: number;
          /** Added to the size before it is multiplied, by type. */
          readonly addonBytes: Readonly<Record<string, number>>;
        };
  };
  /** Present if the node has earlier states: `since` is the lowest height for `at`. */
  readonly history?: { readonly since: number };
};

/** The rules in force at the head; a network may have more than these. */
export type Milestone = {
  /** Height from which the values are in force. */
  readonly height: number;
  readonly activeDelegates: number;
  /** Seconds. */
  readonly blocktime: number;
  /** Reward of a block, in the smallest unit. */
  readonly reward: number;
  /** ISO 8601. */
  readonly epoch: string;
  readonly vendorFieldLength: number;
  readonly block: { readonly maxTransactions: number; readonly maxPayload: number; readonly version: number };
  readonly fees: { readonly staticFees: Readonly<Record<string, number>> };
  readonly [rule: string]: unknown;
};

/** The network with all its rules: the argument of `createNetwork` of @uniknode/protocol. */
export type CryptoConfiguration = {
  readonly network: Readonly<Record<string, unknown>>;
  readonly milestones: readonly Readonly<Record<string, unknown>>[];
  readonly exceptions: Readonly<Record<string, unknown>>;
  readonly genesisBlock: Readonly<Record<string, unknown>>;
};

export type FeeStatistics = {
  readonly avg: Amount;
  readonly max: Amount;
  readonly min: Amount;
  readonly sum: Amount;
};

/** Fees by type group, then by type. */
export type FeesByType<Fee> = Readonly<Record<string, Readonly<Record<string, Fee>>>>;

export const node = (send: Send) => ({
  status: () => send<ApiResponse<NodeStatus>>({ path: "/node/status" }),
  syncing: () => send<ApiResponse<NodeSyncing>>({ path: "/node/syncing" }),
  configuration: () => send<ApiResponse<NodeConfiguration>>({ path: "/node/configuration" }),
  cryptoConfiguration: () => send<ApiResponse<CryptoConfiguration>>({ path: "/node/configuration/crypto" }),
  /** Gets the fees of the last `days`, 1 to 30; without `days`, of the last 20 transactions of each type. */
  fees: (query: { readonly days?: number } = {}) =>
    send<ApiResponse<FeesByType<FeeStatistics>, { readonly meta: { readonly days?: number } }>>({
      path: "/node/fees",
      query,
    }),
});
