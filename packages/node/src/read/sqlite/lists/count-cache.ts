/**
 * Count cache: numbers of rows of lists. Counts of any table are cached until the next block. Counts of a growing table are
 * continued from one head to the next: each row is counted once regardless of later blocks. The writer of the chain stores
 * some counts of transactions, which need no counting. Rows are counted only on request, so that writing blocks costs nothing
 * (docs/decisions/0017-write-json-without-a-compiled-serializer.md).
 */
import { LRUCache } from "lru-cache";
import { present } from "../../../platform/present.ts";
import { firstIndex } from "../../../platform/sorted.ts";
import type { Database, Statement } from "../../../store/engine/database.ts";
import type { Direction } from "../../page.ts";
import { type Head, perHead } from "../../port.ts";
import type { Heights } from "../../sql.ts";
import type { TypeCount } from "../../transaction-rules.ts";
import {
  type AccessPaths,
  countText,
  inRange,
  type KeyedTable,
  keysText,
  StatementCache,
  valuesOf,
} from "./access-paths.ts";
import type { Condition } from "./conditions.ts";
import { type Chunks, MAX_NAME_LENGTH, TimeoutCache } from "./time-box.ts";

/** Maximum number of cached counts. */
const MAX_COUNTS = 1_000;

/** Cache of counts until the next block. */
export class CountCache {
  readonly #listed: KeyedTable;
  readonly #chunks: Chunks;
  readonly #statements: StatementCache;
  readonly #timeouts = new TimeoutCache();
  readonly #counts = perHead(() => new LRUCache<string, number>({ max: MAX_COUNTS }));

  constructor(database: Database, chunks: Chunks, listed: KeyedTable) {
    this.#listed = listed;
    this.#chunks = chunks;
    this.#statements = new StatementCache(database);
  }

  /** @throws {SnapshotError} */
  count(head: Head, paths: AccessPaths): number {
    const known = this.#counts(head);
    const name = [countText(this.#listed, paths), ...valuesOf(paths)].join("\0");
    const total =
      known.get(name) ??
      this.#timeouts.run(
        () => name,
        () => this.#countRows(paths),
      );
    if (name.length <= MAX_NAME_LENGTH) known.set(name, total);
    return total;
  }

  #countRows(paths: AccessPaths): number {
    // SQLite counts a table without reading its rows.
    if (paths.every(({ lookups, residuals }) => lookups.length + residuals.length === 0)) {
      return this.#countAtOnce(paths);
    }
    let total = 0;
    for (const chunk of this.#chunks.of(this.#listed, paths, "asc")) total += this.#countAtOnce(chunk.paths);
    return total;
  }

  #countAtOnce(paths: AccessPaths): number {
    const select = this.#statements.prepare(countText(this.#listed, paths));
    return (select.get(...valuesOf(paths)) as { total: number }).total;
  }
}

/** Detects reverted blocks, for caches that outlast a block. */
export class RevertCheck {
  readonly #blockId: Statement<{ id: string }>;
  #known: Head | undefined;

  constructor(database: Database) {
    this.#blockId = database.prepare("SELECT id_text AS id FROM blocks WHERE height = ?");
  }

  /** Returns whether the head of the last call is no longer in the chain. */
  hasReverted(head: Head): boolean {
    const known = this.#known;
    this.#known = head;
    return known !== undefined && known.id !== head.id && this.#blockId.get(known.height)?.id !== known.id;
  }
}

/** A table to which blocks append rows with their height. */
type GrowingTable = KeyedTable & { readonly key: readonly ["height", ...string[]] };

/** Entry of an offset cache by height: number of rows up to and including the block of a height. */
export type HeightEntry = { readonly height: number; readonly rows: number };

/** Counts of a filter: entries by ascending height, and the last counted block. */
type Counted = { readonly entries: HeightEntry[]; last: HeightEntry };

/** Number of rows of a growing table, with an offset cache of the list in the order of heights. */
export type IncrementalCount = {
  readonly totalCount: number;
  readonly entries: readonly HeightEntry[];
};

/** Rows between two entries, and so the maximum distance of a page from an entry, apart from the rest of a block. */
const STEP = 250;
/** Maximum number of cached filters. Each uses 32 bytes per step: 26 MB in total if each finds a million rows. */
const MAX_FILTERS = 200;
const START: HeightEntry = { height: 0, rows: 0 };

