/** Messages of deliveries as rows. */
import { withoutNulls } from "../../platform/without-nulls.ts";
import type { Database } from "../../store/engine/database.ts";
import type { Content } from "../../subscriptions/content.ts";
import type { DeliveryMessage } from "../model/deliveries.ts";

export type MessageRow = {
  webhook: number;
  id: string;
  sequence: number | null;
  event: string;
  height: number | null;
  block_id: string | null;
  reverts: string | null;
  created_ms: number;
} & ContentRow;

type ContentRow = { data: string | null; truncated: number | null; link: string | null };

/** Columns of a message, in a row of deliveries joined by `WITH_CONTENT`. */
export const MESSAGE_COLUMNS =
  "webhook, deliveries.id, sequence, deliveries.event, height, block_id, reverts, created_ms, data, truncated, link";
export const WITH_CONTENT = "JOIN contents ON contents.number = content";

export const messageFromRow = (row: MessageRow): DeliveryMessage =>
  withoutNulls({
    webhook: row.webhook,
    id: row.id,
    sequence: row.sequence,
    event: row.event,
    height: row.height,
    blockId: row.block_id,
    reverts: row.reverts,
    createdMs: row.created_ms,
    content: contentFromRow(row),
  });

const contentFromRow = ({ data, truncated, link }: ContentRow): Content =>
  withoutNulls({ dataText: data, truncated: truncated === null ? null : (true as const), link });

/** Contents of deliveries. A content is dropped with the last delivery that refers to it. */
export type ContentStore = {
  /** Stores a content and returns its number. */
  insert(content: Content): number;
};

export function createContentStore(database: Database): ContentStore {
  const insert = database.prepare("INSERT INTO contents (data, truncated, link) VALUES (?, ?, ?)");
  return {
    insert: ({ dataText, truncated, link }) =>
      Number(insert.run(dataText ?? null, truncated ? 1 : null, link ?? null).lastInsertRowid),
  };
}
