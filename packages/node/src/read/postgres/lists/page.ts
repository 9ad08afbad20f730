/** Reads pages of a table. */
import { present } from "../../../platform/present.ts";
import { preparedList } from "../../../postgres/reads.ts";
import { cursorAt, type RowValue } from "../../cursor.ts";
import type { Found, Range } from "../../page.ts";
import { allOf } from "../../sql.ts";
import { type PageFields, splitPage } from "../row-text.ts";
import {
  after,
  type Condition,
  NEVER,
  numbered,
  type OrderTerm,
  valueNames,
  valuesOfTexts,
} from "./conditions.ts";
import {
  type Alternative,
  countSql,
  cursorsSql,
  type ListedTable,
  type OrderedRows,
  pageSql,
} from "./page-sql.ts";
import type { SnapshotReads, StartCursor } from "./reads.ts";

export type Selection = {
  /** Conditions that must all hold. */
  readonly conditions: readonly Condition[];
  /** Alternatives, at least one of which must hold; each becomes a separate query. Absent: no further condition. */
  readonly alternatives?: readonly Alternative[];
  /** Must end with terms that are unique to a row, so that pages do not overlap. */
  readonly order: readonly OrderTerm[];
  /**
   * True if the statement can be prepared. The program has few such selections: those in the default order, without
   * filters other than heights.
   */
  readonly isPrepared?: boolean;
};

/** Number of rows of pages for which statements are prepared: the default `limit` of requests. */
const USUAL_LIMIT = 100;

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
  const rows = { listed, alternatives: alternativesOf(selection), order };
  if (rows.alternatives.length === 0) return { rows: [], totalCount: (await totalCount?.()) ?? 0 };
  const { cursor, rest } = await startOf(reads, rows, range);
  const page = {
    start: cursor === undefined ? [] : [after(order, cursor)],
    offset: rest,
    // Selects one more row than requested, which shows whether others follow.
    limit: limit + Number(isWalk),
    isWalk,
    isPrepared: selection.isPrepared === true && limit === USUAL_LIMIT,
  };
  const { sql, values } = pageSql(listed, rows, page);
  const statement = page.isPrepared ? preparedList(numbered(sql)) : numbered(sql);
  const { row, related } = listed;
  const width = row.columns.length;
  const [selected] = await reads.query<PageFields & { readonly related?: string | null }>(statement, values);
  const found = splitPage(present(selected), width + (isWalk ? order.length : 0));
  const isLast = found.length < page.limit;
  const isWhole = isLast && range.after === undefined && (found.length > 0 || range.offset <= 0);
  const counted = isWhole ? Math.max(0, range.offset) + found.length : undefined;
  const total = (await totalCount?.()) ?? counted ?? (await countRows(reads, rows));
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  const converted = shown.map(row.fromFields);
  related?.add(converted, selected?.related ?? null);
  return {
    rows: converted,
    totalCount: total,
    ...(isWalk && !isLast && last && { next: cursorAt(order, valuesOfTexts(order, last.slice(width))) }),
  };
}

/** Combines the conditions with each of the alternatives; omits combinations that match no row. */
function alternativesOf({ conditions, alternatives }: Selection): Alternative[] {
  if (conditions.includes(NEVER)) return [];
  if (!alternatives) return [allOf(conditions)];
  return alternatives
    .filter((alternative) => alternative !== NEVER)
    .map(({ through, ...alternative }) => ({
      ...allOf([alternative, ...conditions]),
      ...(through && { through }),
    }));
}

/** Returns the cursor of a page, or the last entry of the offset cache before it. */
async function startOf(
  { head, offsets, query }: SnapshotReads,
  rows: OrderedRows,
  { after: cursor, offset: asked }: Range,
): Promise<StartCursor> {
  if (cursor !== undefined) return { cursor, rest: 0 };
  const offset = Math.max(0, asked);
  if (offset < offsets.step) return { rest: offset };
  const { order } = rows;
  const list = cursorsSql(rows, [], offsets.step, 0);
  return offsets.before(head, list, offset, async (cursor, count) => {
    const start = cursor === undefined ? [] : [after(order, cursor)];
    const { sql, values } = cursorsSql(rows, start, offsets.step, count);
    const found = await query<Readonly<Record<string, RowValue>>>(numbered(sql), values);
    const names = valueNames(order);
    return found.map((entry) =>
      cursorAt(
        order,
        names.map((name) => entry[name] ?? null),
      ),
    );
  });
}

function countRows(
  { head, counts, query }: SnapshotReads,
  { listed, alternatives }: OrderedRows,
): Promise<number> {
  const { sql, values } = countSql(listed, alternatives);
  return counts.read(head, { sql, values }, async () => {
    const [row] = await query<{ total: string }>(numbered(sql), values);
    return Number(row?.total ?? 0);
  });
}
