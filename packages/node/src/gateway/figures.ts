/** Figures of the consensus thread, for metrics and health. */
import type { LoopDelay } from "../platform/lifecycle/loop-delay.ts";

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

/** What peers and other callers of the peer port use, and what they were refused. */
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

/**
 * Why a slot of this node's delegates is not signed. `signed_before`: the signing record has the slot or a later one;
 * `watching`: the start, while another forger with the same keys would show; `other_forger`: there is one.
 */
export type SigningRefusalKind = "signed_before" | "watching" | "other_forger";

/** What the thread of consensus knows of itself. */
export type NodeFigures = {
  height: number;
  /** Network time since the head was forged. */
  headAgeSeconds: number;
  /** Blocks missing compared with the network. */
  blocksBehind: number;
  synced: boolean;
  progress?: SyncProgress;
  poolSize: number;
  /** Bytes of the pending transactions. */
  poolBytes: number;
  /** Transactions whose admission is under way. */
  poolWaiting: number;
  /** Transactions refused since the process started, by the reason; reasons that did not occur are absent. */
  poolRefused: Readonly<Record<string, number>>;
  peers: number;
  /** Bytes to and from other nodes, since the process started. */
  traffic: { receivedBytes: number; sentBytes: number };
  /** Absent for a node without peers. */
  peerBounds?: PeerBounds;
  /** Blocks forged, and slots of this node's delegates missed, since the process started. */
  forged: number;
  missed: number;
  /** Missed slots that were not signed, by the reason, since the process started. */
  refused: Readonly<Record<SigningRefusalKind, number>>;
  /** Keys of this node that another forger signs with now. */
  keysUsedElsewhere: number;
  heapBytes: number;
  /** Lines of its log that could not be written, since the process started. */
  logLinesLost: number;
  loopDelay: LoopDelay;
};
