/** Filtered, ordered pages of a table. */
import { LRUCache } from "lru-cache";
import type { Database, SqlValue, Statement } from "../../../store/engine/database.ts";
import { SnapshotError } from "../../errors.ts";
import { type Head, perHead } from "../../head.ts";
import type { Found, Range } from "../../page.ts";
import { type Condition, NEVER } from "./conditions.ts";
import { after, placeOf } from "./cursor.ts";
import { createMarks } from "./marks.ts";
import type { OrderTerm } from "./order.ts";

export type Selection = {
  /** All of them must hold. */
  readonly conditions: readonly Condition[];
  /** One of them must hold, if there are any: each is looked up by an index of its own. */
  readonly ways?: readonly Condition[];
  /** The number of rows, where it is known without counting. */
  readonly totalCount?: number | undefined;
  /** Leaves out rows that the offset would skip; what remains of the offset is in the range. */
  readonly from?: Condition | undefined;
  /** Whether an index has them in their order, so that none are sorted. */
  readonly isInOrder?: boolean;
  /** Must end with what no two rows have in common, so that pages do not overlap. */
  readonly order: readonly OrderTerm[];
};

/** @throws {CursorError} */
export type List<Row> = (head: Head, selection: Selection, range: Range) => Found<Row>;

export type ListedTable = {
  readonly table: string;
  /** Columns of the primary key. */
  readonly key: readonly string[];
  /** What is shown; may use `joins`, which conditions and order may not. */
  readonly columns: string;
  readonly joins?: string;
};

/** Distinct texts kept prepared: the combinations of filters that clients really use are few. */
const MAX_STATEMENTS = 200;
/** Totals remembered until the next block, unless what they are totals of is long. */
const MAX_TOTALS = 1_000;
const MAX_NAME_LENGTH = 4_000;
/** Time for which a list is not tried again that took longer than there is time for. */
const RETRY_AFTER_MS = 10_000;
/** Whole rows may be dragged along for as many as this. */
const NEAR = 100;

export function createList<Row>(database: Database, listed: ListedTable): List<Row> {
  const { table, key, columns, joins = "" } = listed;
  const prepare = createPreparer(database);
  const totals = perHead(() => new LRUCache<string, number>({ max: MAX_TOTALS }));
  const marks = createMarks();
  const tooLong = new LRUCache<string, SnapshotError>({ max: MAX_STATEMENTS, ttl: RETRY_AFTER_MS });

  /** The number of rows that a text finds. */
  function total(head: Head, sql: string, values: readonly SqlValue[]): number {
    const known = totals(head);
    const name = [sql, ...values].join("\0");
    const total = known.get(name) ?? (prepare(sql).get(...values) as { total: number }).total;
    if (name.length <= MAX_NAME_LENGTH) known.set(name, total);
    return total;
  }

  /** Where a page begins: a condition that leaves out rows before it, and how many are to be skipped from there. */
  function beginningOf(head: Head, selection: Selection, { after: place, offset }: Range) {
    const { order, from, isInOrder } = selection;
    if (place !== undefined) return { offset: 0, start: after(order, place) };
    if (from || !isInOrder) return { offset, start: from };
    const alternatives = alternativesOf(selection);
    const { text, names } = pageText(listed, alternatives, order);
    const list = [text, ...valuesOf(alternatives)].join("\0");
    const mark = marks.before(head, list, offset, (last, rows) => {
      const behind =
        last === undefined ? alternatives : alternatives.map((tests) => [after(order, last), ...tests]);
      const { text } = pageText(listed, behind, order);
      const select = prepare(`SELECT ${placeOf(order, names)} AS place FROM (${text})`);
      return (select.get(...valuesOf(behind), 1, rows - 1) as { place: string } | undefined)?.place;
    });
    return { offset: mark.rest, start: mark.place === undefined ? undefined : after(order, mark.place) };
  }

  function find(head: Head, selection: Selection, range: Range): Found<Row> {
    const { order, from, totalCount: known } = selection;
    const alternatives = alternativesOf(selection);
    const totalCount = known ?? total(head, countText(listed, alternatives), valuesOf(alternatives));
    // Pages beyond the end need no search for what is not there.
    if (range.after === undefined && !from && range.offset >= totalCount) return { rows: [], totalCount };
    const { offset, start } = beginningOf(head, selection, range);
    const found = start ? alternatives.map((tests) => [start, ...tests]) : alternatives;
    const [only, ...others] = found;
    const isNear = selection.isInOrder && offset < NEAR;
    if (isNear && !range.isWalk && only && others.length === 0) {
      const select = prepare(
        `SELECT ${columns} FROM ${table} ${joins} ${whereText(only)} ORDER BY ${orderText(order)}
         LIMIT ? OFFSET ?`,
      );
      return { rows: select.all(...valuesOf(found), range.limit, offset) as Row[], totalCount };
    }
    const { text, names } = pageText(listed, found, order);
    const place = range.isWalk
      ? `, ${placeOf(
          order,
          names.map((name) => `page.${name}`),
        )} AS place`
      : "";
    // The keys of the page first: what is skipped or sorted does not drag whole rows along.
    const select = prepare(
      `SELECT ${columns}${place} FROM (${text}) AS page
       CROSS JOIN ${table} USING (${key.join()}) ${joins} ORDER BY ${orderText(order)}`,
    );
    if (!range.isWalk) {
      return { rows: select.all(...valuesOf(found), range.limit, offset) as Row[], totalCount };
    }
    // One more than is shown tells whether there are others.
    const rows = select.all(...valuesOf(found), range.limit + 1, offset) as (Row & { place: string })[];
    if (rows.length <= range.limit) return { rows, totalCount };
    const shown = rows.slice(0, range.limit);
    return { rows: shown, totalCount, next: shown.at(-1)!.place };
  }

  function nameOf(selection: Selection): string {
    const alternatives = alternativesOf(selection);
    return [pageText(listed, alternatives, selection.order).text, ...valuesOf(alternatives)].join("\0");
  }

  return (head, selection, range) => {
    const late = tooLong.size > 0 ? tooLong.get(nameOf(selection)) : undefined;
    if (late) throw late;
    try {
      return find(head, selection, range);
    } catch (error) {
      if (error instanceof SnapshotError) tooLong.set(nameOf(selection), error);
      throw error;
    }
  };
}

