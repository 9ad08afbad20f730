/** Facts of blocks that wait until their blocks are deep enough, for webhooks that want nothing less. */
import type { Event } from "../../events/event.ts";
import type { Database } from "../engine/database.ts";

export type Held = {
  readonly webhook: number;
  /** Place of the event in the log. */
  readonly logSequence: number;
  /** As the webhook calls it. */
  readonly name: string;
  readonly event: Event & { readonly height: number; readonly blockId: string };
  readonly dataText: string | undefined;
};

export type HeldStore = {
  /** Until the chain has reached `dueHeight`. `false`: it is held already, and stays as it is. */
  hold(held: Held, dueHeight: number): boolean;
  /** Webhooks with facts that are due at a height, by ascending id. */
  due(height: number): number[];
  /** Takes out what the webhook was not told of blocks up to a height, in the order of the log. */
  release(webhook: number, height: number, limit: number): Held[];
  /** The block was undone: nobody will hear of it. */
  dropBlock(height: number, blockId: string): void;
};

type HeldRow = {
  webhook: number;
  sequence: number;
  name: string;
  event_id: string;
  event_name: string;
  height: number;
  block_id: string;
  data: string | null;
};

export function createHeldStore(database: Database): HeldStore {
  const insert = database.prepare("INSERT OR IGNORE INTO held VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const due = database.prepare<{ webhook: number }>(
    "SELECT DISTINCT webhook FROM held WHERE due_height <= ? ORDER BY webhook",
  );
  const select = database.prepare<HeldRow>(
    `SELECT * FROM held WHERE webhook = ? AND height <= ?
     AND sequence > coalesce((SELECT held_up_to FROM endings WHERE endings.webhook = held.webhook), 0)
     ORDER BY sequence LIMIT ?`,
  );
  const remove = database.prepare("DELETE FROM held WHERE webhook = ? AND sequence = ?");
  const dropBlock = database.prepare("DELETE FROM held WHERE height = ? AND block_id = ?");
  return {
    hold({ webhook, logSequence, name, event, dataText }, dueHeight) {
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
      return rows.map(heldFromRow);
    },
    dropBlock: (height, blockId) => void dropBlock.run(height, blockId),
  };
}

const heldFromRow = (row: HeldRow): Held => ({
  webhook: row.webhook,
  logSequence: row.sequence,
  name: row.name,
  event: { id: row.event_id, name: row.event_name, height: row.height, blockId: row.block_id },
  dataText: row.data ?? undefined,
});
