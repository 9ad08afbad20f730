/** Contents of deliveries in SQLite. A content is dropped with the last delivery that refers to it. */
import type { Database } from "../../store/engine/database.ts";
import type { Content } from "../../subscriptions/content.ts";
import type { Contents } from "../intake.ts";

export type ContentRow = { data: string | null; truncated: number | null; link: string | null };

export function createContentStore(database: Database): Contents {
  const insert = database.prepare("INSERT INTO contents (data, truncated, link) VALUES (?, ?, ?)");
  return {
    insert: ({ dataText, truncated, link }) =>
      Number(insert.run(dataText ?? null, truncated ? 1 : null, link ?? null).lastInsertRowid),
  };
}

export const contentFromRow = ({ data, truncated, link }: ContentRow): Content => ({
  ...(data !== null && { dataText: data }),
  ...(truncated !== null && { truncated: true }),
  ...(link !== null && { link }),
});
