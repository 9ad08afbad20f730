/** Contents of deliveries, and messages with them. */
import type { Transaction } from "../../postgres/connection.ts";
import type { MessageRow as AnyMessageRow } from "../delivery-rows.ts";
import type { TimedContent } from "../model/deliveries.ts";

export type MessageRow = AnyMessageRow<string>;

/** Columns of a message, in a row of deliveries joined by `WITH_CONTENT`. */
export const MESSAGE_COLUMNS = `deliveries.webhook, deliveries.id, deliveries.sequence, deliveries.event, deliveries.height,
  deliveries.block_id, deliveries.reverts, deliveries.created_ms, contents.time_ms, contents.data, contents.truncated, contents.link`;
export const WITH_CONTENT = "JOIN contents ON contents.number = deliveries.content";

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
