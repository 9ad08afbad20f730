/** Selections of rows of a table, as SQL. */

import { LRUCache } from "lru-cache";
import { present } from "../../../platform/present.ts";
import type { Database, SqlValue, Statement } from "../../../store/engine/database.ts";
import type { Direction } from "../../page.ts";
import { type Condition, NEVER, type Side } from "./conditions.ts";
import type { OrderTerm, SortTerm } from "./order.ts";

export type KeyedTable = {
  readonly table: string;
  /** Columns of the primary key. */
  readonly key: readonly string[];
};

export type ListedTable = KeyedTable & {
  /** SQL of the selected columns; may use `joins`, unlike conditions and order. */
  readonly columns: string;
  readonly joins?: string;
};

export type Selection = {
  /** Conditions that must all hold. */
  readonly conditions: readonly Condition[];
  /** Conditions of which one must hold, if any are given: each is looked up by its own index. */
  readonly ways?: readonly Condition[];
  /** Must end with terms that are unique to a row, so that pages do not overlap. */
  readonly order: readonly OrderTerm[];
};

/** Rows that one index finds (or all rows of the table) and that pass all tests. */
export type Alternative = {
  /** Conditions that the index looks up, including a range of its order. */
  readonly found: readonly Condition[];
  /** Conditions that are tested on each found row. */
  readonly tests: readonly Condition[];
  /** True if the index finds at most as many rows as a block or a page has. */
  readonly isFew: boolean;
  /** A table that has the keys of the rows. */
  readonly through?: string;
  /** Columns that order the rows in the index; absent: the first column of the key. */
  readonly walk?: readonly string[];
};

/** Union of the rows of all alternatives. */
export type Alternatives = readonly Alternative[];

/**
 * Rows that an index finds: only those up to the end of the page, or few (`bounded`); all matching rows, which must be
 * sorted (`sorted`); or also other rows, which must be tested one by one (`tested`).
 */
export type Scan = "bounded" | "sorted" | "tested";

/** Maximum number of prepared statements: clients use few combinations of filters. */
const MAX_STATEMENTS = 200;

export const valuesOf = (alternatives: Alternatives): SqlValue[] =>
  alternatives.flatMap(({ found, tests }) => [...found, ...tests]).flatMap(({ values }) => values);

/** Combines the conditions of a selection with each of its ways; omits combinations that match no row. */
export function alternativesOf({
  conditions,
  ways = [],
}: Pick<Selection, "conditions" | "ways">): Alternatives {
  if (ways.length === 0) return [alternativeOf(conditions)];
  const possible = ways.filter((way) => way !== NEVER);
  return (possible.length > 0 ? possible : [NEVER]).map((way) => alternativeOf([...conditions, way]));
}

/** Looks up the condition whose index finds the fewest rows; the other conditions are tested. */
function alternativeOf(conditions: readonly Condition[]): Alternative {
  const ofShare = (share: string) => conditions.find(({ finds }) => finds?.share === share);
  const leader = ofShare("few") ?? ofShare("some") ?? ofShare("many");
  const ranges = conditions.filter(({ finds }) => finds?.share === "range");
  const others = conditions.filter((one) => one !== leader && !ranges.includes(one));
  if (!leader?.finds) return { found: ranges, tests: others, isFew: false };
  const { share, walk, through, wider } = leader.finds;
  return {
    found: [{ ...leader, ...through, ...wider }, ...ranges],
    tests: wider ? [leader, ...others] : others,
    isFew: share === "few",
    ...(through && { through: through.table }),
    ...(walk && { walk }),
  };
}

/**
 * Restricts alternatives to a range of the order. The range replaces one at the same side, which is then only tested:
 * SQLite enters an index by one of the two, and it might choose the wider one.
 */
export function inRange(alternatives: Alternatives, range: Condition | undefined, side?: Side): Alternatives {
  if (!range) return alternatives;
  const entered: Condition = { ...range, finds: { share: "range", ...(side && { side }) } };
  const isReplaced = ({ finds }: Condition) => side !== undefined && finds?.side === side;
  return alternatives.map((one) => ({
    ...one,
    found: [...one.found.filter((condition) => !isReplaced(condition)), entered],
    tests: [...one.found.filter(isReplaced), ...one.tests],
  }));
}

/** Returns the side at which rows before a cursor are excluded. */
export const sideBefore = (direction: Direction): Side => (direction === "asc" ? "low" : "high");

/** Adds a test to each alternative. */
export const passing = (alternatives: Alternatives, test: Condition | undefined): Alternatives =>
  test ? alternatives.map((one) => ({ ...one, tests: [...one.tests, test] })) : alternatives;

/** Returns the columns in whose order the rows of all alternatives are found. */
export function walkOf({ key }: KeyedTable, [only, ...others]: Alternatives): readonly string[] {
  return (others.length === 0 ? only?.walk : undefined) ?? key.slice(0, 1);
}

