/** Contents of deliveries. */
import type { Transaction } from "../../postgres/connection.ts";
import type { TimedContent } from "../model/deliveries.ts";

/** Stores contents. Returns their numbers in the same order. */
export async function insertContents(
  { query }: Transaction,
  contents: readonly TimedContent[],
): Promise<number[]> {
  if (contents.length === 0) return [];
  const rows = await query<{ number: string }>(
    `INSERT INTO contents (data, truncated, link, time_ms)
     SELECT data, truncated, link, time_ms FROM unnest($1::text[], $2::boolean[], $3::text[], $4::bigint[])
       WITH ORDINALITY AS new (data, truncated, link, time_ms, position)
     ORDER BY position RETURNING number`,
    [
      contents.map(({ dataText }) => dataText ?? null),
      contents.map(({ truncated }) => truncated ?? null),
      contents.map(({ link }) => link ?? null),
      contents.map(({ timeMs }) => timeMs ?? null),
    ],
  );
  return rows.map(({ number }) => Number(number));
}
