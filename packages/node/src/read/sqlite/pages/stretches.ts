/**
 * Lists in stretches, each of so few rows that one statement reads them in some milliseconds: between two of them the
 * clock is read, because SQLite does not stop within a statement. The rows of a stretch lie together in the index
 * that finds them, whether they pass the tests or not.
 */
import type { Database, SqlValue } from "../../../store/engine/database.ts";
import type { Direction } from "../../page.ts";
import type { Condition } from "./conditions.ts";
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
  /** What is left of the list there. */
  readonly alternatives: Alternatives;
  /** Where it ends, as the values of the walk; absent: with the list. */
  readonly end?: readonly SqlValue[];
  /** Whether it is all of the list. */
  readonly isAll: boolean;
};

/** @throws {SnapshotError} when the time is up, before the stretch that would be next */
export type Stretches = (
  listed: KeyedTable,
  alternatives: Alternatives,
  direction: Direction,
) => Iterable<Stretch>;

/** Rows of a stretch that an index finds, of each alternative: at first, and between what they come to. */
export type StretchSizes = { readonly initial: number; readonly min: number; readonly max: number };
const SIZES: StretchSizes = { initial: 512, min: 64, max: 8_192 };
/** A stretch that took less is followed by a longer one, and one that took more by a shorter one. */
const SHORT_MS = 1;
const LONG_MS = 4;

export function createStretches(
  database: Database,
  time: ReadTime,
  { initial, min, max }: StretchSizes = SIZES,
): Stretches {
  // Values of the walk go back to where they come from: integers beyond 2^53 stay what they are.
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
    /** Of the alternative that comes to so many rows first. */
    function endOf(left: Alternatives, rows: number): readonly SqlValue[] | undefined {
      const ends = left.flatMap((one) => {
        if (one.isFew) return [];
        const further = prepare(furtherText(listed, one, walk, direction)).get(
          ...valuesOf([untested(one)]),
          rows,
        );
        return further ? [Object.values(further) as SqlValue[]] : [];
      });
      return ends.reduce((nearest, end) => (isBefore(end, nearest, direction) ? end : nearest), ends[0]!);
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

/** Several alternatives are walked in the order of a number. */
const isBefore = ([one]: readonly SqlValue[], [other]: readonly SqlValue[], direction: Direction): boolean =>
  direction === "asc" ? one! < other! : one! > other!;
