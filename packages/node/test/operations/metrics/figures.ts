import type { Figures } from "../../../src/operations/metrics/metrics.ts";

/** Each figure with its own value, as of the time 100,000. */
export const FIGURES = {
  node: {
    height: 17,
    headAgeSeconds: 3,
    blocksBehind: 4,
    synced: false,
    revertedBlocks: 11,
    progress: { target: 21, percent: 80, blocksPerSecond: 8, secondsLeft: 9 },
    poolSize: 5,
    poolBytes: 51,
    poolWaiting: 52,
    poolUnchecked: 55,
    poolRecheckMs: 56_500,
    admission: { usedMs: 53_500, perSlotMs: 4_800, exhaustedSlots: 54 },
    poolRefused: { ERR_APPLY: 53, excess: 54 },
    peers: 6,
    traffic: { receivedBytes: 61, sentBytes: 62 },
    peerBounds: {
      sessions: 63,
      handshakes: 64,
      banned: 65,
      refused: { subnet: 66, total: 67 },
      cut: { handshake: 68 },
      evicted: 69,
      postsDropped: { block: 70 },
    },
    forged: 7,
    missed: 2,
    refused: { signed_before: 31, watching: 32, other_forger: 33, head_in_future: 35 },
    keysUsedElsewhere: 34,
    facts: { size: 81, height: 82, lag: 83 },
    heapBytes: 1_000,
    logLinesLost: 71,
    loopDelay: { p50: 0.01, p99: 0.02, max: 0.03 },
  },
  serving: { p50: 0.4, p99: 0.5, max: 0.6 },
  webhooks: { active: 3, disabled: 1, suspended: 2, fired: 40, unmatched: 9, unmatchedSinceMs: 90_000 },
  fired: new Map([
    [1, 41],
    [2, 42],
  ]),
  queues: new Map([[1, { waiting: 11, retrying: 12, replaying: 13, oldestMs: 80_000 }]]),
  calls: {
    consensus: { open: 16, timedOut: 17, refused: 18 },
    slow: { open: 3, timedOut: 19, refused: 20 },
  },
  sessions: { sessions: 75, codes: 76 },
  natsConnections: 74,
  streams: { open: 14, cut: 15, unreadBytes: 4_096 },
  feed: { open: 77, sentCharacters: 78, sentEvents: 109, uncopiedEvents: 110 },
  remoteCalls: { open: 105, refused: 106, late: 107 },
  connections: {
    api: {
      open: 16,
      refused: { client: 17, site: 18, total: 19, offender: 0 },
      closed: { evicted: 20, late: 21, pipelined: 22, memory: 23, slow: 24 },
    },
    operations: undefined,
  },
  process: {
    logLinesLost: 72,
    failedWrites: 73,
    freeBytes: 74,
    logPages: 75,
    inspections: { sound: 1, damaged: 0, failed: 0 },
  },
} satisfies Figures as Figures & { node: NonNullable<Figures["node"]> };

/** The same of a node with a mirror, which has further metrics. */
export const FIGURES_WITH_MIRROR = {
  ...FIGURES,
  node: {
    ...FIGURES.node,
    mirror: { isRunning: true, starts: 108, height: 16, lastEvent: 111, eventGaps: 112 },
  },
};
