/** Ids submitted since the last block, whatever became of them (pool.md section 4, stage A). */

export type RecentIds = {
  /** Splits inputs into new and repeated ones, and remembers the new. */
  partition<T>(inputs: readonly T[], idOf: (input: T) => string): [fresh: T[], repeated: T[]];
  clear(): void;
};

const MAX_IDS = 10_000;

export function createRecentIds(): RecentIds {
  const ids = new Set<string>();

  function remember(id: string): void {
    ids.add(id);
    if (ids.size <= MAX_IDS) return;
    const [oldest] = ids;
    ids.delete(oldest!);
  }

  return {
    partition(inputs, idOf) {
      const fresh: (typeof inputs)[number][] = [];
      const repeated: (typeof inputs)[number][] = [];
      for (const input of inputs) {
        const id = idOf(input);
        (ids.has(id) ? repeated : fresh).push(input);
        remember(id);
      }
      return [fresh, repeated];
    },
    clear: () => ids.clear(),
  };
}
