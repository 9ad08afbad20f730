/**
 * Reads pages of a table. The keys of a page are selected first, so that whole rows are neither skipped nor sorted. The
 * first pages select whole rows, because planning a join costs more than skipping a few rows.
 */
import { cursorAt, type RowValue } from "../../cursor.ts";
import type { Found, Range } from "../../page.ts";
import { allOf, type Condition, NEVER, numbered } from "./conditions.ts";
import { after } from "./cursor.ts";
import { type OrderTerm, orderText, valueNames } from "./order.ts";
import type { SnapshotReads } from "./reads.ts";

export type ListedTable = {
  readonly table: string;
  /** Columns of the key. */
  readonly key: readonly string[];
  /** SQL of the selected columns; may use `joins`, unlike conditions and order. */
  readonly columns: string;
  readonly joins?: string;
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
};

type Sql = Condition;

/** Maximum offset of a page that selects whole rows. */
const NEAR = 500;

/**
 * Returns a page.
 *
 * @param totalCount number of rows, if it is known without counting
 * @throws {CursorError}
 */
export async function findPage<Row extends object>(
  reads: SnapshotReads,
  listed: ListedTable,
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
  const { sql, values } = pageSql(listed, alternatives, page);
  const found = await reads.query<Row>(numbered(sql), values);
  const isLast = found.length < page.limit;
  const isWhole = isLast && range.after === undefined && (found.length > 0 || offset === 0);
  const counted = isWhole ? offset + found.length : undefined;
  const rest = {
    totalCount: (await totalCount?.()) ?? counted ?? (await countRows(reads, listed, alternatives)),
  };
  if (!isWalk) return { rows: found, ...rest };
  const rows = found.slice(0, limit).map((row) => splitRow<Row>(row, order.length));
  const last = rows.at(-1);
  return {
    rows: rows.map(({ row }) => row),
    ...rest,
    ...(!isLast && last && { next: cursorAt(order, last.values) }),
  };
}

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
};

function pageSql(
  listed: ListedTable,
  alternatives: readonly Way[],
  { order, start, isWalk, ...page }: PageOptions,
): Sql {
  const { table, key, columns, joins = "" } = listed;
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
  const rows = `(${parts.map(({ sql }) => sql).join(" UNION ")} ${inOrder} LIMIT ?::bigint OFFSET ?::bigint)`;
  const from = isNear ? `${rows} AS ${table}` : `${rows} AS page JOIN ${table} USING (${key.join()})`;
  return {
    sql: `SELECT ${[columns, ...(isWalk ? valueNames(order) : [])].join()} FROM ${from} ${joins} ${inOrder}`,
    values: [...parts.flatMap(({ values }) => values), page.limit, page.offset],
  };
}

const fromText = ({ table, key }: ListedTable, { through }: Way): string =>
  through ? `${through} JOIN ${table} USING (${key.join()})` : table;

function countRows(
  { head, counts, query }: SnapshotReads,
  listed: ListedTable,
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

/** Splits a row of a walk, whose last columns are its order values. */
function splitRow<Row extends object>(row: Row, count: number): { row: Row; values: RowValue[] } {
  const members = Object.entries(row);
  const values = members.splice(-count).map(([, value]) => value as RowValue);
  return { row: Object.fromEntries(members) as Row, values };
}
