/** The figures of the last hours: samples at equal intervals, in memory of a fixed size, with totals converted to rates. */
import type { NodeReport } from "../gateway/figures.ts";
import { type DeliveryFigures, totalOf } from "../webhooks/figures.ts";

/** The meaning of each figure; unknown figures are omitted from a sample. */
export const SERIES_FIGURES = {
  height: "Height of the head.",
  headAgeSeconds: "Network time since the head was forged.",
  blocksBehind: "Blocks that the node is behind the network.",
  transactionsPerSecond: "Transactions of applied blocks, since the previous sample.",
  poolTransactions: "Transactions in the pool.",
  poolBytes: "Bytes of the transactions in the pool.",
  peers: "Known peers.",
  slotsForged: "Slots forged by this node, since the previous sample.",
  slotsMissed: "Missed slots of this node's delegates, since the previous sample.",
  receivedBytesPerSecond: "Bytes received from other nodes, since the previous sample.",
  sentBytesPerSecond: "Bytes sent to other nodes, since the previous sample.",
  residentBytes: "Resident memory of the process.",
  processorShare: "CPU time of all threads per second, since the previous sample; 1 is one core.",
  freeDiskBytes: "Free bytes on the disk of the data folder.",
  deliveriesPerSecond: "Successful deliveries, since the previous sample.",
  deliveriesWaiting: "Queued deliveries: waiting or retrying, excluding replays.",
  deliveryLagSeconds: "Age of the oldest queued delivery, excluding replays; 0 if there is none.",
  matchingLagSeconds: "Age of the oldest event not yet matched with the webhooks; 0 if there is none.",
  streams: "Open live streams.",
} as const;

type FigureName = keyof typeof SERIES_FIGURES;
export const FIGURE_NAMES = Object.keys(SERIES_FIGURES) as readonly FigureName[];

type Sample = Readonly<Partial<Record<FigureName, number | undefined>>>;

/** Columns of equal length. Times are seconds since 1970, ascending; an unknown figure is null. */
type SeriesColumns = {
  readonly times: number[];
  readonly figures: Record<FigureName, (number | null)[]>;
};

export class Series {
  readonly #capacity: number;
  readonly #times: Float64Array;
  readonly #columns: readonly { readonly name: FigureName; readonly values: Float64Array }[];
  #added = 0;

  /** @param capacity maximum number of samples */
  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#times = new Float64Array(capacity);
    this.#columns = FIGURE_NAMES.map((name) => ({ name, values: new Float64Array(capacity) }));
  }

  /** Adds a sample, and drops the oldest if the series is full. */
  add(atSeconds: number, sample: Sample): void {
    const position = this.#added % this.#capacity;
    this.#times[position] = atSeconds;
    for (const { name, values } of this.#columns) values[position] = sample[name] ?? Number.NaN;
    this.#added++;
  }

  /** Returns the samples later than a time, in seconds since 1970. */
  since(afterSeconds: number): SeriesColumns {
    const positions = this.#positionsSince(afterSeconds);
    const figures = this.#columns.map(({ name, values }) => [
      name,
      positions.map((position) => {
        const value = numberAt(values, position);
        return Number.isNaN(value) ? null : value;
      }),
    ]);
    return {
      times: positions.map((position) => numberAt(this.#times, position)),
      figures: Object.fromEntries(figures) as SeriesColumns["figures"],
    };
  }

  /** Returns the positions of the samples later than a time, the oldest first. */
  #positionsSince(afterSeconds: number): number[] {
    const positions: number[] = [];
    for (let index = Math.max(0, this.#added - this.#capacity); index < this.#added; index++) {
      const position = index % this.#capacity;
      if (numberAt(this.#times, position) > afterSeconds) positions.push(position);
    }
    return positions;
  }
}

/** Returns the number at a position; NaN beyond the end. */
const numberAt = (column: Float64Array, position: number): number => column[position] ?? Number.NaN;

type SamplingDeps = {
  readonly series: Pick<Series, "add">;
  /** Resolves to undefined if the consensus thread does not reply in time. */
  readonly report: () => Promise<NodeReport | undefined>;
  /** Transactions of all blocks of the chain. */
  readonly transactions: () => Promise<number>;
  readonly deliveries: Pick<DeliveryFigures, "webhooks" | "queues">;
  readonly freeBytes: () => number | undefined;
  /** Returns the number of open live streams. */
  readonly streams: () => number;
  /** Returns the memory, and the CPU time since the process started. */
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

export class Sampling {
  readonly #deps: SamplingDeps;
  #before: Totals | undefined;

  constructor(deps: SamplingDeps) {
    this.#deps = deps;
  }

  /** Reads the figures and adds a sample of the current time; calls must not overlap. */
  async sample(): Promise<void> {
    const { series, deliveries, freeBytes, streams, usage, nowMs } = this.#deps;
    const node = await this.#deps.report();
    const webhooks = await deliveries.webhooks();
    const queue = totalOf((await deliveries.queues()).values());
    const transactions = await this.#deps.transactions();
    const { residentBytes, processorMicroseconds } = usage();
    const atMs = nowMs();
    const totals: Totals = {
      transactions,
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
      ...ratesOf(this.#before, totals),
    });
    this.#before = totals;
  }
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
