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
  createStatementCache,
  furtherText,
  inRange,
  type KeyedTable,
  sortedByOf,
  valuesOf,
  withoutResiduals,
} from "./access-paths.ts";
import type { Condition } from "./conditions.ts";
import { comparerOf } from "./keyset-cursor.ts";

/** Time limit for reading one list: the read blocks its thread. */
export type TimeBox = {
  /** Starts the time for the rows of one list. */
  begin(): void;
  /**
   * Must be called before every statement; a statement must not read more rows than it can in some milliseconds.
   *
   * @returns milliseconds since the last check
   * @throws {SnapshotError} if the time is up
   */
  check(): number;
};

/** Rows that are read or converted one by one between two checks of the clock. */
const ROWS_PER_CHECK = 256;

/** Returns a function to call for each row: it checks the clock now and then. */
export function createRowCheck({ check }: TimeBox): () => void {
  let rows = 0;
  return () => {
    if (++rows % ROWS_PER_CHECK === 0) check();
  };
}

/** Converts all rows of a statement, and checks the clock now and then. */
export function allInTime<Row, Result>(
  time: TimeBox,
  rows: Iterable<Row>,
  convert: (row: Row) => Result,
): Result[] {
  const check = createRowCheck(time);
  const results: Result[] = [];
  for (const row of rows) {
    results.push(convert(row));
    check();
  }
  return results;
}

/** Maximum number of lists in a negative cache, and the time for which they are cached. */
const MAX_TIMEOUTS = 200;
const RETRY_AFTER_MS = 10_000;

/** @throws {SnapshotError} thrown by `work`, now or in a recent call */
type UnlessTimedOut = <T>(nameOf: () => string, work: () => T) => T;

/** Creates a negative cache of timeouts: a list that exceeded its time is refused for a while. */
export function createTimeoutCache(): UnlessTimedOut {
  const timeouts = new LRUCache<string, SnapshotError>({ max: MAX_TIMEOUTS, ttl: RETRY_AFTER_MS });
  return (nameOf, work) => {
    const timeout = timeouts.size > 0 ? timeouts.get(nameOf()) : undefined;
    if (timeout) throw timeout;
    try {
      return work();
    } catch (error) {
      if (error instanceof SnapshotError) timeouts.set(nameOf(), error);
      throw error;
    }
  };
}

/** Rows that are adjacent in the index that finds them, whether or not they meet the residual conditions. */
export type Chunk = {
  /** Access paths restricted to the chunk. */
  readonly paths: AccessPaths;
  /** End of the chunk, as values of the columns that order the index; absent if the list ends with it. */
  readonly end?: readonly SqlValue[];
  /** True if the chunk is the whole list. */
  readonly isAll: boolean;
};

/**
 * Splits a scan into chunks that one statement reads in some milliseconds.
 *
 * @throws {SnapshotError} if the time is up, before the next chunk
 */
export type ChunksOf = (listed: KeyedTable, paths: AccessPaths, direction: Direction) => Iterable<Chunk>;

/** Number of rows that an index finds in a chunk, per access path: the first size and its later bounds. */
type ChunkSizes = { readonly initial: number; readonly min: number; readonly max: number };
const SIZES: ChunkSizes = { initial: 512, min: 64, max: 8_192 };
/** The next chunk is longer if this one took less time, and shorter if it took more. */
const SHORT_MS = 1;
const LONG_MS = 4;

export function createChunks(
  database: Database,
  time: TimeBox,
  { initial, min, max }: ChunkSizes = SIZES,
): ChunksOf {
  // Ends of chunks are bound in the next statement: integers beyond 2^53 must stay exact.
  const prepare = createStatementCache(database, { bigints: true });

  return function* (listed, paths, direction) {
    if (paths.every(({ isFew }) => isFew)) {
      yield { paths, isAll: true };
      return;
    }
    const sortedBy = sortedByOf(listed, paths);
    const [beyond, upTo] = direction === "asc" ? [">", "<="] : ["<", ">="];
    const [first, last] = direction === "asc" ? (["low", "high"] as const) : (["high", "low"] as const);
    const compared = (operator: string, values: readonly SqlValue[]): Condition => ({
      sql: `(${sortedBy.join()}) ${operator} (${sortedBy.map(() => "?").join()})`,
      values,
    });
    // Several access paths are read in the order of a number.
    const compareEnds = comparerOf([{ value: "height", direction }]);
    /** Returns the end of the access path that first has this many rows. */
    function endOf(left: AccessPaths, rows: number): readonly SqlValue[] | undefined {
      const ends = left.flatMap((path) => {
        if (path.isFew) return [];
        const further = prepare(furtherText(listed, path, sortedBy, direction)).get(
          ...valuesOf([withoutResiduals(path)]),
          rows,
        );
        return further ? [Object.values(further) as SqlValue[]] : [];
      });
      return ends.sort(compareEnds)[0];
    }

    time.check();
    let left = paths;
    for (let rows = initial; ; ) {
      const end = endOf(left, rows);
      if (!end) {
        yield { paths: left, isAll: left === paths };
        return;
      }
      yield { paths: inRange(left, compared(upTo, end), last), end, isAll: false };
      left = inRange(paths, compared(beyond, end), first);
      const spentMs = time.check();
      if (spentMs < SHORT_MS) rows = Math.min(2 * rows, max);
      else if (spentMs > LONG_MS) rows = Math.max(Math.floor(rows / 2), min);
    }
  };
}
