/**
 * Access paths: each is an index with the conditions that it looks up, and the residual conditions that are tested on each row
 * found. SQLite has no choice left: SQL that it must not use for an index is hidden by a unary plus.
 */
import { LRUCache } from "lru-cache";
import { present } from "../../../platform/present.ts";
import type { Database, SqlValue, Statement } from "../../../store/engine/database.ts";
import type { Direction } from "../../page.ts";
import { type Condition, NEVER, type OrderTerm, type Side, type SortTerm } from "./conditions.ts";

export type KeyedTable = {
  readonly table: string;
  /** Columns of the primary key. */
  readonly key: readonly string[];
};

export const TRANSACTIONS = { table: "transactions", key: ["height", "sequence"] } as const;

export type ListedTable = KeyedTable & {
  /** SQL of the selected columns; may use `joins`, unlike conditions and order. */
  readonly columns: string;
  readonly joins?: string;
};

export type Selection = {
  /** Conditions that must all hold. */
  readonly conditions: readonly Condition[];
  /** Conditions of which one must hold, if any are given: each is looked up by its own index. */
  readonly alternatives?: readonly Condition[];
  /** Must end with terms that are unique to a row, so that pages do not overlap. */
  readonly order: readonly OrderTerm[];
};

/** Rows that one index finds (or all rows of the table) and that meet all residual conditions. */
export type AccessPath = {
  /** Conditions that the index looks up, including a range of its order. */
  readonly lookups: readonly Condition[];
  /** Conditions that are tested on each row found. */
  readonly residuals: readonly Condition[];
  /** True if the index finds at most as many rows as a block or a page has. */
  readonly isFew: boolean;
  /** A table that has the keys of the rows. */
  readonly through?: string;
  /** Columns that order the rows in the index; absent: the first column of the key. */
  readonly sortedBy?: readonly string[];
};

/** Union of the rows of all access paths. */
export type AccessPaths = readonly AccessPath[];

/**
 * Rows that an index finds: only those up to the end of the page, or few (`bounded`); all matching rows, which must be
 * sorted (`sorted`); or also other rows, which must be tested one by one (`tested`).
 */
export type Scan = "bounded" | "sorted" | "tested";

/** Maximum number of prepared statements, and of characters of each: clients use few combinations of filters. */
const MAX_STATEMENTS = 200;
const MAX_STATEMENT_LENGTH = 4_000;

export const valuesOf = (paths: AccessPaths): SqlValue[] =>
  paths.flatMap(({ lookups, residuals }) => [...lookups, ...residuals]).flatMap(({ values }) => values);

/** Combines the conditions of a selection with each of its alternatives; omits combinations that match no row. */
export function accessPathsOf({
  conditions,
  alternatives = [],
}: Pick<Selection, "conditions" | "alternatives">): AccessPaths {
  if (alternatives.length === 0) return [accessPathOf(conditions)];
  const possible = alternatives.filter((alternative) => alternative !== NEVER);
  return (possible.length > 0 ? possible : [NEVER]).map((alternative) =>
    accessPathOf([...conditions, alternative]),
  );
}

/** Looks up the most selective condition; the other conditions are tested. */
function accessPathOf(conditions: readonly Condition[]): AccessPath {
  const ofSelectivity = (selectivity: string) =>
    conditions.find(({ index }) => index?.selectivity === selectivity);
  const leader = ofSelectivity("few") ?? ofSelectivity("some") ?? ofSelectivity("many");
  const ranges = conditions.filter(({ index }) => index?.selectivity === "range");
  const others = conditions.filter((one) => one !== leader && !ranges.includes(one));
  if (!leader?.index) return { lookups: ranges, residuals: others, isFew: false };
  const { selectivity, sortedBy, through, wider } = leader.index;
  return {
    lookups: [{ ...leader, ...through, ...wider }, ...ranges],
    residuals: wider ? [leader, ...others] : others,
    isFew: selectivity === "few",
    ...(through && { through: through.table }),
    ...(sortedBy && { sortedBy }),
  };
}

/**
 * Restricts access paths to a range of the order. The range replaces one at the same side, which is then only tested:
 * SQLite enters an index by one of the two, and it might choose the wider one.
 */
export function inRange(paths: AccessPaths, range: Condition | undefined, side?: Side): AccessPaths {
  if (!range) return paths;
  const entered: Condition = { ...range, index: { selectivity: "range", ...(side && { side }) } };
  const isReplaced = ({ index }: Condition) => side !== undefined && index?.side === side;
  return paths.map((path) => ({
    ...path,
    lookups: [...path.lookups.filter((condition) => !isReplaced(condition)), entered],
    residuals: [...path.lookups.filter(isReplaced), ...path.residuals],
  }));
}

