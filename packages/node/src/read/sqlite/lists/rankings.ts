/**
 * Rankings that are kept from one head to the next, within a memory limit: another thread builds each on its first request,
 * and new blocks extend it (docs/decisions/0018-keep-unindexed-sort-orders-in-memory.md).
 */
import { LRUCache } from "lru-cache";
import type { Database } from "../../../store/engine/database.ts";
import type { Head } from "../../head.ts";
import { merged, type Ranking, sizeOf, upTo } from "./ranking.ts";
import { type Ranked, type RankingAt, readRanking, readRoots, TABLE } from "./reading.ts";
import { keysText, valuesOf } from "./selection.ts";

export type Rankings = {
  /** Returns a ranking, or undefined if it is not built yet. Must be called inside a snapshot. */
  find(head: Head, ranked: Ranked): Ranking | undefined;
};

export const NO_RANKINGS: Rankings = { find: () => undefined };

export type RankingOptions = {
  /** Maximum memory of all rankings. The least recently used ranking is evicted first. */
  readonly maxBytes: number;
  /** Maximum share of the time that is spent building rankings, above 0 and up to 1. Default: one half. */
  readonly maxShare?: number | undefined;
};

export type RankingDependencies = {
  readonly database: Database;
  /** Builds a ranking; resolves to undefined if it would exceed `maxBytes`. The implementation reports errors. */
  readonly build: (ranked: Ranked, maxBytes: number) => Promise<RankingAt | undefined>;
};

/** Maximum number of new rows to merge; after more rows, another thread builds the ranking again. */
const MAX_ADDED = 5_000;
/** Negative cache of rankings that are too large or failed to build. */
const MAX_REFUSED = 1_000;
const RETRY_AFTER_MS = 60_000;

export function createRankings(
  { maxBytes, maxShare = 0.5 }: RankingOptions,
  { database, build }: RankingDependencies,
): Rankings {
  const kept = new LRUCache<string, RankingAt>({
    maxSize: maxBytes,
    sizeCalculation: ({ ranking }) => 1 + sizeOf(ranking),
  });
  const refused = new LRUCache<string, true>({ max: MAX_REFUSED, ttl: RETRY_AFTER_MS });
  const blockId = database.prepare<{ id: string }>("SELECT id FROM blocks WHERE height = ?");
  const end = database.prepare<{ transactions: number }>(
    "SELECT transactions FROM block_ends WHERE height = ?",
  );
  const countUpTo = (height: number) => end.get(height)?.transactions ?? 0;
  let isBuilding = false;
  let restsUntilMs = 0;

  /** Builds one ranking at a time, with pauses, however many are requested. */
  async function begin(name: string, ranked: Ranked): Promise<void> {
    const startMs = performance.now();
    if (isBuilding || startMs < restsUntilMs || refused.has(name)) return;
    isBuilding = true;
    const built = await build(ranked, maxBytes).catch(() => undefined);
    isBuilding = false;
    if (built) kept.set(name, built);
    else refused.set(name, true);
    const endMs = performance.now();
    restsUntilMs = endMs + (endMs - startMs) * (1 / maxShare - 1);
  }

  /** Updates a ranking to another head; undefined if too much changed. */
  function following(head: Head, ranked: Ranked, { ranking, roots }: RankingAt): RankingAt | undefined {
    const root = roots.find(({ height, id }) => blockId.get(height)?.id === id);
    if (!root || countUpTo(head.height) - countUpTo(root.height) > MAX_ADDED) return undefined;
    const left = root === roots[0] ? ranking : upTo(ranking, root.height);
    const added = readRanking(database, ranked, { above: root.height, maxBytes });
    return added && { ranking: merged(left, added), roots: readRoots(database) };
  }

  return {
    find(head, ranked) {
      const { column, alternatives } = ranked;
      const name = JSON.stringify([
        column,
        keysText(TABLE, alternatives),
        valuesOf(alternatives).map((value) => [typeof value, `${value}`]),
      ]);
      const known = kept.get(name);
      if (known?.roots[0]?.id === head.id) return known.ranking;
      const followed = known && following(head, ranked, known);
      if (followed) kept.set(name, followed);
      else {
        kept.delete(name);
        void begin(name, ranked);
      }
      return followed?.ranking;
    },
  };
}
