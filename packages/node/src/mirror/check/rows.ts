/** Reads rows as lists of columns. */
import type { PostgresValue, Query } from "../../postgres/connection.ts";
import type { Columns } from "../statements.ts";

/** A row: the values of its columns. */
export type Values = readonly PostgresValue[];

/** @param rest the statement after its columns */
export async function readRows(
  query: Query,
  columns: Columns,
  rest: string,
  values: Values = [],
): Promise<Values[]> {
  const names = columns.map(([name]) => name);
  const rows = await query<Record<string, PostgresValue>>(`SELECT ${names.join(", ")} ${rest}`, values);
  return rows.map((row) => names.map((name) => row[name] ?? null));
}
