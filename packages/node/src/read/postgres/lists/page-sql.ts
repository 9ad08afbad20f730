/** SQL of a page, and of the offset cache of its list. */

import { allOf } from "../../sql.ts";
import { pageText, type RowText } from "../row-text.ts";
import { type Condition, type OrderTerm, orderText, valueNames, valueTexts } from "./conditions.ts";

export type ListedTable<Row> = {
  readonly table: string;
  /** Columns of the key. */
  readonly key: readonly string[];
  /** The selected columns. A subquery in a column is faster than a join, for which the planner compares more plans. */
  readonly row: RowText<Row>;
  readonly related?: Related<Row>;
};

/** Data of another table that a page needs: one lookup of all keys is faster than a subquery for each row. */
type Related<Row> = {
  /** SQL of a text for the keys in the array `keys`. */
  readonly sql: string;
  /** Adds the data to the rows; the text is null if nothing was found. */
  readonly add: (rows: readonly Row[], text: string | null) => void;
};

/** A condition that has an index; `through` is another table that contains the keys of the rows. */
export type Alternative = Condition & { readonly through?: string };

/** Rows that satisfy at least one of the alternatives, in an order. */
export type OrderedRows = {
  readonly listed: Pick<ListedTable<unknown>, "table" | "key">;
  readonly alternatives: readonly Alternative[];
  readonly order: readonly OrderTerm[];
};

export type PageOptions = {
  readonly start: readonly Condition[];
  readonly offset: number;
  readonly limit: number;
  /** True if the rows also contain their order values. */
  readonly isWalk: boolean;
  readonly isPrepared: boolean;
};

/** Maximum offset of a page that selects whole rows. */
const NEAR = 500;

/**
 * Returns SQL of a page. The keys of a page are selected first, so that whole rows are neither skipped nor sorted. The first pages
 * select whole rows, because planning a join costs more than skipping a few rows.
 */
export function pageSql(
  listed: Pick<ListedTable<never>, "table" | "key" | "related"> & {
    readonly row: Pick<RowText<unknown>, "columns">;
  },
  { alternatives, order }: Pick<OrderedRows, "alternatives" | "order">,
  { isWalk, ...page }: PageOptions,
): Condition {
  const { table, key, row, related } = listed;
  const isNear = alternatives.length === 1 && !alternatives[0]?.through && page.offset <= NEAR;
  const { sql, values } = rowsSql({ listed, alternatives, order }, isNear ? ["*"] : key, page);
  const from = isNear ? `${sql} AS ${table}` : `${sql} AS page JOIN ${table} USING (${key.join()})`;
  const columns = [...row.columns, ...(isWalk ? valueTexts(order) : [])];
  const text = pageText(columns, orderText(order));
  if (!related) return { sql: `SELECT ${text} FROM ${from}`, values };
  const rows = `SELECT ${text}, array_agg(${key.join()}) AS keys FROM ${from}`;
  return { sql: `SELECT fields, count, (${related.sql}) AS related FROM (${rows}) AS rows`, values };
}

/** Returns SQL of the order values of every `step`th row after a start, up to a number of them. */
export function cursorsSql(
  rows: OrderedRows,
  start: readonly Condition[],
  step: number,
  count: number,
): Condition {
  const inOrder = `ORDER BY ${orderText(rows.order)}`;
  const range = { start, offset: 0, limit: count * step, isPrepared: false };
  const { sql, values } = rowsSql(rows, [], range);
  const names = valueNames(rows.order).join();
  return {
    sql: `SELECT ${names} FROM (SELECT ${names}, row_number() OVER (${inOrder}) AS number FROM ${sql} AS listed) AS numbered
      WHERE number % ?::bigint = 0 ${inOrder}`,
    values: [...values, step],
  };
}

/** Returns SQL of columns and order values of a range of rows, in parentheses. */
function rowsSql(
  { listed, alternatives, order }: OrderedRows,
  columns: readonly string[],
  { start, ...page }: Pick<PageOptions, "start" | "offset" | "limit" | "isPrepared">,
): Condition {
  const selected = [...columns, ...order.map(({ value }, index) => `${value} AS order${index}`)].join();
  const inOrder = `ORDER BY ${orderText(order)}`;
  const last = page.offset + page.limit;
  const parts = alternatives.map((alternative): Condition => {
    const { sql, values } = allOf([alternative, ...start]);
    const text = `SELECT ${selected} FROM ${fromText(listed, alternative)} WHERE ${sql}`;
    return alternatives.length === 1
      ? { sql: text, values }
      : { sql: `(${text} ${inOrder} LIMIT ?::bigint)`, values: [...values, last] };
  });
  const { sql: range, values: ends } = rangeSql(page);
  return {
    sql: `(${parts.map(({ sql }) => sql).join(" UNION ")} ${inOrder} ${range})`,
    values: [...parts.flatMap(({ values }) => values), ...ends],
  };
}

/** Returns SQL of the range of a page. A literal limit shows the server how few rows a prepared statement returns. */
function rangeSql({
  limit,
  offset,
  isPrepared,
}: Pick<PageOptions, "limit" | "offset" | "isPrepared">): Condition {
  if (!isPrepared) return { sql: "LIMIT ?::bigint OFFSET ?::bigint", values: [limit, offset] };
  return offset === 0
    ? { sql: `LIMIT ${limit}`, values: [] }
    : { sql: `LIMIT ${limit} OFFSET ?::bigint`, values: [offset] };
}

/** Returns SQL of the number of rows. */
export function countSql(listed: OrderedRows["listed"], alternatives: readonly Alternative[]): Condition {
  const [only, ...others] = alternatives;
  const keys = alternatives
    .map(
      (alternative) =>
        `SELECT ${listed.key.join()} FROM ${fromText(listed, alternative)} WHERE ${alternative.sql}`,
    )
    .join(" UNION ");
  return {
    sql:
      only && others.length === 0
        ? `SELECT count(*) AS total FROM ${fromText(listed, only)} WHERE ${only.sql}`
        : `SELECT count(*) AS total FROM (${keys}) AS keys`,
    values: alternatives.flatMap(({ values }) => values),
  };
}

const fromText = ({ table, key }: OrderedRows["listed"], { through }: Alternative): string =>
  through ? `${through} JOIN ${table} USING (${key.join()})` : table;
