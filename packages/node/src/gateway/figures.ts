/** Figures of the consensus thread, for metrics and health. */
import type { LoopDelay } from "../platform/lifecycle/event-loop.ts";

/** Progress of the synchronisation. */
export type SyncProgress = {
  /** Height of the network, as reported by peers. */
  target: number;
  /** Share of all blocks, 0 to 100. */
  percent: number;
  blocksPerSecond: number;
  /** Estimate; absent while the pace is unknown. */
  secondsLeft?: number;
};

/** Usage of the limits of the peer port, and refusals. */
export type PeerBounds = {
  /** Current inbound connections, and the number without a completed handshake. */
  readonly sessions: number;
  readonly handshakes: number;
  /** Addresses banned now. */
  readonly banned: number;
  /** Connections refused, and connections closed later, by reason, since the process started. */
  readonly refused: Readonly<Record<string, number>>;
  readonly cut: Readonly<Record<string, number>>;
  /** Connections closed to make room for others, since the process started. */
  readonly evicted: number;
  /** Posts that were not sent, by their content, since the process started. */
  readonly postsDropped: Readonly<Record<string, number>>;
};

/**
 * Reason why a slot of this node's delegates is not signed. `signed_before`: the signing record has the slot
 * or a later one; `watching`: the node has just started, and watches for another forger with the same keys;
 * `other_forger`: one was found; `head_in_future`: the slot of the head had not passed.
 */
export type SigningRefusalKind = "signed_before" | "watching" | "other_forger" | "head_in_future";

/** Figures of the mirror process that the node started. */
export type MirrorFigures = {
  readonly isRunning: boolean;
  /** Starts of the process, since the node started. */
  readonly starts: number;
  /** Height of the last block that the process reported; 0 before. */
  readonly height: number;
  /** Sequence of the last event that it has copied; 0 before. */
  readonly lastEvent: number;
  /** Number of times that events were missing, since the database was created; undefined before. */
  readonly eventGaps: number | undefined;
};

/** Time of the consensus thread for submissions: see `pool/admission/requests.ts`. */
export type AdmissionTime = {
  /** Milliseconds used since the process started. */
  readonly usedMs: number;
  /** Milliseconds that a slot has for them. */
  readonly perSlotMs: number;
  /** Slots in which submissions had to wait for the next one, since the process started. */
  readonly exhaustedSlots: number;
};

/** Figures of the consensus thread. */
export type NodeReport = {
  height: number;
  /** Network time since the head was forged. */
  headAgeSeconds: number;
  /** Blocks that the node is behind the network. */
  blocksBehind: number;
  synced: boolean;
  /** Blocks reverted since the process started. */
  revertedBlocks: number;
  progress?: SyncProgress;
  poolSize: number;
  /** Bytes of the pending transactions. */
  poolBytes: number;
  /** Transactions being admitted. */
  poolWaiting: number;
  /** Pending transactions that wait for a recheck after a change of the chain. */
  poolUnchecked: number;
  /** Milliseconds of the consensus thread for rechecks since the process started. */
  poolRecheckMs: number;
  /** Transactions refused since the process started, by the reason; reasons that did not occur are absent. */
  poolRefused: Readonly<Record<string, number>>;
  /** Time of the consensus thread for submissions. */
  admission: AdmissionTime;
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
  /**
   * Number of leaves in the tree of final facts, the height of its last block, and the number of final blocks that it
   * lacks.
   */
  facts: { size: number; height: number; lag: number };
  /** Absent for a node that starts no mirror. */
  mirror?: MirrorFigures;
  heapBytes: number;
  /** Lines of its log that could not be written, since the process started. */
  logLinesLost: number;
};

/** Figures for metrics: each reading of the event loop delay begins a new interval. */
export type NodeFigures = NodeReport & { loopDelay: LoopDelay };
