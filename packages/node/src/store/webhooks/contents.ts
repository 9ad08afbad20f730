/** Contents of deliveries. A content is dropped together with the last delivery that has it. */
import type { Database } from "../engine/database.ts";

export type Content = {
  /** JSON; absent for events without content. */
  readonly dataText?: string | undefined;
  /** The rest was left out. */
  readonly truncated?: true;
  /** Path below the node's address where all of it stands, if it does. */
  readonly link?: string;
};

export type ContentStore = {
  /** Answers the number. */
  insert(content: Content): number;
};

export type ContentRow = { data: string | null; truncated: number | null; link: string | null };

export function createContentStore(database: Database): ContentStore {
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
