/** Ids submitted since the last block, whatever their outcome (pool.md 4, stage A). */

export type RecentIds = {
  /** Splits inputs into new and repeated ones, and stores the ids of the new ones. */
  partition<T>(inputs: readonly T[], idOf: (input: T) => string): [fresh: T[], repeated: T[]];
  clear(): void;
};

const MAX_IDS = 10_000;

export function createRecentIds(): RecentIds {
  const ids = new Set<string>();
  /** The same ids in a ring buffer; its next index has the oldest. */
  let ring: string[] = [];
  let next = 0;

  function remember(id: string): void {
    const oldest = ring[next];
    if (oldest !== undefined) ids.delete(oldest);
    ids.add(id);
    ring[next] = id;
    next = (next + 1) % MAX_IDS;
  }

  return {
    partition(inputs, idOf) {
      const fresh: (typeof inputs)[number][] = [];
      const repeated: (typeof inputs)[number][] = [];
      for (const input of inputs) {
        const id = idOf(input);
        if (ids.has(id)) repeated.push(input);
        else {
          fresh.push(input);
          remember(id);
        }
      }
      return [fresh, repeated];
    },
    clear() {
      ids.clear();
      ring = [];
      next = 0;
    },
  };
}