export const valuesOf = (alternatives: Alternatives): SqlValue[] =>
  alternatives.flat().flatMap(({ values }) => values);

/** Rows meet all conditions of one of them. */
export type Alternatives = readonly (readonly Condition[])[];

/** The conditions of a selection, and with each of its ways, but for those that no row is found by. */
export function alternativesOf({ conditions, ways = [] }: Pick<Selection, "conditions" | "ways">) {
  if (ways.length === 0) return [conditions];
  const possible = ways.filter((way) => way !== NEVER);
  return (possible.length > 0 ? possible : [NEVER]).map((way) => [...conditions, way]);
}

/** Selects the keys of rows, each once. */
export const keysText = ({ table, key }: Pick<ListedTable, "table" | "key">, alternatives: Alternatives) =>
  alternatives.map((tests) => `SELECT ${key.join()} FROM ${table} ${whereText(tests)}`).join(" UNION ");

function countText(listed: ListedTable, alternatives: Alternatives): string {
  const [first = [], ...others] = alternatives;
  if (others.length === 0) {
    const where = first.length === 0 ? "" : whereText(first);
    return `SELECT COUNT(*) AS total FROM ${listed.table} ${where}`;
  }
  return `SELECT COUNT(*) AS total FROM (${keysText(listed, alternatives)})`;
}

/** Keys of a page, whose limit and offset are the last two values, and the names of what it is ordered by. */
function pageText(
  { table, key }: ListedTable,
  alternatives: Alternatives,
  order: readonly OrderTerm[],
): { text: string; names: readonly string[] } {
  const isKey = (value: string) => key.includes(value);
  const names = order.map(({ value }, index) => (isKey(value) ? value : `value${index}`));
  const values = order.flatMap(({ value }, index) => (isKey(value) ? [] : [`${value} AS ${names[index]}`]));
  const columns = [...key, ...values].join();
  const keys = alternatives.map((tests) => `SELECT ${columns} FROM ${table} ${whereText(tests)}`);
  const terms = order.map(({ direction }, index) => ({ value: names[index]!, direction }));
  return { text: `${keys.join(" UNION ")} ORDER BY ${orderText(terms)} LIMIT ? OFFSET ?`, names };
}

/**
 * Looks at the clock first, since rows that fail a condition take time too: at one row in 64, because a call out of
 * SQLite takes ten times as long as a row of an index.
 */
export const whereText = (conditions: readonly Condition[]): string =>
  `WHERE ${["(random() & 63 OR in_time())", ...conditions.map(({ sql }) => `(${sql})`)].join(" AND ")}`;

const orderText = (order: readonly OrderTerm[]): string =>
  order.map(({ value, direction }) => `${value} ${direction}`).join(", ");

/** Prepares each text once. */
function createPreparer(database: Database): (sql: string) => Statement<unknown> {
  const prepared = new LRUCache<string, Statement<unknown>>({ max: MAX_STATEMENTS });
  return (sql) => {
    const known = prepared.get(sql);
    if (known) return known;
    const statement = database.prepare<unknown>(sql);
    prepared.set(sql, statement);
    return statement;
  };
}
