/** In-memory filtering and sorting for small collections. */

import { parseExternal, type TextBounds } from "../../platform/json/external.ts";
import { formOf } from "../../platform/json/form.ts";
import { Type } from "../../platform/json/schema.ts";
import type { Integer, Interval } from "../../read/page.ts";
import { CursorError } from "../../read/port.ts";
import { type ListRequest, listResponse, type Meta, pageOf } from "./pagination.ts";

type Look<Row, Shown> = {
  readonly show: (row: Row) => Shown;
  /** Returns the unique id of a row. */
  readonly id: (row: Row) => string;
};

/**
 * Returns the requested page of the rows.
 *
 * @throws {CursorError}
 */
export function memoryList<Row, Shown>(
  request: ListRequest,
  rows: readonly Row[],
  { show, id }: Look<Row, Shown>,
): { meta: Meta; data: Shown[] } {
  const page = pageOf(request.query);
  const offset = page.after === undefined ? page.offset : indexAfter(rows, page.after, id);
  const shown = rows.slice(offset, offset + page.limit);
  const end = offset + shown.length;
  const last = shown.at(-1);
  const next = end < rows.length && last !== undefined && placeOf(id(last), end - 1);
  return listResponse(request, page, {
    rows: shown.map(show),
    totalCount: rows.length,
    ...(next && { next }),
  });
}

/**
 * Returns a cursor: id and index of a row. The page has the rows after that row, or from the index on if the row no
 * longer exists.
 */
export const placeOf = (id: string, index: number): string => JSON.stringify([id, index]);

function indexAfter<Row>(rows: readonly Row[], cursor: string, id: (row: Row) => string): number {
  const [lastId, lastIndex] = readCursor(cursor);
  const index = rows.findIndex((row) => id(row) === lastId);
  return index === -1 ? lastIndex : index + 1;
}

const CURSOR_BOUNDS: TextBounds = { maxCharacters: 2_048, maxDepth: 1, maxValues: 2 };
const Index = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const CURSOR = formOf(
  Type.Unsafe<[id: string, index: number]>({
    ...{ type: "array", items: [Type.String(), Index], minItems: 2, additionalItems: false },
  }),
);

/** @throws {CursorError} */
export function readCursor(text: string): [id: string, index: number] {
  try {
    return parseExternal(text, CURSOR, CURSOR_BOUNDS);
  } catch {
    throw new CursorError();
  }
}

/** Sort key of a row; rows without a key come last in both directions. */
export type Rate<Row> = (row: Row) => bigint | boolean | number | string | undefined;

/** Sorts rows; texts by code unit, ties by the unique `id`. */
export function sorted<Row>(
  rows: readonly Row[],
  rate: Rate<Row>,
  { direction, id }: { direction: "asc" | "desc"; id: (row: Row) => string },
): Row[] {
  const sign = direction === "asc" ? 1 : -1;
  return rows.toSorted((a, b) => {
    const [x, y] = [rate(a), rate(b)];
    const byRate =
      x === undefined || y === undefined
        ? Number(x === undefined) - Number(y === undefined)
        : compare(x, y) * sign;
    return byRate || compare(id(a), id(b));
  });
}

const compare = <V extends bigint | boolean | number | string>(a: V, b: V): number =>
  a < b ? -1 : a > b ? 1 : 0;

/** Tests of rows against the values of a filter, by member. */
export type Tests<Row, Filter> = {
  readonly [Name in keyof Filter]-?: (row: Row, value: NonNullable<Filter[Name]>) => boolean;
};

/** Returns the rows that pass every given filter. Members without a test are ignored. */
export const passing = <Row, Filter extends object>(
  rows: readonly Row[],
  tests: Tests<Row, Filter>,
  filter: Filter,
): readonly Row[] => {
  const given = Object.entries(filter).flatMap(([name, value]) => {
    const test = (tests as Record<string, ((row: Row, value: unknown) => boolean) | undefined>)[name];
    return test && value !== undefined ? [(row: Row) => test(row, value)] : [];
  });
  return rows.filter((row) => given.every((isMet) => isMet(row)));
};

/** Returns whether a value equals a number, or is within an interval. */
export function matches(value: bigint | number | string, wanted: Integer | Interval): boolean {
  const given = BigInt(value);
  if (typeof wanted !== "object") return given === BigInt(wanted);
  const { from, to } = wanted;
  return (from === undefined || given >= BigInt(from)) && (to === undefined || given <= BigInt(to));
}

/** Returns whether a flag has the requested value. */
export const isFlag = (value: boolean, wanted: boolean | string): boolean =>
  value === (`${wanted}`.toLowerCase() === "true");