/** Returns the side at which rows before a cursor are excluded. */
export const sideBefore = (direction: Direction): Side => (direction === "asc" ? "low" : "high");

/** Adds a residual condition to each access path. */
export const withResidual = (paths: AccessPaths, residual: Condition | undefined): AccessPaths =>
  residual ? paths.map((path) => ({ ...path, residuals: [...path.residuals, residual] })) : paths;

/** Removes the residual conditions: the rows that the index finds. */
export const withoutResiduals = (path: AccessPath): AccessPath => ({ ...path, residuals: [] });

/** Returns the columns in whose order the rows of all access paths are found. */
export function sortedByOf({ key }: KeyedTable, [only, ...others]: AccessPaths): readonly string[] {
  return (others.length === 0 ? only?.sortedBy : undefined) ?? key.slice(0, 1);
}

/** Returns whether rows are found in the given order, apart from ties in its first term. */
export const isInOrder = (sortedBy: readonly string[], order: readonly SortTerm[]): boolean =>
  sortedBy.every((column, index) => {
    const term = order[index];
    return term?.value === column && term.direction === order[0]?.direction;
  });

/** Returns how many rows must be read for a page of a selection. */
export function scanOf(listed: KeyedTable, selection: Selection): Scan {
  const paths = accessPathsOf(selection);
  if (paths.every(({ isFew }) => isFew)) return "bounded";
  if (paths.some(({ isFew, residuals }) => !isFew && residuals.length > 0)) return "tested";
  return isInOrder(sortedByOf(listed, paths), selection.order) ? "bounded" : "sorted";
}

/** Returns SQL that selects the distinct keys of rows. */
export const keysText = (listed: KeyedTable, paths: AccessPaths) =>
  paths.map((path) => `SELECT ${listed.key.join()} ${fromText(listed, path)}`).join(" UNION ");

export function countText(listed: KeyedTable, paths: AccessPaths): string {
  const [only, ...others] = paths;
  return only && others.length === 0
    ? `SELECT COUNT(*) AS total ${fromText(listed, only)}`
    : `SELECT COUNT(*) AS total FROM (${keysText(listed, paths)})`;
}

/** Returns SQL that selects the distinct keys of rows with their order values, and the names of these values. */
export function rowsText(
  listed: KeyedTable,
  paths: AccessPaths,
  order: readonly OrderTerm[],
): { text: string; names: readonly string[] } {
  const { key } = listed;
  const isKey = (value: string) => key.includes(value);
  const names = order.map(({ value }, index) => (isKey(value) ? value : `value${index}`));
  const values = order.flatMap(({ value }, index) => (isKey(value) ? [] : [`${value} AS ${names[index]}`]));
  const columns = [...key, ...values].join();
  const keys = paths.map((path) => `SELECT ${columns} ${fromText(listed, path)}`);
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
  path: AccessPath,
  sortedBy: readonly string[],
  direction: Direction,
) {
  const terms = sortedBy.map((value) => ({ value, direction }));
  return `SELECT ${sortedBy.join()} ${fromText(listed, withoutResiduals(path))} ORDER BY ${orderText(terms)} LIMIT 1 OFFSET +?`;
}

/** Returns a cache key: equal for selections of the same rows in the same order. */
export function nameOf(listed: KeyedTable, selection: Selection): string {
  const paths = accessPathsOf(selection);
  return [pageText(listed, paths, selection.order).text, ...valuesOf(paths)].join("\0");
}

export function fromText({ table, key }: KeyedTable, path: AccessPath, joins = ""): string {
  const { through } = path;
  const rows = through ? `${through} CROSS JOIN ${table} USING (${key.join()})` : table;
  return `FROM ${rows} ${joins} ${whereText(path)}`;
}

/** The unary plus keeps SQLite from using an index for a column. */
function whereText({ lookups, residuals }: AccessPath): string {
  const all = [...lookups.map(({ sql }) => `(${sql})`), ...residuals.map(({ sql }) => `+(${sql})`)];
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
export class StatementCache {
  readonly #database: Database;
  readonly #options: Parameters<Database["prepare"]>[1];
  readonly #prepared = new LRUCache<string, Statement<unknown>>({ max: MAX_STATEMENTS });

  constructor(database: Database, options?: Parameters<Database["prepare"]>[1]) {
    this.#database = database;
    this.#options = options;
  }

  prepare(sql: string): Statement<unknown> {
    const known = this.#prepared.get(sql);
    if (known) return known;
    const statement = this.#database.prepare<unknown>(sql, this.#options);
    if (sql.length <= MAX_STATEMENT_LENGTH) this.#prepared.set(sql, statement);
    return statement;
  }
}
