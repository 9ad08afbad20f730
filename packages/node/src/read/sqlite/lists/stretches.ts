/**
 * Splits lists into stretches, each small enough for one statement to read in some milliseconds. The clock is checked
 * between two stretches, because SQLite does not stop within a statement. The rows of a stretch are adjacent in the index
 * that finds them, whether or not they pass the tests.
 */
import type { Database, SqlValue } from "../../../store/engine/database.ts";
import type { Direction } from "../../page.ts";
import type { Condition } from "./conditions.ts";
import { comparerOf } from "./order.ts";
import type { ReadTime } from "./read-time.ts";
import {
  type Alternatives,
  createPreparer,
  furtherText,
  inRange,
  type KeyedTable,
  valuesOf,
  walkOf,
} from "./selection.ts";

export type Stretch = {
  /** The rest of the list, from this stretch on. */
  readonly alternatives: Alternatives;
  /** End of the stretch, as values of the walk; absent if the list ends with it. */
  readonly end?: readonly SqlValue[];
  /** True if the stretch is the whole list. */
  readonly isAll: boolean;
};

/** @throws {SnapshotError} if the time is up, before the next stretch */
export type Stretches = (
  listed: KeyedTable,
  alternatives: Alternatives,
  direction: Direction,
) => Iterable<Stretch>;

/** Number of rows that an index finds in a stretch, per alternative: the first size and its later bounds. */
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
  // Values of the walk are bound in the next statement: integers beyond 2^53 must stay exact.
  const prepare = createPreparer(database, { bigints: true });

  return function* (listed, alternatives, direction) {
    if (alternatives.every(({ isFew }) => isFew)) {
      yield { alternatives, isAll: true };
      return;
    }
    const walk = walkOf(listed, alternatives);
    const [beyond, upTo] = direction === "asc" ? [">", "<="] : ["<", ">="];
    const [first, last] = direction === "asc" ? (["low", "high"] as const) : (["high", "low"] as const);
    const compared = (operator: string, values: readonly SqlValue[]): Condition => ({
      sql: `(${walk.join()}) ${operator} (${walk.map(() => "?").join()})`,
      values,
    });
    // Several alternatives are walked in the order of a number.
    const compareEnds = comparerOf([{ value: "height", direction }]);
    /** Returns the end of the alternative that first has this many rows. */
    function endOf(left: Alternatives, rows: number): readonly SqlValue[] | undefined {
      const ends = left.flatMap((one) => {
        if (one.isFew) return [];
        const further = prepare(furtherText(listed, one, walk, direction)).get(
          ...valuesOf([untested(one)]),
          rows,
        );
        return further ? [Object.values(further) as SqlValue[]] : [];
      });
      return ends.sort(compareEnds)[0];
    }

    time.check();
    let left = alternatives;
    for (let rows = initial; ; ) {
      const end = endOf(left, rows);
      if (!end) {
        yield { alternatives: left, isAll: left === alternatives };
        return;
      }
      yield { alternatives: inRange(left, compared(upTo, end), last), end, isAll: false };
      left = inRange(alternatives, compared(beyond, end), first);
      const spentMs = time.check();
      if (spentMs < SHORT_MS) rows = Math.min(2 * rows, max);
      else if (spentMs > LONG_MS) rows = Math.max(Math.floor(rows / 2), min);
    }
  };
}

const untested = <A extends Alternatives[number]>(one: A): A => ({ ...one, tests: [] });
