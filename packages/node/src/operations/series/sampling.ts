/** Fills the series: reads the figures at equal intervals, and converts totals to rates. */
import type { NodeReport } from "../../gateway/figures.ts";
import type { DeliveryFigures } from "../../webhooks/figures.ts";
import { totalOf } from "../../webhooks/figures.ts";
import type { OperatorRows } from "../operator-rows.ts";
import type { Sample, Series } from "./series.ts";

export type SamplingDeps = {
  readonly series: Pick<Series, "add">;
  /** Settles with undefined if the consensus thread does not reply in time. */
  readonly report: () => Promise<NodeReport | undefined>;
  /** Transactions of all blocks of the chain. */
  readonly transactions: OperatorRows["transactions"];
  readonly deliveries: Pick<DeliveryFigures, "webhooks" | "queues">;
  readonly freeBytes: () => number | undefined;
  /** Open live streams. */
  readonly streams: () => number;
  /** Bytes, and microseconds of CPU time since the process started. */
  readonly usage: () => { readonly residentBytes: number; readonly processorMicroseconds: number };
  readonly nowMs: () => number;
};

/** Growing totals at a time of a monotonic clock. */
type Totals = Readonly<
  Partial<Record<"transactions" | "forged" | "missed" | "received" | "sent" | "fired", number>>
> & {
  readonly processorMicroseconds: number;
  readonly monotonicMs: number;
};

/** Adds a sample of the current time; calls must not overlap. */
export function createSampling({
  series,
  report,
  transactions,
  deliveries,
  freeBytes,
  streams,
  usage,
  nowMs,
}: SamplingDeps): () => Promise<void> {
  let before: Totals | undefined;

  return async () => {
    const node = await report();
    const webhooks = await deliveries.webhooks();
    const queue = totalOf((await deliveries.queues()).values());
    const chainTransactions = await transactions();
    const { residentBytes, processorMicroseconds } = usage();
    const atMs = nowMs();
    const totals: Totals = {
      transactions: chainTransactions,
      fired: webhooks.fired,
      processorMicroseconds,
      monotonicMs: performance.now(),
      ...(node && {
        forged: node.forged,
        missed: node.missed,
        received: node.traffic.receivedBytes,
        sent: node.traffic.sentBytes,
      }),
    };
    series.add(Math.floor(atMs / 1_000), {
      ...(node && {
        height: node.height,
        headAgeSeconds: node.headAgeSeconds,
        blocksBehind: node.blocksBehind,
        poolTransactions: node.poolSize,
        poolBytes: node.poolBytes,
        peers: node.peers,
      }),
      residentBytes,
      freeDiskBytes: freeBytes(),
      deliveriesWaiting: queue.waiting + queue.retrying,
      deliveryLagSeconds: ageOf(queue.oldestMs, atMs),
      matchingLagSeconds: ageOf(webhooks.unmatchedSinceMs, atMs),
      streams: streams(),
      ...ratesOf(before, totals),
    });
    before = totals;
  };
}

/**
 * Samples now and at each interval; omits a sample while the previous one is running.
 *
 * @param onFault called with the error of a sample; a sample that runs during `close` may fail, because the databases are closed
 */
export function sampleRegularly(
  sample: () => Promise<void>,
  intervalMs: number,
  onFault: (error: unknown) => void,
): { close(): void } {
  let isSampling = false;
  let isClosed = false;
  async function addSample(): Promise<void> {
    if (isSampling) return;
    isSampling = true;
    await sample().catch((error) => {
      if (!isClosed) onFault(error);
    });
    isSampling = false;
  }
  void addSample();
  const timer = setInterval(addSample, intervalMs).unref();
  return {
    close() {
      isClosed = true;
      clearInterval(timer);
    },
  };
}

const ageOf = (sinceMs: number | undefined, nowMs: number): number =>
  sinceMs === undefined ? 0 : Math.max(0, nowMs - sinceMs) / 1_000;

/** Returns no rates for the first sample, and none for a figure that is unknown in either sample. */
function ratesOf(before: Totals | undefined, now: Totals): Sample {
  if (!before) return {};
  const seconds = (now.monotonicMs - before.monotonicMs) / 1_000;
  // Reverted blocks are not counted: a rate is never negative.
  const grownBy = (name: Exclude<keyof Totals, "monotonicMs">): number | undefined => {
    const from = before[name];
    const to = now[name];
    return from === undefined || to === undefined ? undefined : Math.max(0, to - from);
  };
  const rateOf = (name: Parameters<typeof grownBy>[0]): number | undefined => {
    const growth = grownBy(name);
    return growth === undefined || seconds <= 0 ? undefined : rounded(growth / seconds);
  };
  const processor = rateOf("processorMicroseconds");
  return {
    transactionsPerSecond: rateOf("transactions"),
    deliveriesPerSecond: rateOf("fired"),
    receivedBytesPerSecond: rateOf("received"),
    sentBytesPerSecond: rateOf("sent"),
    slotsForged: grownBy("forged"),
    slotsMissed: grownBy("missed"),
    processorShare: processor === undefined ? undefined : rounded(processor / 1e6),
  };
}

const rounded = (value: number): number => Math.round(value * 1_000) / 1_000;
