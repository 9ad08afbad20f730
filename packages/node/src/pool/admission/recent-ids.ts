/** Ids submitted since the last block, whatever their outcome (pool.md 4, stage A). */
import { deleteOldest } from "../../platform/bounded-entries.ts";

export type RecentIds = {
  /** Splits inputs into new and repeated ones, and stores the ids of the new ones. */
  partition<T>(inputs: readonly T[], idOf: (input: T) => string): [fresh: T[], repeated: T[]];
  /** Removes ids whose submission has ended without an outcome. */
  forget(ids: readonly string[]): void;
  clear(): void;
};

const MAX_IDS = 10_000;

export function createRecentIds(): RecentIds {
  /** Ids in order of arrival. */
  const ids = new Set<string>();

  function remember(id: string): void {
    if (ids.size >= MAX_IDS) deleteOldest(ids);
    ids.add(id);
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
    forget(forgotten) {
      for (const id of forgotten) ids.delete(id);
    },
    clear: () => ids.clear(),
  };
}
