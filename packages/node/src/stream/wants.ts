/** Which events the open streams want, all of them together. */

export type Wants = {
  /** Settles with the sequence behind which the log has every event of these names. */
  add(names: readonly string[]): Promise<number>;
  /** Takes back one `add`. */
  remove(names: readonly string[]): void;
};

/** See `Gateway.streamsChanged`. */
export type StreamsChanged = (names: string[]) => Promise<Record<string, number>>;

export function createWants(streamsChanged: StreamsChanged): Wants {
  /** Streams that want a name. */
  const counts = new Map<string, number>();

  return {
    async add(names) {
      for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
      // Asked each time: a log that had a gap meanwhile begins anew.
      const since = await streamsChanged([...counts.keys()]);
      return Math.max(...names.map((name) => since[name]!));
    },
    remove(names) {
      for (const name of names) {
        const left = counts.get(name)! - 1;
        if (left > 0) counts.set(name, left);
        else counts.delete(name);
      }
      // If it gets lost, the next one says the same.
      streamsChanged([...counts.keys()]).catch(() => {});
    },
  };
}
