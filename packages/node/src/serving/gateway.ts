/**
 * What the serving side (HTTP, webhooks) needs from the node. Asynchronous and made of plain JSON values, so that the
 * same interface works in one process, over a message channel and over HTTP.
 */
import type { DevAnswer, DevCommand } from "../dev/commands.ts";
import type { RefusalKind } from "../forger/refusal.ts";
import type { LoopDelay } from "../metrics/loop-delay.ts";
import type { PoolFigures } from "../pool/figures.ts";

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

/** How far a node is that fetches the blocks of others. */
export type SyncProgress = {
  /** Height that the peers tell. */
  target: number;
  /** Share of all blocks, 0 to 100. */
  percent: number;
  blocksPerSecond: number;
  /** Absent while nothing is known about the pace. */
  secondsLeft?: number;
};

/** What the thread of consensus knows of itself. */
/** What peers and strangers take up, and what they were denied. */
export type PeerBounds = {
  /** Connections of others at this moment, and those of them that have not shaken hands. */
  readonly sessions: number;
  readonly handshakes: number;
  /** Addresses banned at this moment. */
  readonly banned: number;
  /** By reason, all of them since the process started: connections refused, and those cut later on. */
  readonly refused: Readonly<Record<string, number>>;
  readonly cut: Readonly<Record<string, number>>;
  /** Connections that made room for others. */
  readonly evicted: number;
  /** Posts that were not sent, by what they hold. */
  readonly postsDropped: Readonly<Record<string, number>>;
};

export type NodeFigures = {
  height: number;
  /** Network time since the head was forged. */
  headAgeSeconds: number;
  /** Blocks missing compared with the network. */
  blocksBehind: number;
  synced: boolean;
  progress?: SyncProgress;
  poolSize: number;
  /** See `PoolFigures`. */
  poolBytes: number;
  poolWaiting: number;
  poolRefused: PoolFigures["poolRefused"];
  peers: number;
  /** Bytes to and from other nodes, since the process started. */
  traffic: { receivedBytes: number; sentBytes: number };
  /** Absent for a node without peers. */
  peerBounds?: PeerBounds;
  /** Blocks forged, and slots of this node's delegates missed, since the process started. */
  forged: number;
  missed: number;
  /** Missed slots that were not signed, by the reason, since the process started. */
  refused: Readonly<Record<RefusalKind, number>>;
  /** Keys of this node that another forger signs with now. */
  keysUsedElsewhere: number;
  heapBytes: number;
  /** Lines of its log that could not be written, since the process started. */
  logLinesLost: number;
  loopDelay: LoopDelay;
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

  constructor(message: string) {
    super(message);
    this.name = "BodyError";
  }
}
