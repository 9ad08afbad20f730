/** Compares the records of the state with those of the node. */
import type { Query } from "../../postgres/connection.ts";
import { MirrorError } from "../error.ts";
import type { FeedLine, Row } from "../line.ts";
import { RECORD_TABLES, type RecordTable, tableOf, toColumns } from "../records.ts";
import { createComparison, type TableCheck, type TableComparison } from "./comparison.ts";
import { readRows, type Values } from "./rows.ts";

type Table = RecordTable & {
  readonly comparison: TableComparison;
  /** Key of the last compared row. */
  last: Values | undefined;
};

/** Maximum number of rows per statement. */
const PAGE_ROWS = 1_000;

/**
 * Compares all tables of records.
 *
 * @param lines records in the order of their tables and keys, after the line that names their block
 * @throws {MirrorError} MIRROR_NODE_UNREACHABLE if the lines end early
 */
export async function checkState(query: Query, lines: AsyncIterator<FeedLine>): Promise<TableCheck[]> {
  const tables = RECORD_TABLES.map((table): Table => {
    const key = Array.from({ length: table.keyLength }, (_, column) => column);
    return { ...table, comparison: createComparison(table.name, table.columns, key), last: undefined };
  });
  for (;;) {
    const { value: line, done } = await lines.next();
    if (done) {
      throw new MirrorError("MIRROR_NODE_UNREACHABLE", "the node ended the records of the state early");
    }
    if ("end" in line) break;
    if (!("rows" in line)) throw new MirrorError("MIRROR_FEED_INVALID", "a line of the state has no records");
    await comparePage(query, tables, line.rows);
  }
  for (const table of tables) await compareRest(query, table);
  return tables.map(({ comparison }) => comparison.result());
}

/** Compares records with the rows of the mirror from the last compared key up to the last key of the records. */
async function comparePage(query: Query, tables: readonly Table[], rows: readonly Row[]): Promise<void> {
  for (const [{ name }, some] of Map.groupBy(rows, ([table]) => tableOf(table))) {
    const table = tables.find((known) => known.name === name);
    const expected = some.map(toColumns);
    const end = expected.at(-1)?.slice(0, table?.keyLength);
    if (!table || !end) continue;
    table.comparison.compare(expected, await readPage(query, table, { end }));
    table.last = end;
  }
}

/** Compares the rows after the node's last record; a correct mirror has none. */
async function compareRest(query: Query, table: Table): Promise<void> {
  for (;;) {
    const found = await readPage(query, table, { limit: PAGE_ROWS });
    if (found.length === 0) return;
    table.comparison.compare([], found);
    table.last = found.at(-1)?.slice(0, table.keyLength);
  }
}

/** Reads the rows after the last compared row, up to a key or a number of rows. */
async function readPage(
  query: Query,
  { name, columns, keyLength, last }: Table,
  { end, limit }: { readonly end?: Values; readonly limit?: number },
): Promise<Values[]> {
  const key = columns.slice(0, keyLength);
  const keys = key.map(([column]) => column).join(", ");
  const placeholders = (start: number) =>
    key.map(([, type], index) => `$${start + index + 1}::${type}`).join(", ");
  const conditions = [
    ...(last ? [`(${keys}) > (${placeholders(0)})`] : []),
    ...(end ? [`(${keys}) <= (${placeholders(last ? keyLength : 0)})`] : []),
  ];
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  const page = limit === undefined ? "" : `LIMIT ${limit}`;
  return readRows(query, columns, `FROM ${name} ${where} ORDER BY ${keys} ${page}`, [
    ...(last ?? []),
    ...(end ?? []),
  ]);
}
