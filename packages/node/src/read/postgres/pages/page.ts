/**
 * Reads pages of a table. The keys of a page are selected first, so that whole rows are neither skipped nor sorted. The
 * first pages select whole rows, because planning a join costs more than skipping a few rows.
 */
import { preparedList } from "../../../postgres/reads.ts";
import { cursorAt, type RowValue } from "../../cursor.ts";
import type { Found, Range } from "../../page.ts";
import type { RowFields, RowText } from "../row-text.ts";
import { allOf, type Condition, NEVER, numbered } from "./conditions.ts";
import { after } from "./cursor.ts";
import { type OrderTerm, orderText, valueNames } from "./order.ts";
import type { SnapshotReads } from "./reads.ts";

export type ListedTable<Row> = {
  readonly table: string;
  /** Columns of the key. */
  readonly key: readonly string[];
  /** The selected columns. A subquery in a column is faster than a join, for which the planner compares more plans. */
  readonly row: RowText<Row>;
};

/** A condition that has an index; `through` is another table that contains the keys of the rows. */
export type Way = Condition & { readonly through?: string };

export type Selection = {
  /** Conditions that must all hold. */
  readonly conditions: readonly Condition[];
  /** Alternatives, at least one of which must hold; each becomes a separate query. Absent: no further condition. */
  readonly ways?: readonly Way[];
  /** Must end with terms that are unique to a row, so that pages do not overlap. */
  readonly order: readonly OrderTerm[];
  /**
   * True if the statement can be prepared. The program has few such selections: those in the default order, without
   * filters other than heights.
   */
  readonly isPrepared?: boolean;
};

type Sql = Condition;

/** Number of rows of pages for which statements are prepared: the default `limit` of requests. */
const USUAL_LIMIT = 100;

/** Maximum offset of a page that selects whole rows. */
const NEAR = 500;

/**
 * Returns a page.
 *
 * @param totalCount number of rows, if it is known without counting
 * @throws {CursorError}
 */
export async function findPage<Row>(
  reads: SnapshotReads,
  listed: ListedTable<Row>,
  selection: Selection,
  range: Range,
  totalCount?: () => Promise<number>,
): Promise<Found<Row>> {
  const { order } = selection;
  const { limit, isWalk = false } = range;
  const offset = range.after === undefined ? Math.max(0, range.offset) : 0;
  const start = range.after === undefined ? [] : [after(order, range.after)];
  const alternatives = alternativesOf(selection);
  if (alternatives.length === 0) return { rows: [], totalCount: (await totalCount?.()) ?? 0 };
  // Selects one more row than requested, which shows whether others follow.
  const page = { order, start, offset, limit: limit + Number(isWalk), isWalk };
  const isPrepared = selection.isPrepared === true && limit === USUAL_LIMIT;
  const { sql, values } = pageSql(listed, alternatives, { ...page, isPrepared });
  const statement = isPrepared ? preparedList(numbered(sql)) : numbered(sql);
  const found = await reads.query<Selected>(statement, values);
  const isLast = found.length < page.limit;
  const isWhole = isLast && range.after === undefined && (found.length > 0 || offset === 0);
  const counted = isWhole ? offset + found.length : undefined;
  const rest = {
    totalCount: (await totalCount?.()) ?? counted ?? (await countRows(reads, listed, alternatives)),
  };
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  return {
    rows: shown.map(listed.row.read),
    ...rest,
    ...(isWalk && !isLast && last && { next: cursorAt(order, orderValues(last, order)) }),
  };
}

/** A row, with its order values in a walk. */
type Selected = RowFields & { readonly [name: string]: RowValue };

const orderValues = (selected: Selected, order: readonly OrderTerm[]): RowValue[] =>
  valueNames(order).map((name) => selected[name] ?? null);

/** Combines the conditions with each of the ways; omits combinations that match no row. */
function alternativesOf({ conditions, ways }: Selection): Way[] {
  if (conditions.includes(NEVER)) return [];
  if (!ways) return [allOf(conditions)];
  return ways
    .filter((way) => way !== NEVER)
    .map(({ through, ...way }) => ({ ...allOf([way, ...conditions]), ...(through && { through }) }));
}

type PageOptions = {
  readonly order: readonly OrderTerm[];
  readonly start: readonly Condition[];
  readonly offset: number;
  readonly limit: number;
  /** True if the rows also contain their order values. */
  readonly isWalk: boolean;
  readonly isPrepared: boolean;
};

function pageSql(
  listed: ListedTable<unknown>,
  alternatives: readonly Way[],
  { order, start, isWalk, ...page }: PageOptions,
): Sql {
  const { table, key, row } = listed;
  const [only] = alternatives;
  const isNear = alternatives.length === 1 && !only?.through && page.offset <= NEAR;
  const values = order.map(({ value }, index) => `${value} AS order${index}`);
  const selected = [...(isNear ? ["*"] : key), ...values].join();
  const inOrder = `ORDER BY ${orderText(order)}`;
  const last = page.offset + page.limit;
  const parts = alternatives.map((way): Sql => {
    const { sql, values } = allOf([way, ...start]);
    const text = `SELECT ${selected} FROM ${fromText(listed, way)} WHERE ${sql}`;
    return alternatives.length === 1
      ? { sql: text, values }
      : { sql: `(${text} ${inOrder} LIMIT ?::bigint)`, values: [...values, last] };
  });
  const { sql: range, values: ends } = rangeSql(page);
  const rows = `(${parts.map(({ sql }) => sql).join(" UNION ")} ${inOrder} ${range})`;
  const from = isNear ? `${rows} AS ${table}` : `${rows} AS page JOIN ${table} USING (${key.join()})`;
  return {
    sql: `SELECT ${[row.sql, ...(isWalk ? valueNames(order) : [])].join()} FROM ${from} ${inOrder}`,
    values: [...parts.flatMap(({ values }) => values), ...ends],
  };
}

/** Returns SQL of the range of a page. A literal limit shows the server how few rows a prepared statement returns. */
function rangeSql({ limit, offset, isPrepared }: Pick<PageOptions, "limit" | "offset" | "isPrepared">): Sql {
  if (!isPrepared) return { sql: "LIMIT ?::bigint OFFSET ?::bigint", values: [limit, offset] };
  return offset === 0
    ? { sql: `LIMIT ${limit}`, values: [] }
    : { sql: `LIMIT ${limit} OFFSET ?::bigint`, values: [offset] };
}

const fromText = ({ table, key }: ListedTable<unknown>, { through }: Way): string =>
  through ? `${through} JOIN ${table} USING (${key.join()})` : table;

function countRows(
  { head, counts, query }: SnapshotReads,
  listed: ListedTable<unknown>,
  alternatives: readonly Way[],
): Promise<number> {
  const [only, ...others] = alternatives;
  const keys = alternatives
    .map((way) => `SELECT ${listed.key.join()} FROM ${fromText(listed, way)} WHERE ${way.sql}`)
    .join(" UNION ");
  const sql =
    only && others.length === 0
      ? `SELECT count(*) AS total FROM ${fromText(listed, only)} WHERE ${only.sql}`
      : `SELECT count(*) AS total FROM (${keys}) AS keys`;
  const values = alternatives.flatMap(({ values }) => values);
  return counts(head, { sql, values }, async () => {
    const [row] = await query<{ total: string }>(numbered(sql), values);
    return Number(row?.total ?? 0);
  });
}
