/** Views for operators besides health and metrics: the state of each part, the series of figures, the options. */

import type { Gateway } from "../../gateway/gateway.ts";
import type { TimestampOf } from "../../http/answers/timestamp.ts";
import type { Operator } from "../../operations/http/operator.ts";
import type { Operations } from "../../operations/http/routes.ts";
import { createOverview } from "../../operations/overview/overview.ts";
import { createSampling } from "../../operations/series/sampling.ts";
import { createSeries } from "../../operations/series/series.ts";
import { PROTOCOL_VERSION, programVersion } from "../../platform/lifecycle/version.ts";
import type { Database } from "../../store/engine/database.ts";
import type { Writes } from "../../store/engine/writes.ts";
import { createSlotStore } from "../../store/node/slots.ts";
import { createSqliteFigures } from "../../webhooks/sqlite/figures.ts";
import { inTime, shared } from "./operations.ts";
import type { ServingData } from "./thread.ts";

export type OperatorDeps = {
  /** A read-only connection. */
  readonly database: Database;
  readonly gateway: Pick<Gateway, "report">;
  readonly ready: Operations["ready"];
  /** Open live streams. */
  readonly streams: () => number;
  readonly writes: Pick<Writes, "trouble" | "failures">;
  /** Returns the free bytes on the disk of the data folder. */
  readonly freeBytes: () => number | undefined;
  /** First second of a slot, since the network epoch. */
  readonly slotTime: (slot: number) => number;
  readonly timestampOf: TimestampOf;
  readonly onFault: (error: unknown) => void;
};

const SAMPLE_EVERY_SECONDS = 10;
/** Six hours. */
const SAMPLES = 2_160;

export function createOperator(
  { forgers = [], shownOptions = [] }: Pick<ServingData, "forgers" | "shownOptions">,
  { database, gateway, onFault, ...deps }: OperatorDeps,
): Operator & { close(): void } {
  const report = () => inTime(gateway.report());
  const series = createSeries(SAMPLES);
  const total = database.prepare<{ transactions: number }>(
    "SELECT transactions FROM block_ends ORDER BY height DESC LIMIT 1",
  );
  const sample = createSampling({
    ...deps,
    series,
    report,
    transactions: () => total.get()?.transactions ?? 0,
    deliveries: createSqliteFigures(database),
    usage: () => {
      const { user, system } = process.cpuUsage();
      return { residentBytes: process.memoryUsage.rss(), processorMicroseconds: user + system };
    },
    nowMs: Date.now,
  });

  let isSampling = false;
  async function addSample(): Promise<void> {
    if (isSampling) return;
    isSampling = true;
    await sample().catch(onFault);
    isSampling = false;
  }
  void addSample();
  const timer = setInterval(addSample, SAMPLE_EVERY_SECONDS * 1_000).unref();

  return {
    overview: shared(
      createOverview({
        ...deps,
        version: programVersion(),
        protocol: PROTOCOL_VERSION,
        report,
        forgers,
        slotStore: createSlotStore(database),
      }),
    ),
    series,
    seriesIntervalSeconds: SAMPLE_EVERY_SECONDS,
    options: shownOptions,
    close: () => clearInterval(timer),
  };
}
