/** What rows of a table are selected, as SQL. */
import { LRUCache } from "lru-cache";
import type { Database, SqlValue, Statement } from "../../../store/engine/database.ts";
import type { Direction } from "../../page.ts";
import type { Asked } from "../plans/choose.ts";
import { type Condition, NEVER, type Side } from "./conditions.ts";
import type { OrderTerm } from "./order.ts";

export type KeyedTable = {
  readonly table: string;
  /** Columns of the primary key. */
  readonly key: readonly string[];
};

export type ListedTable = KeyedTable & {
  /** What is shown; may use `joins`, which conditions and order may not. */
  readonly columns: string;
  readonly joins?: string;
};

export type Selection = {
  /** All of them must hold. */
  readonly conditions: readonly Condition[];
  /** One of them must hold, if there are any: each is looked up by an index of its own. */
  readonly ways?: readonly Condition[];
  /** Must end with what no two rows have in common, so that pages do not overlap. */
  readonly order: readonly OrderTerm[];
};

/** Rows that one index finds, or all of the table, and that pass all tests. */
export type Alternative = {
  /** What the index is asked for, and within which part of its order. */
  readonly found: readonly Condition[];
  /** Of each row that is found. */
  readonly tests: readonly Condition[];
  /** Whether it finds no more rows than a block or a page has. */
  readonly isFew: boolean;
  /** A table that has the keys of the rows. */
  readonly through?: string;
  /** Columns in whose order the index has them; absent: the first of the key. */
  readonly walk?: readonly string[];
};

/** Rows are those of any of them. */
export type Alternatives = readonly Alternative[];

/** Distinct texts kept prepared: the combinations of filters that clients really use are few. */
const MAX_STATEMENTS = 200;

export const valuesOf = (alternatives: Alternatives): SqlValue[] =>
  alternatives.flatMap(({ found, tests }) => [...found, ...tests]).flatMap(({ values }) => values);

/** The conditions of a selection, and with each of its ways, but for those that no row is found by. */
export function alternativesOf({
  conditions,
  ways = [],
}: Pick<Selection, "conditions" | "ways">): Alternatives {
  if (ways.length === 0) return [alternativeOf(conditions)];
  const possible = ways.filter((way) => way !== NEVER);
  return (possible.length > 0 ? possible : [NEVER]).map((way) => alternativeOf([...conditions, way]));
}

/** The index that finds the fewest leads to the rows; what else is asked of them is tested. */
function alternativeOf(conditions: readonly Condition[]): Alternative {
  const ofShare = (share: string) => conditions.find(({ finds }) => finds?.share === share);
  const leader = ofShare("few") ?? ofShare("some") ?? ofShare("many");
  const ranges = conditions.filter(({ finds }) => finds?.share === "range");
  const others = conditions.filter((one) => one !== leader && !ranges.includes(one));
  if (!leader) return { found: ranges, tests: others, isFew: false };
  const { share, walk, through, wider } = leader.finds!;
  return {
    found: [{ ...leader, ...through, ...wider }, ...ranges],
    tests: wider ? [leader, ...others] : others,
    isFew: share === "few",
    ...(through && { through: through.table }),
    ...(walk && { walk }),
  };
}

/**
 * Those within a part of the order. The range replaces one at the same side, which is only tested then: SQLite
 * enters an index by one of the two, and it might be the wider one.
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

/** The side at which rows are left out that come before a cursor. */
export const sideBefore = (direction: Direction): Side => (direction === "asc" ? "low" : "high");

/** Those that pass another test. */
export const passing = (alternatives: Alternatives, test: Condition | undefined): Alternatives =>
  test ? alternatives.map((one) => ({ ...one, tests: [...one.tests, test] })) : alternatives;

/** Columns in whose order the rows of all alternatives are found. */
export const walkOf = ({ key }: KeyedTable, alternatives: Alternatives): readonly string[] =>
  (alternatives.length === 1 ? alternatives[0]!.walk : undefined) ?? [key[0]!];

/** Whether rows are found in an order, but for what is alike in the first of it. */
export const isInOrder = (walk: readonly string[], order: readonly OrderTerm[]): boolean =>
  walk.every((column, index) => {
    const term = order[index];
    return term?.value === column && term.direction === order[0]!.direction;
  });

/** How many rows have to be read for a page of a selection (`plans/choose.ts`). */
export function scanOf(listed: KeyedTable, selection: Selection): Asked["scan"] {
  const alternatives = alternativesOf(selection);
  if (alternatives.every(({ isFew }) => isFew)) return "bounded";
  if (alternatives.some(({ isFew, tests }) => !isFew && tests.length > 0)) return "tested";
  return isInOrder(walkOf(listed, alternatives), selection.order) ? "bounded" : "sorted";
}

/** Selects the keys of rows, each once. */
export const keysText = (listed: KeyedTable, alternatives: Alternatives) =>
  alternatives.map((one) => `SELECT ${listed.key.join()} ${fromText(listed, one)}`).join(" UNION ");

export function countText(listed: KeyedTable, alternatives: Alternatives): string {
  const [only, ...others] = alternatives;
  return only && others.length === 0
    ? `SELECT COUNT(*) AS total ${fromText(listed, only)}`
    : `SELECT COUNT(*) AS total FROM (${keysText(listed, alternatives)})`;
}

/** Keys of rows, each once, with what they are ordered by, and the names of that. */
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

/** The same of a page, in its order, whose limit and offset are the last two values. */
export function pageText(...rows: Parameters<typeof rowsText>): ReturnType<typeof rowsText> {
  const { text, names } = rowsText(...rows);
  return { text: `${text} ORDER BY ${orderText(named(rows[2], names))} LIMIT +? OFFSET +?`, names };
}

/** The key of the row so many rows further on in the order in which an index finds them; their number is the last value. */
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

/** A text that is the same for selections of the same rows in the same order. */
export function nameOf(listed: KeyedTable, selection: Selection): string {
  const alternatives = alternativesOf(selection);
  return [pageText(listed, alternatives, selection.order).text, ...valuesOf(alternatives)].join("\0");
}

export function fromText({ table, key }: KeyedTable, alternative: Alternative, joins = ""): string {
  const { through } = alternative;
  const rows = through ? `${through} CROSS JOIN ${table} USING (${key.join()})` : table;
  return `FROM ${rows} ${joins} ${whereText(alternative)}`;
}

/** No index is asked about what has a sign before it. */
function whereText({ found, tests }: Alternative): string {
  const all = [...found.map(({ sql }) => `(${sql})`), ...tests.map(({ sql }) => `+(${sql})`)];
  return all.length === 0 ? "" : `WHERE ${all.join(" AND ")}`;
}

export const orderText = (order: readonly OrderTerm[]): string =>
  order.map(({ value, direction }) => `${value} ${direction}`).join(", ");

/** The same order, of columns that have other names. */
export const named = (order: readonly OrderTerm[], names: readonly string[]): OrderTerm[] =>
  order.map(({ direction }, index) => ({ value: names[index]!, direction }));

/** Prepares each text once. */
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
