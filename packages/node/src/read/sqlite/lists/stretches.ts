/**
 * Splits lists into stretches, each small enough for one statement to read in some milliseconds. The clock is checked
 * between two stretches, because SQLite does not stop within a statement. The rows of a stretch are adjacent in the index
 * that finds them, whether or not they meet the residual conditions.
 */
import type { Database, SqlValue } from "../../../store/engine/database.ts";
import type { Direction } from "../../page.ts";
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
import type { ReadTime } from "./read-time.ts";

export type Stretch = {
  /** The rest of the list, from this stretch on. */
  readonly paths: AccessPaths;
  /** End of the stretch, as values of its columns in the order of the index; absent if the list ends with it. */
  readonly end?: readonly SqlValue[];
  /** True if the stretch is the whole list. */
  readonly isAll: boolean;
};

/** @throws {SnapshotError} if the time is up, before the next stretch */
export type Stretches = (listed: KeyedTable, paths: AccessPaths, direction: Direction) => Iterable<Stretch>;

/** Number of rows that an index finds in a stretch, per access path: the first size and its later bounds. */
export type StretchSizes = { readonly initial: number; readonly min: number; readonly max: number };
const SIZES: StretchSizes = { initial: 512, min: 64, max: 8_192 };
/** The next stretch is longer if this one took less time, and shorter if it took more. */
const SHORT_MS = 1;
const LONG_MS = 4;

export function createStretches(
  database: Database,
  time: ReadTime,
  { initial, min, max }: StretchSizes = SIZES,
): Stretches {
  // These values are bound in the next statement: integers beyond 2^53 must stay exact.
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
      const ends = left.flatMap((one) => {
        if (one.isFew) return [];
        const further = prepare(furtherText(listed, one, sortedBy, direction)).get(
          ...valuesOf([withoutResiduals(one)]),
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
