/** Bounds of a line with rows, so that it costs a few milliseconds to read and to write. */
import type { HandOverRow } from "./tables.ts";

const MAX_ROWS = 500;
/** A single row may be longer. */
const MAX_CHARACTERS = 512 * 1024;
const NUMBER_CHARACTERS = 8;

/** Splits rows into the parts of lines. */
export function* partsOf(rows: Iterable<HandOverRow>): Iterable<HandOverRow[]> {
  let part: HandOverRow[] = [];
  let characters = 0;
  for (const row of rows) {
    const length = lengthOf(row);
    if (part.length === MAX_ROWS || (part.length > 0 && characters + length > MAX_CHARACTERS)) {
      yield part;
      part = [];
      characters = 0;
    }
    part.push(row);
    characters += length;
  }
  if (part.length > 0) yield part;
}

const lengthOf = (row: HandOverRow): number =>
  row.reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : NUMBER_CHARACTERS), 0);
