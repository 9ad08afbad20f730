/**
 * Cache of value indexes, kept from one head to the next within a memory limit: another thread builds each on its first
 * request, and new blocks extend it (docs/decisions/0018-keep-unindexed-sort-orders-in-memory.md).
 */
import { LRUCache } from "lru-cache";
import type { Database } from "../../../store/engine/database.ts";
import type { Head } from "../../port.ts";
import { type AccessPaths, fromText, inRange, keysText, valuesOf } from "./access-paths.ts";
import {
  type Kind,
  merged,
  SEQUENCES,
  sizeOf,
  upTo,
  type ValueIndex,
  type ValueIndexRow,
  valueIndexOf,
} from "./value-index.ts";

/** Definition of a value index: transactions in the order of a column. */
export type ValueIndexDefinition = {
  readonly column: string;
  readonly kind: Kind;
  /** Rows of the value index; must not depend on the head. */
  readonly paths: AccessPaths;
};

/** A value index of all rows up to the first block of `roots`, which are consecutive blocks in descending order. */
export type ValueIndexAt = { readonly valueIndex: ValueIndex; readonly roots: readonly Head[] };

const TABLE = { table: "transactions", key: ["height", "sequence"] };

export type ValueIndexes = {
  /** Returns a value index, or undefined if it is not built yet. Must be called inside a snapshot. */
  find(head: Head, definition: ValueIndexDefinition): ValueIndex | undefined;
};

export const NO_VALUE_INDEXES: ValueIndexes = { find: () => undefined };

export type ValueIndexOptions = {
  /** Maximum memory of all value indexes. The least recently used value index is evicted first. */
  readonly maxBytes: number;
  /** Maximum share of the time that is spent building value indexes, above 0 and up to 1. Default: one half. */
  readonly maxShare?: number | undefined;
};

export type ValueIndexDependencies = {
  readonly database: Database;
  /** Builds a value index; resolves to undefined if it would exceed `maxBytes`. The implementation reports errors. */
  readonly build: (definition: ValueIndexDefinition, maxBytes: number) => Promise<ValueIndexAt | undefined>;
};

/** Maximum number of new rows to merge; after more rows, another thread builds the value index again. */
const MAX_ADDED = 5_000;
/** Negative cache of value indexes that are too large or failed to build. */
const MAX_REFUSED = 1_000;
const RETRY_AFTER_MS = 60_000;

export function createValueIndexes(
  { maxBytes, maxShare = 0.5 }: ValueIndexOptions,
  { database, build }: ValueIndexDependencies,
): ValueIndexes {
  const kept = new LRUCache<string, ValueIndexAt>({
    maxSize: maxBytes,
    sizeCalculation: ({ valueIndex }) => 1 + sizeOf(valueIndex),
  });
  const refused = new LRUCache<string, true>({ max: MAX_REFUSED, ttl: RETRY_AFTER_MS });
  const blockId = database.prepare<{ id: string }>("SELECT id_text AS id FROM blocks WHERE height = ?");
  const end = database.prepare<{ transactions: number }>(
    "SELECT transactions_up_to AS transactions FROM blocks WHERE height = ?",
  );
  const countUpTo = (height: number) => end.get(height)?.transactions ?? 0;
  let isBuilding = false;
  let restsUntilMs = 0;

  /** Builds one value index at a time, with pauses, however many are requested. */
  async function begin(name: string, definition: ValueIndexDefinition): Promise<void> {
    const startMs = performance.now();
    if (isBuilding || startMs < restsUntilMs || refused.has(name)) return;
    isBuilding = true;
    const built = await build(definition, maxBytes).catch(() => undefined);
    isBuilding = false;
    if (built) kept.set(name, built);
    else refused.set(name, true);
    const endMs = performance.now();
    restsUntilMs = endMs + (endMs - startMs) * (1 / maxShare - 1);
  }

  /** Updates a value index to another head; undefined if too much changed. */
  function following(
    head: Head,
    definition: ValueIndexDefinition,
    { valueIndex, roots }: ValueIndexAt,
  ): ValueIndexAt | undefined {
    const root = roots.find(({ height, id }) => blockId.get(height)?.id === id);
    if (!root || countUpTo(head.height) - countUpTo(root.height) > MAX_ADDED) return undefined;
    const left = root === roots[0] ? valueIndex : upTo(valueIndex, root.height);
    const added = readValueIndex(database, definition, { above: root.height, maxBytes });
    return added && { valueIndex: merged(left, added), roots: readRoots(database) };
  }

  return {
    find(head, definition) {
      const name = nameOf(definition);
      const known = kept.get(name);
      if (known?.roots[0]?.id === head.id) return known.valueIndex;
      const followed = known && following(head, definition, known);
      if (followed) kept.set(name, followed);
      else {
        kept.delete(name);
        void begin(name, definition);
      }
      return followed?.valueIndex;
    },
  };
}

/** Returns a cache key: equal for equal definitions. */
const nameOf = ({ column, paths }: ValueIndexDefinition): string =>
  JSON.stringify([
    column,
    keysText(TABLE, paths),
    valuesOf(paths).map((value) => [typeof value, `${value}`]),
  ]);

/** Number of blocks that can be reverted without reading all rows again. */
const ROOTS = 100;

/** Reads a value index with its blocks, in one snapshot. */
export function readValueIndexAt(
  database: Database,
  definition: ValueIndexDefinition,
  maxBytes: number,
): ValueIndexAt | undefined {
  const roots = readRoots(database);
  const valueIndex = readValueIndex(database, definition, { above: 0, maxBytes });
  return valueIndex && { valueIndex, roots };
}

const readRoots = (database: Database): Head[] =>
  database
    .prepare<Head>(`SELECT id_text AS id, height, timestamp FROM blocks ORDER BY height DESC LIMIT ${ROOTS}`)
    .all();

/** Reads a value index of the rows above a height; undefined if it would be too large. */
function readValueIndex(
  database: Database,
  { column, kind, paths }: ValueIndexDefinition,
  { above, maxBytes }: { above: number; maxBytes: number },
): ValueIndex | undefined {
  const found = inRange(paths, { sql: "height > ?", values: [above] });
  const texts = found.map(
    (one) => `SELECT height, sequence, ${column} AS indexed_value ${fromText(TABLE, one)}`,
  );
  const rows = database.prepare<ValueIndexRow>(
    `SELECT height * ${SEQUENCES} + sequence AS position, CAST(indexed_value AS TEXT) AS value FROM (${texts.join(" UNION ")})
     ORDER BY indexed_value IS NULL, indexed_value, height DESC, sequence DESC`,
  );
  return valueIndexOf(kind, rows.iterate(...valuesOf(found)), maxBytes);
}
