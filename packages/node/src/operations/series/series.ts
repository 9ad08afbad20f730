/** The figures of the last hours: samples at equal intervals, in memory of a fixed size. */

/** Meaning of each figure; unknown figures are omitted from a sample. */
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

export type FigureName = keyof typeof SERIES_FIGURES;
export const FIGURE_NAMES = Object.keys(SERIES_FIGURES) as readonly FigureName[];

export type Sample = Readonly<Partial<Record<FigureName, number | undefined>>>;

/** Columns of equal length. Times are seconds since 1970, ascending; an unknown figure is null. */
export type SeriesColumns = {
  readonly times: number[];
  readonly figures: Record<FigureName, (number | null)[]>;
};

export type Series = {
  /** Adds a sample, and drops the oldest if the series is full. */
  add(atSeconds: number, sample: Sample): void;
  /** Samples later than a time, seconds since 1970. */
  since(afterSeconds: number): SeriesColumns;
};

/** @param capacity maximum number of samples */
export function createSeries(capacity: number): Series {
  const times = new Float64Array(capacity);
  const columns = FIGURE_NAMES.map((name) => ({ name, values: new Float64Array(capacity) }));
  let added = 0;

  /** Positions of the samples later than a time, the oldest first. */
  function positionsSince(afterSeconds: number): number[] {
    const positions: number[] = [];
    for (let index = Math.max(0, added - capacity); index < added; index++) {
      if (numberAt(times, index % capacity) > afterSeconds) positions.push(index % capacity);
    }
    return positions;
  }

  return {
    add(atSeconds, sample) {
      const position = added % capacity;
      times[position] = atSeconds;
      for (const { name, values } of columns) values[position] = sample[name] ?? Number.NaN;
      added++;
    },
    since(afterSeconds) {
      const positions = positionsSince(afterSeconds);
      const figures = columns.map(({ name, values }) => [
        name,
        positions.map((position) => {
          const value = numberAt(values, position);
          return Number.isNaN(value) ? null : value;
        }),
      ]);
      return {
        times: positions.map((position) => numberAt(times, position)),
        figures: Object.fromEntries(figures) as SeriesColumns["figures"],
      };
    },
  };
}

/** Returns the number at a position; NaN beyond the end. */
const numberAt = (column: Float64Array, position: number): number => column[position] ?? Number.NaN;