/** Returns whether rows are found in the given order, apart from ties in its first term. */
export const isInOrder = (walk: readonly string[], order: readonly SortTerm[]): boolean =>
  walk.every((column, index) => {
    const term = order[index];
    return term?.value === column && term.direction === order[0]?.direction;
  });

/** Returns how many rows must be read for a page of a selection. */
export function scanOf(listed: KeyedTable, selection: Selection): Scan {
  const alternatives = alternativesOf(selection);
  if (alternatives.every(({ isFew }) => isFew)) return "bounded";
  if (alternatives.some(({ isFew, tests }) => !isFew && tests.length > 0)) return "tested";
  return isInOrder(walkOf(listed, alternatives), selection.order) ? "bounded" : "sorted";
}

/** Returns SQL that selects the distinct keys of rows. */
export const keysText = (listed: KeyedTable, alternatives: Alternatives) =>
  alternatives.map((one) => `SELECT ${listed.key.join()} ${fromText(listed, one)}`).join(" UNION ");

export function countText(listed: KeyedTable, alternatives: Alternatives): string {
  const [only, ...others] = alternatives;
  return only && others.length === 0
    ? `SELECT COUNT(*) AS total ${fromText(listed, only)}`
    : `SELECT COUNT(*) AS total FROM (${keysText(listed, alternatives)})`;
}

/** Returns SQL that selects the distinct keys of rows with their order values, and the names of these values. */
export function rowsText(
  listed: KeyedTable,
  alternatives: Alternatives,
  order: readonly OrderTerm[],
): { text: string; names: readonly string[] } {
  const { key } = listed;
  const isKey = (value: string) => key.includes(value);
  const names = order.map(({ value }, index) => (isKey(value) ? value : `value${index}`));
  const values = order.flatMap(({ value }, index) => (isKey(value) ? [] : [`${value} AS ${names[index]}`]));
  const columns = [...key, ...values].join();
  const keys = alternatives.map((one) => `SELECT ${columns} ${fromText(listed, one)}`);
  return { text: keys.join(" UNION "), names };
}

/** Returns `rowsText` with the order of a page; its limit and offset are the last two values. */
export function pageText(...rows: Parameters<typeof rowsText>): ReturnType<typeof rowsText> {
  const { text, names } = rowsText(...rows);
  return { text: `${text} ORDER BY ${orderText(named(rows[2], names))} LIMIT +? OFFSET +?`, names };
}

/** Returns SQL for the key of the row that is N rows further on in the order of the index; N is the last value. */
export function furtherText(
  listed: KeyedTable,
  alternative: Alternative,
  walk: readonly string[],
  direction: Direction,
) {
  const terms = walk.map((value) => ({ value, direction }));
  const untested = { ...alternative, tests: [] };
  return `SELECT ${walk.join()} ${fromText(listed, untested)} ORDER BY ${orderText(terms)} LIMIT 1 OFFSET +?`;
}

/** Returns a cache key: equal for selections of the same rows in the same order. */
export function nameOf(listed: KeyedTable, selection: Selection): string {
  const alternatives = alternativesOf(selection);
  return [pageText(listed, alternatives, selection.order).text, ...valuesOf(alternatives)].join("\0");
}

export function fromText({ table, key }: KeyedTable, alternative: Alternative, joins = ""): string {
  const { through } = alternative;
  const rows = through ? `${through} CROSS JOIN ${table} USING (${key.join()})` : table;
  return `FROM ${rows} ${joins} ${whereText(alternative)}`;
}

/** The unary plus keeps SQLite from using an index for a column. */
function whereText({ found, tests }: Alternative): string {
  const all = [...found.map(({ sql }) => `(${sql})`), ...tests.map(({ sql }) => `+(${sql})`)];
  return all.length === 0 ? "" : `WHERE ${all.join(" AND ")}`;
}

export const orderText = (order: readonly SortTerm[]): string =>
  order.map(({ value, direction }) => `${value} ${direction}`).join(", ");

/** Returns the order with other column names. */
export const named = (order: readonly SortTerm[], names: readonly string[]): SortTerm[] =>
  order.map(({ direction }, index) => ({
    value: present(names[index], "the name of a term"),
    direction,
  }));

/** Caches prepared statements by their text. */
export function createPreparer(
  database: Database,
  options?: Parameters<Database["prepare"]>[1],
): (sql: string) => Statement<unknown> {
  const prepared = new LRUCache<string, Statement<unknown>>({ max: MAX_STATEMENTS });
  return (sql) => {
    const known = prepared.get(sql);
    if (known) return known;
    const statement = database.prepare<unknown>(sql, options);
    prepared.set(sql, statement);
    return statement;
  };
}
