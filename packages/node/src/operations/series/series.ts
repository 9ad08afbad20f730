/** The figures of the last hours: samples at equal intervals, in memory of a fixed size. */

/** Meaning of each figure; unknown figures are omitted from a sample. */
export const SERIES_FIGURES = {
  height: "Height of the head.",
  headAgeSeconds: "Network time since the head was forged.",
  blocksBehind: "Blocks missing compared with the network.",
  transactionsPerSecond: "Transactions of applied blocks, since the sample before.",
  poolTransactions: "Transactions in the pool.",
  poolBytes: "Bytes of the transactions in the pool.",
  peers: "Peers that the node knows.",
  slotsForged: "Slots forged by this node, since the sample before.",
  slotsMissed: "Slots of this node's delegates missed, since the sample before.",
  receivedBytesPerSecond: "From other nodes, since the sample before.",
  sentBytesPerSecond: "To other nodes, since the sample before.",
  residentBytes: "Resident memory of the process.",
  processorShare: "Processor time of all threads a second, since the sample before: 1 is one core.",
  freeDiskBytes: "Free bytes of the disk with the data folder.",
  deliveriesPerSecond: "Deliveries made, since the sample before.",
  deliveriesWaiting: "Deliveries that wait or are retried, without those of replays.",
  deliveryLagSeconds: "Age of the oldest delivery that waits or is retried; 0 if there is none.",
  matchingLagSeconds:
    "Age of the oldest event that is not matched against the webhooks yet; 0 if there is none.",
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
      if (times[index % capacity]! > afterSeconds) positions.push(index % capacity);
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
        positions.map((position) => (Number.isNaN(values[position]) ? null : values[position]!)),
      ]);
      return {
        times: positions.map((position) => times[position]!),
        figures: Object.fromEntries(figures) as SeriesColumns["figures"],
      };
    },
  };
}
