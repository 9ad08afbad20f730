/**
 * By stretches: rows that are tested one by one, or too many to be sorted at once, are looked at some thousands at a time
 * (`pages/stretches.ts`), and the first of all that were seen are kept. Costs all rows that an index finds, or up to the end of
 * the page where it finds them in their order; ends with an error when the time is up.
 */
import type { Database } from "../../../store/engine/database.ts";
import type { Condition } from "../pages/conditions.ts";
import { before, placeOf } from "../pages/cursor.ts";
import { createGivenUp } from "../pages/given-up.ts";
import type { OrderTerm } from "../pages/order.ts";
import {
  type Alternatives,
  alternativesOf,
  createPreparer,
  inRange,
  isInOrder,
  type ListedTable,
  named,
  nameOf,
  orderText,
  pageText,
  passing,
  type Selection,
  sideBefore,
  valuesOf,
  walkOf,
} from "../pages/selection.ts";
import type { Stretches } from "../pages/stretches.ts";
import { type ByIndex, startOf } from "./by-index.ts";

/** @throws {CursorError | SnapshotError} */
export type ByStretches<Row> = ByIndex<Row>;

export type ByStretchesDependencies<Row> = { readonly stretches: Stretches; readonly byIndex: ByIndex<Row> };

const placesIn = (rows: unknown[]): string[] => (rows as { place: string }[]).map(({ place }) => place);

export function createByStretches<Row>(
  database: Database,
  listed: ListedTable,
  { stretches, byIndex }: ByStretchesDependencies<Row>,
): ByStretches<Row> {
  const prepare = createPreparer(database);
  const unlessGivenUp = createGivenUp();

  /** Places of the first rows in an order. */
  function placesOf(alternatives: Alternatives, order: readonly OrderTerm[], limit: number): string[] {
    const { text, names } = pageText(listed, alternatives, order);
    const select = prepare(
      `SELECT ${placeOf(order, names)} AS place FROM (${text}) ORDER BY ${orderText(named(order, names))}`,
    );
    return placesIn(select.all(...valuesOf(alternatives), limit, 0));
  }

  /** The first of some places. They are compared by SQLite, as rows are. */
  function firstOf(places: readonly string[], order: readonly OrderTerm[], limit: number): string[] {
    const members = order.map((_, index) => `json_extract(value, '$[${index + 1}]')`);
    const select = prepare(
      `SELECT value AS place FROM json_each(?) ORDER BY ${orderText(named(order, members))} LIMIT +?`,
    );
    return placesIn(select.all(JSON.stringify(places), limit));
  }

  function rowsAt(places: readonly string[], order: readonly OrderTerm[]): Row[] {
    const { table, key, columns, joins = "" } = listed;
    const members = key.map((column) => {
      const index = order.findIndex(({ value }) => value === column);
      return `json_extract(value, '$[${index + 1}]') AS ${column}`;
    });
    const select = prepare(
      `SELECT ${columns} FROM (SELECT key AS position, ${members.join()} FROM json_each(?)) AS page
       CROSS JOIN ${table} USING (${key.join()}) ${joins} ORDER BY position`,
    );
    return select.all(JSON.stringify(places)) as Row[];
  }

  /** Places of so many rows; undefined where one stretch has all that are looked at. */
  function firstPlaces(
    selection: Selection,
    start: Condition | undefined,
    count: number,
  ): readonly string[] | undefined {
    const { order } = selection;
    const all = alternativesOf(selection);
    const isOrdered = isInOrder(walkOf(listed, all), order);
    const { direction } = order[0]!;
    const left = isOrdered ? inRange(all, start, sideBefore(direction)) : passing(all, start);
    let places: string[] = [];
    let last: Condition | undefined;
    for (const stretch of stretches(listed, left, isOrdered ? direction : "asc")) {
      if (stretch.isAll) return undefined;
      const missing = isOrdered ? count - places.length : count;
      places = places.concat(placesOf(passing(stretch.alternatives, last), order, missing));
      if (isOrdered && places.length === count) return places;
      if (!isOrdered && places.length >= 2 * count) {
        places = firstOf(places, order, count);
        last = before(order, places.at(-1)!);
      }
    }
    return isOrdered ? places : firstOf(places, order, count);
  }

  const walk: ByStretches<Row> = (selection, range, options) => {
    const { order } = selection;
    const { limit, isWalk = false } = range;
    const { totalCount, from } = options;
    const offset = range.after === undefined ? range.offset : 0;
    // One more than is shown tells whether there are others.
    const count = offset + limit + (isWalk ? 1 : 0);
    const places = firstPlaces(selection, startOf(selection, range, from), count);
    if (!places) return byIndex(selection, range, options);
    const shown = places.slice(offset, offset + limit);
    const isLast = !isWalk || places.length < count;
    return { rows: rowsAt(shown, order), totalCount, ...(!isLast && { next: shown.at(-1)! }) };
  };

  return (selection, ...asked) =>
    unlessGivenUp(
      () => nameOf(listed, selection),
      () => walk(selection, ...asked),
    );
}
