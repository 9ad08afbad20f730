/**
 * Facts of blocks that wait for the confirmations that their webhooks require. The table is called `held`, its bound in
 * `endings` `held_up_to`.
 */
import type { Database } from "../../store/engine/database.ts";
import type { UnconfirmedEvent, UnconfirmedEvents } from "../intake.ts";

type UnconfirmedEventRow = {
  webhook: number;
  sequence: number;
  name: string;
  event_id: string;
  event_name: string;
  height: number;
  block_id: string;
  data: string | null;
};

export function createUnconfirmedEventStore(database: Database): UnconfirmedEvents {
  const insert = database.prepare("INSERT OR IGNORE INTO held VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const due = database.prepare<{ webhook: number }>(
    "SELECT DISTINCT webhook FROM held WHERE due_height <= ? ORDER BY webhook",
  );
  const select = database.prepare<UnconfirmedEventRow>(
    `SELECT * FROM held WHERE webhook = +? AND height <= ?
     AND sequence > coalesce((SELECT held_up_to FROM endings WHERE endings.webhook = held.webhook), 0)
     ORDER BY sequence LIMIT +?`,
  );
  const remove = database.prepare("DELETE FROM held WHERE webhook = ? AND sequence = ?");
  const dropBlock = database.prepare("DELETE FROM held WHERE height = +? AND block_id = +?");
  return {
    add({ webhook, logSequence, name, event, dataText }, dueHeight) {
      const { id, height, blockId } = event;
      const { changes } = insert.run(
        webhook,
        logSequence,
        name,
        id,
        event.name,
        height,
        dueHeight,
        blockId,
        dataText ?? null,
      );
      return changes > 0;
    },
    due: (height) => due.all(height).map(({ webhook }) => webhook),
    release(webhook, height, limit) {
      const rows = select.all(webhook, height, limit);
      for (const { sequence } of rows) remove.run(webhook, sequence);
      return rows.map(unconfirmedEventFromRow);
    },
    dropBlock: (height, blockId) => void dropBlock.run(height, blockId),
  };
}

const unconfirmedEventFromRow = (row: UnconfirmedEventRow): UnconfirmedEvent => ({
  webhook: row.webhook,
  logSequence: row.sequence,
  name: row.name,
  event: { id: row.event_id, name: row.event_name, height: row.height, blockId: row.block_id },
  dataText: row.data ?? undefined,
});
