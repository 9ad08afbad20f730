/**
 * Facts of blocks that wait for the confirmations that their webhooks require. The table is called `held`, its bound in
 * `endings` `held_up_to`.
 */
import type { Database } from "../../store/engine/database.ts";
import type { BlockReference, Confirmed, ConfirmedEvent, UnconfirmedEvent } from "../intake.ts";

export type UnconfirmedEventStore = {
  /** Stores the event until the chain has reached `dueHeight`; returns `false` if it is already stored. */
  add(event: UnconfirmedEvent, dueHeight: number): boolean;
  /** Returns the events that the first of the heights confirms which confirms any. */
  firstConfirmed(heights: readonly number[], limit: number): Confirmed | undefined;
  remove(webhook: number, logSequence: number): void;
  /** Drops the events of a reverted block. */
  dropBlock(block: BlockReference): void;
};

type ConfirmedEventRow = {
  webhook: number;
  sequence: number;
  name: string;
  event_id: string;
  event_name: string;
  height: number;
  block_id: string;
  data: string | null;
  times_reverted: number;
};

export function createUnconfirmedEventStore(database: Database): UnconfirmedEventStore {
  const insert = database.prepare("INSERT OR IGNORE INTO held VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const remove = database.prepare("DELETE FROM held WHERE webhook = ? AND sequence = ?");
  const dropBlock = database.prepare("DELETE FROM held WHERE height = +? AND block_id = +?");
  return {
    add({ webhook, logSequence, name, event, dataText }, dueHeight) {
      const { id, height, blockId } = event;
      const data = dataText ?? null;
      return (
        insert.run(webhook, logSequence, name, id, event.name, height, dueHeight, blockId, data).changes > 0
      );
    },
    firstConfirmed: createFirstConfirmed(database),
    remove: (webhook, logSequence) => void remove.run(webhook, logSequence),
    dropBlock: ({ height, blockId }) => void dropBlock.run(height, blockId),
  };
}

function createFirstConfirmed(database: Database): UnconfirmedEventStore["firstConfirmed"] {
  // An inactive webhook gets no deliveries.
  const due = database.prepare<{ webhook: number; confirmations: number }>(
    `SELECT id AS webhook, confirmations FROM webhooks
     WHERE id IN (SELECT webhook FROM held WHERE due_height <= +?) AND +enabled = 1 AND +suspended IS NULL ORDER BY id`,
  );
  const select = database.prepare<ConfirmedEventRow>(
    `SELECT *, (SELECT count(*) FROM reversals WHERE reversals.block_id = held.block_id
       AND reversals.sequence < held.sequence) AS times_reverted
     FROM held WHERE webhook = +? AND height <= ?
     AND sequence > coalesce((SELECT held_up_to FROM endings WHERE endings.webhook = held.webhook), 0)
     ORDER BY sequence LIMIT +?`,
  );

  function confirmedAt(height: number, limit: number): ConfirmedEvent[] {
    const events: ConfirmedEvent[] = [];
    for (const { webhook, confirmations } of due.all(height)) {
      if (events.length === limit) break;
      const rows = select.all(webhook, height - confirmations, limit - events.length);
      events.push(...rows.map(confirmedEventFromRow));
    }
    return events;
  }

  return (heights, limit) => {
    for (const height of heights) {
      const events = confirmedAt(height, limit);
      if (events.length > 0) return { height, events };
    }
    return undefined;
  };
}

const confirmedEventFromRow = (row: ConfirmedEventRow): ConfirmedEvent => ({
  webhook: row.webhook,
  logSequence: row.sequence,
  name: row.name,
  event: { id: row.event_id, name: row.event_name, height: row.height, blockId: row.block_id },
  dataText: row.data ?? undefined,
  timesReverted: row.times_reverted,
});
