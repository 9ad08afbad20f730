/** Composes the state of the node by part, for operators. */
import type { NodeReport } from "../gateway/figures.ts";
import type { SeenProcess } from "../gateway/remote-processes.ts";
import { Timestamp, type TimestampOf } from "../http/core/values.ts";
import { type Static, Type } from "../platform/json/schema.ts";
import type { Readiness } from "./health.ts";
import type { ProcessFigures } from "./metrics/process.ts";

const count = Type.Integer({ minimum: 0 });
const counts = (description: string) => Type.Record(Type.String(), count, { description });
const orNull = <S extends ReturnType<typeof Type.Object>>(schema: S) => Type.Union([schema, Type.Null()]);

/** State of the node by part, for operators. */
export const NodeOverview = Type.Object(
  {
    version: Type.String(),
    protocol: Type.String({
      description: "Version of the old software that the node is compatible with.",
    }),
    uptimeSeconds: count,
    ready: Type.Boolean(),
    checks: Type.Record(Type.String(), Type.Object({ ok: Type.Boolean(), detail: Type.String() })),
    chain: orNull(
      Type.Object({
        height: count,
        headAgeSeconds: Type.Integer({ description: "Network time since the head was forged." }),
        blocksBehind: Type.Integer({ description: "Number of blocks that the node is behind the network." }),
        synced: Type.Boolean(),
        progress: Type.Optional(
          Type.Object({
            target: count,
            percent: Type.Number(),
            blocksPerSecond: Type.Number(),
            secondsLeft: Type.Optional(Type.Number()),
          }),
        ),
      }),
    ),
    pool: orNull(
      Type.Object({
        transactions: count,
        bytes: count,
        admitting: Type.Integer({ description: "Transactions being admitted." }),
        refused: counts("Transactions refused since the process started, by reason."),
      }),
    ),
    peers: orNull(
      Type.Object({
        known: count,
        receivedBytes: count,
        sentBytes: count,
        inbound: Type.Optional(
          Type.Object(
            {
              sessions: count,
              handshakes: count,
              banned: count,
              refused: counts("Refused connections, by reason."),
              cut: counts("Closed connections, by reason."),
              evicted: count,
              postsDropped: counts("Broadcasts that were not sent, by content."),
            },
            { description: "Limits of the peer port. Absent if the node has no peers." },
          ),
        ),
      }),
    ),
    processes: Type.Array(
      Type.Object({
        kind: Type.Enum(["mirror", "server", "worker"]),
        address: Type.String(),
        name: Type.Optional(
          Type.String({ description: "Host and port of an API server, or name of a worker." }),
        ),
        height: Type.Optional(Type.Integer({ description: "Last block of its database." })),
        blocksBehind: Type.Optional(
          Type.Integer({ description: "Number of blocks that it is behind this node." }),
        ),
        lastSeenSeconds: Type.Integer({ description: "Seconds since its last call." }),
      }),
      {
        description:
          "Mirrors, API servers and delivery workers that have used the feed or the gateway of this node within the last hour; at most 100.",
      },
    ),
    forger: Type.Object({
      delegates: Type.Array(
        Type.Object({
          publicKey: Type.String(),
          lastForged: Type.Optional(
            Type.Object({ slot: count, timestamp: Timestamp, blockId: Type.String() }),
          ),
        }),
        { description: "Delegates that this node forges for." },
      ),
      slots: orNull(
        Type.Object({
          forged: count,
          missed: count,
          refused: counts("Slots that were not signed, by reason."),
          keysUsedElsewhere: count,
        }),
      ),
      lastMissed: Type.Array(
        Type.Object({ publicKey: Type.String(), slot: count, timestamp: Timestamp, reason: Type.String() }),
        { description: "The latest missed slots of these delegates, newest first; at most 100." },
      ),
    }),
    disk: Type.Object({
      freeBytes: Type.Optional(count),
      failedWrites: count,
      problem: Type.Optional(Type.String({ description: "Reason why the last write failed." })),
    }),
    memory: Type.Object({ residentBytes: count, heapBytes: Type.Optional(count) }),
  },
  {
    title: "NodeOverview",
    description: "`chain`, `pool`, `peers` and `slots` are null while the consensus thread does not respond.",
  },
);
export type NodeOverview = Static<typeof NodeOverview>;

