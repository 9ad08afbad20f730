/**
 * Time box of a list: its time limit, the negative cache of lists that exceeded it, and the chunks in which long scans are
 * read. SQLite does not stop within a statement, so that the clock is checked between chunks.
 */
import { LRUCache } from "lru-cache";
import type { Database, SqlValue } from "../../../store/engine/database.ts";
import type { Direction } from "../../page.ts";
import { SnapshotError } from "../../port.ts";
import {
  type AccessPaths,
  furtherText,
  inRange,
  type KeyedTable,
  StatementCache,
  sortedByOf,
  valuesOf,
  withoutResiduals,
} from "./access-paths.ts";
import { type Condition, comparerOf } from "./conditions.ts";

/** Maximum that counts of the time between two checks of the clock: beyond it, the machine was busy with other work. */
const MAX_STEP_MS = 5;
/** Rows that are read or converted one by one between two checks of the clock. */
const ROWS_PER_CHECK = 256;

/** Time limit for reading one list: the read blocks its thread. */
export class TimeBox {
  readonly #maxMs: number;
  readonly #elapsedMs: () => number;
  #remainingMs = 0;
  #checkedMs = 0;
  #rows = 0;

  /** @param elapsedMs a monotonic clock */
  constructor(maxMs: number, elapsedMs = () => performance.now()) {
    this.#maxMs = maxMs;
    this.#elapsedMs = elapsedMs;
  }

  /** Starts the time for the rows of one list. */
  begin(): void {
    this.#remainingMs = this.#maxMs;
    this.#checkedMs = this.#elapsedMs();
  }

  /**
   * Must be called before every statement; a statement must not read more rows than it can in some milliseconds.
   *
   * @returns milliseconds since the last check
   * @throws {SnapshotError} if the time is up
   */
  check(): number {
    const nowMs = this.#elapsedMs();
    const spentMs = nowMs - this.#checkedMs;
    this.#checkedMs = nowMs;
    this.#remainingMs -= Math.min(spentMs, MAX_STEP_MS);
    if (this.#remainingMs < 0) throw new SnapshotError("SNAPSHOT_TIMEOUT");
    return spentMs;
  }

  /** Must be called for each row that is read or converted alone: checks the clock now and then. */
  checkRow(): void {
    if (++this.#rows % ROWS_PER_CHECK === 0) this.check();
  }

  /** Converts all rows of a statement. */
  convert<Row, Result>(rows: Iterable<Row>, convert: (row: Row) => Result): Result[] {
    const results: Result[] = [];
    for (const row of rows) {
      results.push(convert(row));
      this.checkRow();
    }
    return results;
  }
}

/** Maximum length of the name of a cached list. */
export const MAX_NAME_LENGTH = 4_000;
/** Maximum number of lists in a negative cache, and the time for which they are cached. */
const MAX_TIMEOUTS = 200;
const RETRY_AFTER_MS = 10_000;

/** Negative cache of timeouts: a list that exceeded its time is refused for a while. */
export class TimeoutCache {
  readonly #timeouts = new LRUCache<string, SnapshotError>({ max: MAX_TIMEOUTS, ttl: RETRY_AFTER_MS });

  /**
   * @param nameOf returns the name of the list
   * @throws {SnapshotError} thrown by `work`, now or in a recent call
   */
  run<T>(nameOf: () => string, work: () => T): T {
    const timeout = this.#timeouts.size > 0 ? this.#timeouts.get(nameOf()) : undefined;
    if (timeout) throw timeout;
    try {
      return work();
    } catch (error) {
      const name = nameOf();
      if (error instanceof SnapshotError && name.length <= MAX_NAME_LENGTH) this.#timeouts.set(name, error);
      throw error;
    }
  }
}

/** Rows that are adjacent in the index that finds them, whether or not they meet the residual conditions. */
type Chunk = {
  /** Access paths restricted to the chunk. */
  readonly paths: AccessPaths;
  /** End of the chunk, as values of the columns that order the index; absent if the list ends with it. */
  readonly end?: readonly SqlValue[];
  /** True if the chunk is the whole list. */
  readonly isAll: boolean;
};

/** Number of rows that an index finds in a chunk, per access path: the first size and its later bounds. */
const SIZES = { initial: 64, min: 64, max: 8_192 };
/** The next chunk is longer if this one took less time, and shorter if it took more. */
const SHORT_MS = 1;
const LONG_MS = 4;

/** Splits scans into chunks that one statement reads in some milliseconds. */
export class Chunks {
  readonly #time: TimeBox;
  readonly #sizes: typeof SIZES;
  readonly #statements: StatementCache;

  constructor(database: Database, time: TimeBox, sizes = SIZES) {
    this.#time = time;
    this.#sizes = sizes;
    // Ends of chunks are bound in the next statement: integers beyond 2^53 must stay exact.
    this.#statements = new StatementCache(database, { bigints: true });
  }

  /** @throws {SnapshotError} if the time is up, before the next chunk */
  *of(listed: KeyedTable, paths: AccessPaths, direction: Direction): Iterable<Chunk> {
    if (paths.every(({ isFew }) => isFew)) {
      yield { paths, isAll: true };
      return;
    }
    const { initial, min, max } = this.#sizes;
    const sortedBy = sortedByOf(listed, paths);
    const [beyond, upTo] = direction === "asc" ? [">", "<="] : ["<", ">="];
    const [first, last] = direction === "asc" ? (["low", "high"] as const) : (["high", "low"] as const);
    const compared = (operator: string, values: readonly SqlValue[]): Condition => ({
      sql: `(${sortedBy.join()}) ${operator} (${sortedBy.map(() => "?").join()})`,
      values,
    });
    this.#time.check();
    let left = paths;
    for (let rows = initial; ; ) {
      const end = this.#endOf(listed, left, sortedBy, direction, rows);
      if (!end) {
        yield { paths: left, isAll: left === paths };
        return;
      }
      yield { paths: inRange(left, compared(upTo, end), last), end, isAll: false };
      left = inRange(paths, compared(beyond, end), first);
      const spentMs = this.#time.check();
      if (spentMs < SHORT_MS) rows = Math.min(2 * rows, max);
      else if (spentMs > LONG_MS) rows = Math.max(Math.floor(rows / 2), min);
    }
  }

  /** Returns the end of the access path that first has this many rows. */
  #endOf(
    listed: KeyedTable,
    left: AccessPaths,
    sortedBy: readonly string[],
    direction: Direction,
    rows: number,
  ): readonly SqlValue[] | undefined {
    const ends = left.flatMap((path) => {
      if (path.isFew) return [];
      const select = this.#statements.prepare(furtherText(listed, path, sortedBy, direction));
      const further = select.get(...valuesOf([withoutResiduals(path)]), rows);
      return further ? [Object.values(further) as SqlValue[]] : [];
    });
    // Several access paths are read in the order of a number.
    return ends.sort(comparerOf([{ value: "height", direction }]))[0];
  }
}
