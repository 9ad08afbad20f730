/** Views for operators besides health and metrics: the state of each part, the series of figures, the options. */

import type { RemoteProcesses } from "../../gateway/remote-processes.ts";
import type { Operator } from "../../operations/http/operator.ts";
import type { Operations } from "../../operations/http/routes.ts";
import { createOverview } from "../../operations/overview/overview.ts";
import { createSampling, sampleRegularly } from "../../operations/series/sampling.ts";
import { createSeries } from "../../operations/series/series.ts";
import { shared } from "../../operations/shared-result.ts";
import { PROTOCOL_VERSION, programVersion } from "../../platform/lifecycle/version.ts";
import type { ServingContext } from "./context.ts";
import { inTime } from "./operations.ts";
import type { Sources } from "./sources.ts";

export type OperatorDeps = {
  readonly ready: Operations["ready"];
  /** Open live streams. */
  readonly streams: () => number;
  /** Mirrors, API servers and delivery workers that use this node. */
  readonly processes: RemoteProcesses["list"];
};

const SAMPLE_EVERY_SECONDS = 10;
/** Six hours. */
const SAMPLES = 2_160;

export function buildOperator(
  { data, gateway, slots, timestampOf, closing, logger }: ServingContext,
  { operatorRows: rows, deliveryFigures, state }: Sources,
  deps: OperatorDeps,
): Operator {
  const { forgers = [], shownOptions = [] } = data;
  const report = () => inTime(gateway.report());
  const sources = { ...deps, report, rows, state, freeBytes: state.freeBytes };
  const series = createSeries(SAMPLES);
  const sample = createSampling({
    ...sources,
    series,
    transactions: rows.transactions,
    deliveries: deliveryFigures,
    usage: () => {
      const { user, system } = process.cpuUsage();
      return { residentBytes: process.memoryUsage.rss(), processorMicroseconds: user + system };
    },
    nowMs: Date.now,
  });
  const sampling = sampleRegularly(sample, SAMPLE_EVERY_SECONDS * 1_000, (err) =>
    logger.error({ err }, "failed to sample metrics"),
  );
  closing.add("sampling", sampling.close);

  return {
    overview: shared(
      createOverview({
        ...sources,
        slotTime: slots.slotTime,
        nowMs: Date.now,
        timestampOf,
        version: programVersion(),
        protocol: PROTOCOL_VERSION,
        forgers,
      }),
    ),
    series,
    seriesIntervalSeconds: SAMPLE_EVERY_SECONDS,
    options: shownOptions,
  };
}