/** Counts that new blocks continue. */
export class IncrementalCounts {
  readonly #listed: GrowingTable;
  readonly #chunks: Chunks;
  readonly #statements: StatementCache;
  readonly #reverts: RevertCheck;
  readonly #countedByFilter = new LRUCache<string, Counted>({ max: MAX_FILTERS });

  constructor(database: Database, chunks: Chunks, listed: GrowingTable) {
    this.#listed = listed;
    this.#chunks = chunks;
    this.#statements = new StatementCache(database);
    this.#reverts = new RevertCheck(database);
  }

  /**
   * @param paths only conditions that do not depend on the head
   * @throws {SnapshotError}
   */
  count(head: Head, paths: AccessPaths): IncrementalCount {
    if (this.#reverts.hasReverted(head)) this.#countedByFilter.clear();
    const name = [keysText(this.#listed, paths), ...valuesOf(paths)].join("\0");
    const counted = this.#countedByFilter.get(name) ?? { entries: [], last: START };
    if (name.length <= MAX_NAME_LENGTH) this.#countedByFilter.set(name, counted);
    if (counted.last.height < head.height) this.#continue(head, paths, counted);
    return { totalCount: counted.last.rows, entries: counted.entries };
  }

  /** Keeps the partial count if the time runs out. */
  #continue(head: Head, paths: AccessPaths, counted: Counted): void {
    const { entries } = counted;
    const rest = inRange(paths, { sql: "height > ?", values: [counted.last.height] }, "low");
    for (const { paths: chunk, end } of this.#chunks.of(this.#listed, rest, "asc")) {
      const select = this.#statements.prepare(
        `SELECT height, COUNT(*) AS rows FROM (${keysText(this.#listed, chunk)}) GROUP BY height ORDER BY height`,
      );
      for (const { height, rows } of select.all(...valuesOf(chunk)) as HeightEntry[]) {
        counted.last = { height, rows: counted.last.rows + rows };
        if (counted.last.rows - (entries.at(-1) ?? START).rows >= STEP) entries.push(counted.last);
      }
      counted.last = { ...counted.last, height: end ? Number(end[0]) : head.height };
    }
  }
}

/** Start of a page: a row to start at, and the remaining offset from that row. */
export type Start = { readonly from?: Condition; readonly offset: number };

/**
 * Returns where a page in the order of heights starts.
 *
 * @param entries by ascending height
 */
export function startAt(
  entries: readonly HeightEntry[],
  totalCount: number,
  direction: Direction,
  offset: number,
): Start {
  const rowsAt = (index: number) => present(entries[index], "an entry").rows;
  if (direction === "asc") {
    const entry = entries[firstIndex(entries.length, (index) => rowsAt(index) > offset) - 1];
    if (!entry) return { offset };
    return { offset: offset - entry.rows, from: { sql: "height > ?", values: [entry.height] } };
  }
  const rank = totalCount - offset;
  const entry = entries[firstIndex(entries.length, (index) => rowsAt(index) >= rank)];
  if (!entry) return { offset };
  return { offset: entry.rows - rank, from: { sql: "height <= ?", values: [entry.height] } };
}

/** Counts of transactions that are stored with the blocks. */
export class StoredCounts {
  readonly #end: Statement<{ transactions: number }>;
  /** Returns the counts by type at a head. */
  readonly byType: (head: Head) => readonly TypeCount[];

  constructor(database: Database) {
    this.#end = database.prepare("SELECT transactions_up_to AS transactions FROM blocks WHERE height = ?");
    const types = database.prepare<TypeCount>(
      "SELECT type_group AS typeGroup, type, transactions FROM type_totals",
    );
    this.byType = perHead(() => types.all());
  }

  /** Returns the number of transactions up to and including the block of a height; 0 below the first block. */
  upTo(height: number): number {
    return this.#end.get(height)?.transactions ?? 0;
  }

  between({ low, high }: Heights): number {
    return low > high ? 0 : this.upTo(high) - this.upTo(low - 1);
  }

  /** Returns the lowest height whose count reaches `count`; one above the head if none does. */
  heightOf(count: number, head: Head): number {
    // Counts never decrease with the height: a binary search needs no index on them.
    return 1 + firstIndex(head.height, (index) => this.upTo(index + 1) >= count);
  }
}
