/**
 * Cache of value indexes, kept from one head to the next within a memory limit: another thread builds each on its first
 * request, and new blocks extend it (docs/decisions/0018-keep-unindexed-sort-orders-in-memory.md).
 */
import { LRUCache } from "lru-cache";
import type { Database, Statement } from "../../../store/engine/database.ts";
import type { Head } from "../../port.ts";
import { type AccessPaths, fromText, inRange, keysText, TRANSACTIONS, valuesOf } from "./access-paths.ts";
import { StoredCounts } from "./count-cache.ts";
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

export type ValueIndexOptions = {
  /** Builds a value index in another thread; resolves to undefined if it would exceed `maxBytes`. Reports errors. */
  build(definition: ValueIndexDefinition, maxBytes: number): Promise<ValueIndexAt | undefined>;
  /** Maximum share of the time that is spent building value indexes, above 0 and up to 1. Default: one half. */
  readonly maxShare?: number | undefined;
  /** Maximum memory of all value indexes. The least recently used value index is evicted first. Default: 96 MiB. */
  readonly maxBytes?: number;
};

/** All seven orders of a million transactions use 75 MB (docs/decisions/0018-keep-unindexed-sort-orders-in-memory.md). */
const MAX_BYTES = 96 * 2 ** 20;
/** Maximum number of new rows to merge; after more rows, another thread builds the value index again. */
const MAX_ADDED = 5_000;
/** Negative cache of value indexes that are too large or failed to build. */
const MAX_REFUSED = 1_000;
const RETRY_AFTER_MS = 60_000;

export class ValueIndexes {
  readonly #options: ValueIndexOptions;
  readonly #maxBytes: number;
  readonly #database: Database;
  readonly #kept: LRUCache<string, ValueIndexAt>;
  readonly #refused = new LRUCache<string, true>({ max: MAX_REFUSED, ttl: RETRY_AFTER_MS });
  readonly #blockId: Statement<{ id: string }>;
  readonly #storedCounts: StoredCounts;
  #isBuilding = false;
  #restsUntilMs = 0;

  constructor(options: ValueIndexOptions, database: Database) {
    this.#options = options;
    this.#maxBytes = options.maxBytes ?? MAX_BYTES;
    this.#database = database;
    this.#kept = new LRUCache({
      maxSize: this.#maxBytes,
      sizeCalculation: ({ valueIndex }) => 1 + sizeOf(valueIndex),
    });
    this.#blockId = database.prepare("SELECT id_text AS id FROM blocks WHERE height = ?");
    this.#storedCounts = new StoredCounts(database);
  }

  /** Returns a value index, or undefined if it is not built yet. Must be called inside a snapshot. */
  find(head: Head, definition: ValueIndexDefinition): ValueIndex | undefined {
    const name = nameOf(definition);
    const known = this.#kept.get(name);
    if (known?.roots[0]?.id === head.id) return known.valueIndex;
    const followed = known && this.#following(head, definition, known);
    if (followed) this.#kept.set(name, followed);
    else {
      this.#kept.delete(name);
      void this.#begin(name, definition);
    }
    return followed?.valueIndex;
  }

  /** Builds one value index at a time, with pauses, however many are requested. */
  async #begin(name: string, definition: ValueIndexDefinition): Promise<void> {
    const { maxShare = 0.5 } = this.#options;
    const startMs = performance.now();
    if (this.#isBuilding || startMs < this.#restsUntilMs || this.#refused.has(name)) return;
    this.#isBuilding = true;
    const built = await this.#options.build(definition, this.#maxBytes).catch(() => undefined);
    this.#isBuilding = false;
    if (built) this.#kept.set(name, built);
    else this.#refused.set(name, true);
    const endMs = performance.now();
    this.#restsUntilMs = endMs + (endMs - startMs) * (1 / maxShare - 1);
  }

  /** Updates a value index to another head; undefined if too much changed. */
  #following(
    head: Head,
    definition: ValueIndexDefinition,
    { valueIndex, roots }: ValueIndexAt,
  ): ValueIndexAt | undefined {
    const root = roots.find(({ height, id }) => this.#blockId.get(height)?.id === id);
    if (!root) return undefined;
    const { height } = root;
    const added = this.#storedCounts.upTo(head.height) - this.#storedCounts.upTo(height);
    if (added > MAX_ADDED) return undefined;
    const left = root === roots[0] ? valueIndex : upTo(valueIndex, height);
    const newer = readValueIndex(this.#database, definition, { above: height, maxBytes: this.#maxBytes });
    return newer && { valueIndex: merged(left, newer), roots: readRoots(this.#database) };
  }
}

/** Returns a cache key: equal for equal definitions. */
const nameOf = ({ column, paths }: ValueIndexDefinition): string =>
  JSON.stringify([
    column,
    keysText(TRANSACTIONS, paths),
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
    (one) => `SELECT height, sequence, ${column} AS indexed_value ${fromText(TRANSACTIONS, one)}`,
  );
  const rows = database.prepare<ValueIndexRow>(
    `SELECT height * ${SEQUENCES} + sequence AS position, CAST(indexed_value AS TEXT) AS value FROM (${texts.join(" UNION ")})
     ORDER BY indexed_value IS NULL, indexed_value, height DESC, sequence DESC`,
  );
  return valueIndexOf(kind, rows.iterate(...valuesOf(found)), maxBytes);
}
