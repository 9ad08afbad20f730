/** Operator's view of a node that does not forge, with two samples of its figures. */
import type { Operator } from "../../src/operations/http/operator.ts";
import { readOverview } from "../../src/operations/overview.ts";
import { Series } from "../../src/operations/series.ts";
import { REPORT } from "./fixture.ts";

const timestamp = { epoch: 8, unix: 1_568_893_338, human: "2019-09-19T11:42:18.474Z" };

/** @param report null: consensus does not respond */
export function createOperator(report: typeof REPORT | null = REPORT): Operator {
  const series = new Series(3);
  series.add(100, { height: 5, residentBytes: 1_000 });
  series.add(110, { height: 6, residentBytes: 2_000, slotsMissed: 1 });
  return {
    overview: () =>
      readOverview({
        version: "1.2.3",
        protocol: "5.7.2",
        ready: async () => ({ isReady: true, checks: { disk: { ok: true, detail: "is written" } } }),
        report: async () => report ?? undefined,
        forgers: ["02aa", "03bb"],
        rows: {
          forgedBy: async (publicKey) => (publicKey === "02aa" ? { slot: 1, blockId: "12" } : undefined),
          missed: async () => [{ publicKey: "03bb", slot: 2, reason: "the node was not in sync" }],
        },
        processes: () => [
          { kind: "mirror", address: "192.0.2.2", height: REPORT.height - 2, lastSeenMs: 7_000 },
          { kind: "server", address: "192.0.2.3", name: "api:4004", lastSeenMs: 1_000 },
        ],
        nowMs: () => 10_000,
        slotTime: () => timestamp.epoch,
        timestampOf: () => timestamp,
        freeBytes: () => 4_096,
        state: { trouble: () => undefined, figures: () => ({ failedWrites: 0 }) },
      }),
    series,
    seriesIntervalSeconds: 10,
    options: [
      { option: "httpPort", value: 4_003, origin: "default" },
      { option: "webhookToken", value: "***", origin: "environment", source: "environment variable X" },
      { option: "webhookHosts", origin: "default" },
    ],
  };
}
