/**
 * What the serving side (HTTP, webhooks) needs from the node. Asynchronous and made of plain JSON values, so that the
 * same interface works in one process, over a message channel and over HTTP.
 */
import type { DevAnswer, DevCommand } from "./dev-commands.ts";
import type { NodeFigures, SyncProgress } from "./figures.ts";

/** Answer of admission (pool.md 3). */
export type AdmissionAnswer = {
  data: { accept: string[]; broadcast: string[]; excess: string[]; invalid: string[] };
  errors?: Record<string, { type: string; message: string }[]>;
};

/** `synced` follows consensus.md 11; `now` is the height. */
export type NodeStatus = {
  synced: boolean;
  /** Height of the head. */
  now: number;
  /** Blocks missing compared with the network. */
  blocksCount: number;
  /** Network time, seconds. */
  timestamp: number;
  /** Absent while the node is in step with the network. */
  progress?: SyncProgress;
};

/** After the transaction of `afterId`, whatever the offset, as long as that one is still pending. */
export type PoolRange = { offset: number; limit: number; afterId?: string };

/** Pending transactions in decoded JSON form (transactions.md 15), in forging order from `offset` on. */
export type PoolPage = { transactions: Record<string, unknown>[]; offset: number; totalCount: number };

/** A peer as it told of itself last. */
export type PeerInfo = {
  ip: string;
  /** Of the peer-to-peer protocol. */
  port: number;
  /** Ports of its other services by their names: `@arkecosystem/core-api` ... */
  ports: Record<string, number>;
  version: string;
  height: number;
  /** Milliseconds of its last answer. */
  latency: number;
};

export type Gateway = {
  /**
   * Hands over the items of a `POST /transactions` body.
   *
   * @throws {BodyError} when the body as a whole fails the schema (pool.md 3): nothing was processed
   */
  submit(transactions: unknown[]): Promise<AdmissionAnswer>;
  pendingTransactions(range: PoolRange): Promise<PoolPage>;
  pendingTransaction(id: string): Promise<Record<string, unknown> | undefined>;
  status(): Promise<NodeStatus>;
  peers(): Promise<PeerInfo[]>;
  /** For those who watch over the node. */
  figures(): Promise<NodeFigures>;
  /** The register of webhooks changed: from the returned moment on every event it names reaches the log. */
  webhooksChanged(): Promise<void>;
  /**
   * The live streams want these names, and no others: from the returned moment on every such event reaches the log.
   * The answer is, for each name, the sequence behind which the log has it without a gap.
   */
  streamsChanged(names: string[]): Promise<Record<string, number>>;
  /**
   * Runs a verb of the dev chain.
   *
   * @throws {DevError} DEV_ONLY on every other chain; whatever the verb throws
   */
  dev(command: DevCommand): Promise<DevAnswer>;
};

/** The body of a submission is refused as a whole: 422. */
export class BodyError extends Error {
  readonly code = "BODY_SCHEMA";
  readonly isRetryable = false;

  constructor(message: string) {
    super(message);
    this.name = "BodyError";
  }
}
