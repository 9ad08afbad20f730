/** Composes the state of the node by part, for operators. */
import type { NodeReport } from "../../gateway/figures.ts";
import type { SeenProcess } from "../../gateway/remote-processes.ts";
import type { Timestamp, TimestampOf } from "../../http/responses/timestamp.ts";
import type { Readiness } from "../health/health.ts";
import type { ProcessFigures } from "../metrics/process.ts";
import type { OperatorRows } from "../operator-rows.ts";
import type { NodeOverview } from "./response.ts";

export type OverviewDeps = {
  readonly version: string;
  readonly protocol: string;
  readonly ready: () => Promise<Readiness>;
  readonly report: () => Promise<NodeReport | undefined>;
  /** Mirrors, API servers and delivery workers that use this node. */
  readonly processes: () => readonly SeenProcess[];
  /** Unix time in milliseconds. */
  readonly nowMs: () => number;
  /** Public keys that the node forges with. */
  readonly forgers: readonly string[];
  readonly rows: Pick<OperatorRows, "forgedBy" | "missed">;
  /** First second of a slot, since the network epoch. */
  readonly slotTime: (slot: number) => number;
  readonly timestampOf: TimestampOf;
  readonly freeBytes: () => number | undefined;
  readonly state: {
    /** Error of the last write to the database. */
    readonly trouble: () => string | undefined;
    readonly figures: () => Pick<ProcessFigures, "failedWrites">;
  };
};

const MAX_MISSED = 100;

export function createOverview(deps: OverviewDeps): () => Promise<NodeOverview> {
  const { version, protocol, forgers, rows } = deps;
  const timestampOf = (slot: number): Timestamp => deps.timestampOf(deps.slotTime(slot));

  async function delegate(publicKey: string): Promise<NodeOverview["forger"]["delegates"][number]> {
    const last = await rows.forgedBy(publicKey);
    return { publicKey, ...(last && { lastForged: { ...last, timestamp: timestampOf(last.slot) } }) };
  }

  return async () => {
    const { isReady, checks } = await deps.ready();
    const report = await deps.report();
    const freeBytes = deps.freeBytes();
    const problem = deps.state.trouble();
    const delegates = await Promise.all(forgers.map(delegate));
    const missed = await rows.missed(MAX_MISSED);
    return {
      version,
      protocol,
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
          timestamp: timestampOf(slot),
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
  };
}

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
    ...{ kind, address, ...(name !== undefined && { name }), ...(height !== undefined && { height }) },
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
