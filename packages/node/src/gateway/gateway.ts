/**
 * Interface through which HTTP, webhooks and the commands of a dev chain use the node. It is asynchronous and consists of plain JSON
 * values, so that it works within one thread, over a message channel, and over HTTP.
 */
import { CodedError } from "../platform/coded-error.ts";
import type { NodeFigures, NodeReport, SyncProgress } from "./figures.ts";

/** Result of an admission (pool.md 3). */
export type AdmissionResult = {
  data: { accept: string[]; broadcast: string[]; excess: string[]; invalid: string[] };
  errors?: Record<string, { type: string; message: string }[]>;
};

/** `synced` follows consensus.md 11; `now` is the height. */
export type NodeStatus = {
  synced: boolean;
  /** Height of the head. */
  now: number;
  /** Blocks that the node is behind the network. */
  blocksCount: number;
  /** Network time, seconds. */
  timestamp: number;
  /** Absent while the node is in sync. */
  progress?: SyncProgress;
  /** The last final block: servers compare their database with it. Absent while no block is final. */
  finalBlock?: { height: number; id: string };
  /** Text with the time when a block can follow the head; absent unless the head is in the future. */
  futureHead?: string;
  /** True while no peer is known and the head is old: whether the node is in sync is unknown. Absent if the node uses no peers. */
  isIsolated?: boolean;
  /** Block up to which signatures are not checked; absent once the chain has reached it, and if all are checked. */
  assumeValid?: AssumedBlock;
};

export type AssumedBlock = {
  height: number;
  id: string;
  /** First block whose signatures were not checked; absent while there is none. */
  uncheckedFrom?: number;
};

/** The page begins after the transaction `afterId`, or at the start if it is no longer pending; `offset` is then ignored. */
export type PoolRange = { offset: number; limit: number; afterId?: string };

/**
 * A pending transaction: `members` is its decoded JSON form (transactions.md 15) without the asset, `asset` the JSON
 * text of the asset, which can have thousands of members.
 */
export type PendingTransaction = { members: PendingMembers; asset: string | null };
export type PendingMembers = { id: string } & Record<string, unknown>;

/** Pending transactions in forging order from `offset` on. */
export type PoolPage = { transactions: PendingTransaction[]; offset: number; totalCount: number };

/** A peer with the values of its last status. */
export type PeerInfo = {
  ip: string;
  /** Port of the peer protocol. */
  port: number;
  /** Ports of its other services by their names: `@arkecosystem/core-api` ... */
  ports: Record<string, number>;
  version: string;
  height: number;
  /** Duration of its last request, in milliseconds. */
  latency: number;
};

/** `ChannelGateway` of `channel.ts` and `HttpGateway` make the calls; `NodeGateway` of `processes/node/node-gateway.ts` executes them. */
export type Gateway = {
  /**
   * Submits the items of a `POST /transactions` body.
   *
   * @param source the client; clients take turns
   * @throws {BodyError} when the body as a whole fails the schema (pool.md 3): nothing was processed
   */
  submit(transactions: unknown[], source?: string): Promise<AdmissionResult>;
  pendingTransactions(range: PoolRange): Promise<PoolPage>;
  pendingTransaction(id: string): Promise<PendingTransaction | undefined>;
  status(): Promise<NodeStatus>;
  peers(): Promise<PeerInfo[]>;
  /** Figures for metrics. */
  figures(): Promise<NodeFigures>;
  /** Figures for operators and for the series of the last hours. */
  report(): Promise<NodeReport>;
  /** Must be called after the register of webhooks has changed: once resolved, every subscribed event is logged. */
  webhooksChanged(): Promise<void>;
  /**
   * Replaces the event names that live streams are subscribed to: once resolved, every such event is logged.
   * Returns, for each name, the sequence after which the log has its events without a gap.
   */
  streamsChanged(names: string[]): Promise<Record<string, number>>;
  /**
   * Replaces the names of the events that are recorded for webhooks of another database, until the next call; an empty list
   * ends this. A webhook that is activated with the returned sequence receives exactly the later events. While there are
   * names, the log keeps events until the mirror has copied them into that database.
   */
  replaceRemoteNames(names: readonly string[]): Promise<{ lastSequence: number }>;
  /**
   * Runs a command of the dev chain.
   *
   * @throws {DevError} DEV_ONLY on every other chain; also the errors of the command
   */
  dev(command: DevCommand): Promise<DevResult>;
};

/**
 * Methods that processes on other machines can call. `figures` is not among them, because each reading begins a new
 * interval of the loop delay, which belongs to the metrics of the node.
 */
export const REMOTE_METHODS = [
  "submit",
  "pendingTransactions",
  "pendingTransaction",
  "status",
  "peers",
  "report",
  "replaceRemoteNames",
  "dev",
] as const satisfies readonly (keyof Gateway)[];

export type RemoteMethod = (typeof REMOTE_METHODS)[number];
export type RemoteGateway = Pick<Gateway, RemoteMethod>;

/** The whole body of a submission is refused: 422. */
export class BodyError extends CodedError<"BODY_SCHEMA"> {
  constructor(message: string) {
    super("BODY_SCHEMA", message, { isRetryable: false });
  }
}

export type DevCommand =
  /** Forges blocks with the pending transactions. */
  | { readonly name: "mine"; readonly blocks: number }
  /**
   * Replaces the top `depth` blocks by a branch of `blocks` blocks, by default `depth` + 1; its blocks are
   * empty unless `withTransactions`. They contain neither the transactions whose ids are in `leftOut` nor
   * transactions that depend on these.
   */
  | {
      readonly name: "reorg";
      readonly depth: number;
      readonly blocks?: number;
      readonly withTransactions: boolean;
      readonly leftOut?: readonly string[];
    }
  /** Changes nothing: returns the id of the head, for `restore`. */
  | { readonly name: "snapshot" }
  /** Reverts the blocks above this one, and removes all pending transactions. */
  | { readonly name: "restore"; readonly id: string }
  /** Moves the clock forward, by seconds or to a Unix time in seconds. */
  | { readonly name: "travel"; readonly seconds: number }
  | { readonly name: "travel"; readonly to: number }
  /** Turns automatic forging on or off. */
  | { readonly name: "forge"; readonly isEnabled: boolean };

/** `timestamp` in seconds since the network epoch. */
export type BlockReference = { readonly height: number; readonly id: string; readonly timestamp: number };

export type DevResult = {
  readonly head: BlockReference;
  /** Reverted blocks, by descending height. */
  readonly reverted: readonly BlockReference[];
  /** Applied blocks, by ascending height. */
  readonly applied: readonly BlockReference[];
  /** The clock of the chain, seconds since the network epoch. */
  readonly now: number;
  /** True if automatic forging is on. */
  readonly isForging: boolean;
};

export type DevErrorCode =
  /** The chain is not a dev chain. */
  | "DEV_ONLY"
  /** The setup blocks of the chain are not forged yet; retry after a moment. */
  | "DEV_STARTING"
  /** The branch would begin below the setup blocks of the chain. */
  | "DEV_DEPTH"
  /** The branch would not be longer than the reverted blocks. */
  | "DEV_BRANCH"
  /** No block on the chain has this id. */
  | "DEV_SNAPSHOT"
  /** The time is in the past, or beyond the last possible one. */
  | "DEV_TIME"
  /** The node has no key of an active delegate. */
  | "DEV_DELEGATES";

export class DevError extends CodedError<DevErrorCode> {
  constructor(code: DevErrorCode, message: string) {
    super(code, message, { isRetryable: code === "DEV_STARTING" });
  }
}
