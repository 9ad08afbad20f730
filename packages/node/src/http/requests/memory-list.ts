/** In-memory filtering and sorting for small collections. */

import { parseExternal, type TextBounds } from "../../platform/json/external.ts";
import { type Form, formOf } from "../../platform/json/form.ts";
import { Type } from "../../platform/json/schema.ts";
import type { Integer, Interval } from "../../read/page.ts";
import { CursorError } from "../../read/port.ts";
import { type ListRequest, listResponse, type Meta, pageOf } from "./pagination.ts";

type Look<Row, Shown> = {
  readonly show: (row: Row) => Shown;
  /** Returns the unique id of a row. */
  readonly id: (row: Row) => string;
  readonly rate: Rate<Row>;
  readonly direction: "asc" | "desc";
};

/** Sort key of a row; rows without a key come last in both directions. */
export type Rate<Row> = (row: Row) => Key;
type Key = bigint | boolean | number | string | undefined;

/**
 * Sorts the rows, texts by code unit and ties by the unique `id`, and returns the requested page. A cursor consists of the key and the
 * id of the last row, so that the next page hides no row if that row, or rows before it, no longer exist.
 *
 * @throws {CursorError}
 */
export function memoryList<Row, Shown>(
  request: ListRequest,
  rows: readonly Row[],
  { show, id, rate, direction }: Look<Row, Shown>,
): { meta: Meta; data: Shown[] } {
  const page = pageOf(request.query);
  const order = createOrder(direction);
  const sorted = rows.map((row) => ({ row, key: rate(row), id: id(row) })).sort(order);
  const after = page.after === undefined ? undefined : readPlace(page.after);
  const index = after && sorted.findIndex((place) => order(place, keyLike(after, place)) > 0);
  const offset = index === undefined ? page.offset : index === -1 ? rows.length : index;
  const shown = sorted.slice(offset, offset + page.limit);
  const last = shown.at(-1);
  const next = offset + shown.length < rows.length && last !== undefined && placeText(last);
  return listResponse(request, page, {
    rows: shown.map(({ row }) => show(row)),
    totalCount: rows.length,
    ...(next && { next }),
  });
}

type Place = { readonly key: Key; readonly id: string };

function createOrder(direction: "asc" | "desc"): (a: Place, b: Place) => number {
  const sign = direction === "asc" ? 1 : -1;
  return (a, b) => {
    const [x, y] = [a.key, b.key];
    const byKey =
      x === undefined || y === undefined
        ? Number(x === undefined) - Number(y === undefined)
        : compare(x, y) * sign;
    return byKey || compare(a.id, b.id);
  };
}

const placeText = ({ key, id }: Place): string =>
  JSON.stringify([typeof key === "bigint" ? `${key}` : (key ?? null), id]);

const PLACE = formOf(
  Type.Unsafe<[key: boolean | number | string | null, id: string]>({
    ...{ type: "array", items: [Type.Unknown(), Type.String()], minItems: 2, additionalItems: false },
  }),
);

/** @throws {CursorError} */
function readPlace(text: string): Place {
  const [key, id] = readParts(text, PLACE);
  return { key: key ?? undefined, id };
}

/**
 * Returns the place of a cursor with a key of the type that a row has.
 *
 * @throws {CursorError} if the cursor belongs to another order
 */
function keyLike({ key, id }: Place, row: Place): Place {
  if (typeof row.key === "bigint" && typeof key === "string" && /^-?\d+$/.test(key))
    return { key: BigInt(key), id };
  if (key !== undefined && row.key !== undefined && typeof key !== typeof row.key) throw new CursorError();
  return { key, id };
}

/** Returns a cursor: id and index of a row. The page has the rows after that row. */
export const placeOf = (id: string, index: number): string => JSON.stringify([id, index]);

const CURSOR_BOUNDS: TextBounds = { maxCharacters: 2_048, maxDepth: 1, maxValues: 2 };
const Index = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const CURSOR = formOf(
  Type.Unsafe<[id: string, index: number]>({
    ...{ type: "array", items: [Type.String(), Index], minItems: 2, additionalItems: false },
  }),
);

/** @throws {CursorError} */
export const readCursor = (text: string): [id: string, index: number] => readParts(text, CURSOR);

function readParts<Parts>(text: string, form: Form<Parts>): Parts {
  try {
    return parseExternal(text, form, CURSOR_BOUNDS);
  } catch {
    throw new CursorError();
  }
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