type OverviewDeps = {
  readonly version: string;
  readonly protocol: string;
  readonly ready: () => Promise<Readiness>;
  readonly report: () => Promise<NodeReport | undefined>;
  /** Returns the mirrors, API servers and delivery workers that use this node. */
  readonly processes: () => readonly SeenProcess[];
  /** Returns the Unix time in milliseconds. */
  readonly nowMs: () => number;
  /** Public keys that the node forges with. */
  readonly forgers: readonly string[];
  readonly rows: Pick<OperatorRows, "forgedBy" | "missed">;
  /** Returns the first second of a slot, since the network epoch. */
  readonly slotTime: (slot: number) => number;
  readonly timestampOf: TimestampOf;
  readonly freeBytes: () => number | undefined;
  readonly state: {
    /** Returns the error of the last write to the database. */
    readonly trouble: () => string | undefined;
    readonly figures: () => Pick<ProcessFigures, "failedWrites">;
  };
};

/** Port to the rows that operators see besides the chain: counts and missed slots. */
export type OperatorRows = {
  /** Returns the number of transactions of all blocks of the chain. */
  transactions(): Promise<number>;
  /** Returns the last slot that was forged with a key, if any, and its block. */
  forgedBy(publicKey: string): Promise<{ readonly slot: number; readonly blockId: string } | undefined>;
  /** Returns the latest missed slots of this node's delegates, newest first. */
  missed(
    limit: number,
  ): Promise<readonly { readonly slot: number; readonly publicKey: string; readonly reason: string }[]>;
};

const MAX_MISSED = 100;

export async function readOverview(deps: OverviewDeps): Promise<NodeOverview> {
  const { isReady, checks } = await deps.ready();
  const report = await deps.report();
  const freeBytes = deps.freeBytes();
  const problem = deps.state.trouble();
  const delegates = await Promise.all(deps.forgers.map((publicKey) => readDelegate(publicKey, deps)));
  const missed = await deps.rows.missed(MAX_MISSED);
  return {
    version: deps.version,
    protocol: deps.protocol,
    uptimeSeconds: Math.round(process.uptime()),
    ready: isReady,
    checks,
    ...partsOf(report),
    processes: deps.processes().map((process) => processOf(process, report, deps.nowMs())),
    forger: {
      delegates,
      slots: report ? slotsOf(report) : null,
      lastMissed: missed.map(({ publicKey, slot, reason }) => ({
        publicKey,
        slot,
        timestamp: timestampOf(slot, deps),
        reason,
      })),
    },
    disk: {
      ...(freeBytes !== undefined && { freeBytes }),
      failedWrites: deps.state.figures().failedWrites,
      ...(problem !== undefined && { problem }),
    },
    memory: {
      residentBytes: process.memoryUsage.rss(),
      ...(report && { heapBytes: report.heapBytes }),
    },
  };
}

async function readDelegate(
  publicKey: string,
  deps: OverviewDeps,
): Promise<NodeOverview["forger"]["delegates"][number]> {
  const last = await deps.rows.forgedBy(publicKey);
  return { publicKey, ...(last && { lastForged: { ...last, timestamp: timestampOf(last.slot, deps) } }) };
}

const timestampOf = (slot: number, deps: OverviewDeps): Timestamp => deps.timestampOf(deps.slotTime(slot));

function partsOf(report: NodeReport | undefined): Pick<NodeOverview, "chain" | "pool" | "peers"> {
  if (!report) return { chain: null, pool: null, peers: null };
  const { height, headAgeSeconds, blocksBehind, synced, progress, peerBounds } = report;
  return {
    chain: { height, headAgeSeconds, blocksBehind, synced, ...(progress && { progress }) },
    pool: {
      transactions: report.poolSize,
      bytes: report.poolBytes,
      admitting: report.poolWaiting,
      refused: report.poolRefused,
    },
    peers: { known: report.peers, ...report.traffic, ...(peerBounds && { inbound: peerBounds }) },
  };
}

function processOf(
  { kind, address, name, height, lastSeenMs }: SeenProcess,
  report: NodeReport | undefined,
  nowMs: number,
): NodeOverview["processes"][number] {
  return {
    kind,
    address,
    ...(name !== undefined && { name }),
    ...(height !== undefined && { height }),
    ...(height !== undefined && report && { blocksBehind: Math.max(0, report.height - height) }),
    lastSeenSeconds: Math.max(0, Math.round((nowMs - lastSeenMs) / 1_000)),
  };
}

const slotsOf = ({ forged, missed, refused, keysUsedElsewhere }: NodeReport) => ({
  forged,
  missed,
  refused,
  keysUsedElsewhere,
});
