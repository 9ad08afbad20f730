/**
 * Facts of blocks that wait for the confirmations that their webhooks require. The table is called `held`, its bound in
 * `endings` `held_up_to`.
 */
import type { Database } from "../../store/engine/database.ts";
import type { BlockReference, Confirmed, ConfirmedEvent, UnconfirmedEvent } from "../intake.ts";

export type UnconfirmedEventStore = {
  /** Stores the event until the chain has reached `dueHeight`; returns `false` if it is already stored. */
  add(event: UnconfirmedEvent, dueHeight: number): boolean;
  /** Returns the events that blocks at ascending heights confirm, by height. */
  confirmedAt(heights: readonly number[], limit: number): Confirmed[];
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
    confirmedAt: createConfirmedAt(database),
    remove: (webhook, logSequence) => void remove.run(webhook, logSequence),
    dropBlock: ({ height, blockId }) => void dropBlock.run(height, blockId),
  };
}

function createConfirmedAt(database: Database): UnconfirmedEventStore["confirmedAt"] {
  // An inactive webhook gets no deliveries.
  const due = database.prepare<{ webhook: number; confirmations: number }>(
    `SELECT id AS webhook, confirmations FROM webhooks
     WHERE id IN (SELECT webhook FROM held WHERE due_height <= +?) AND +enabled = 1 AND +suspended IS NULL ORDER BY id`,
  );
  const isDue = database.prepare(
    "SELECT 1 FROM held INDEXED BY held_due WHERE due_height <= +? AND webhook = +? AND sequence > +? LIMIT 1",
  );
  const select = database.prepare<ConfirmedEventRow>(
    `SELECT *, (SELECT count(*) FROM reversals WHERE reversals.block_id = held.block_id
       AND reversals.sequence < held.sequence) AS times_reverted
     FROM held WHERE webhook = +? AND height <= ? AND sequence > +?
     AND sequence > coalesce((SELECT held_up_to FROM endings WHERE endings.webhook = held.webhook), 0)
     ORDER BY sequence LIMIT +?`,
  );

  /** @param taken last sequence that lower heights confirm, by webhook */
  function confirmed(height: number, taken: Map<number, number>, limit: number): ConfirmedEvent[] {
    const events: ConfirmedEvent[] = [];
    for (const { webhook, confirmations } of due.all(height)) {
      if (events.length === limit) break;
      const after = taken.get(webhook) ?? 0;
      if (after > 0 && !isDue.get(height, webhook, after)) continue;
      const rows = select.all(webhook, height - confirmations, after, limit - events.length);
      events.push(...rows.map(confirmedEventFromRow));
      taken.set(webhook, rows.at(-1)?.sequence ?? after);
    }
    return events;
  }

  return (heights, limit) => {
    const taken = new Map<number, number>();
    const found: Confirmed[] = [];
    let remaining = limit;
    for (const height of heights) {
      const events = confirmed(height, taken, remaining);
      if (events.length > 0) found.push({ height, events });
      remaining -= events.length;
      if (remaining === 0) break;
    }
    return found;
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
