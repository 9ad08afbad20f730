/** Messages and contents of deliveries as rows. */
import type { Database } from "../../store/engine/database.ts";
import type { TimedContent } from "../model/deliveries.ts";

/** Columns of a message, in a row of deliveries joined by `WITH_CONTENT`. */
export const MESSAGE_COLUMNS =
  "webhook, deliveries.id, sequence, deliveries.event, height, block_id, reverts, created_ms, time_ms, data, truncated, link";
export const WITH_CONTENT = "JOIN contents ON contents.number = content";

/** Contents of deliveries. A content is dropped with the last delivery that refers to it. */
export type ContentStore = {
  /** Stores a content and returns its number. */
  insert(content: TimedContent): number;
};

export function createContentStore(database: Database): ContentStore {
  const insert = database.prepare(
    "INSERT INTO contents (data, truncated, link, time_ms) VALUES (?, ?, ?, ?)",
  );
  return {
    insert({ dataText, truncated, link, timeMs }) {
      const { lastInsertRowid } = insert.run(
        ...[dataText ?? null, truncated ? 1 : null, link ?? null, timeMs ?? null],
      );
      return Number(lastInsertRowid);
    },
  };
}
