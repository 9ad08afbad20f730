/** Facts of blocks that wait for the confirmations that their webhooks require. */
import type { Database } from "../../store/engine/database.ts";
import type { BlockReference, Confirmed, ConfirmedEvent, UnconfirmedEvent } from "../intake.ts";

export type UnconfirmedEventStore = {
  /** Stores the event; returns `false` if it is already stored. */
  add(event: UnconfirmedEvent): boolean;
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
  time_ms: number | null;
  times_reverted: number;
};

export function createUnconfirmedEventStore(database: Database): UnconfirmedEventStore {
  const insert = database.prepare(
    "INSERT OR IGNORE INTO unconfirmed_events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const remove = database.prepare("DELETE FROM unconfirmed_events WHERE webhook = ? AND sequence = ?");
  const dropBlock = database.prepare("DELETE FROM unconfirmed_events WHERE height = +? AND block_id = +?");
  return {
    add({ webhook, logSequence, name, event, dataText }) {
      const { id, height, blockId, timeMs = null } = event;
      const values = [name, id, event.name, height, blockId, dataText ?? null, timeMs];
      return insert.run(webhook, logSequence, ...values).changes > 0;
    },
    confirmedAt: createConfirmedAt(database),
    remove: (webhook, logSequence) => void remove.run(webhook, logSequence),
    dropBlock: ({ height, blockId }) => void dropBlock.run(height, blockId),
  };
}

/** An active webhook with unconfirmed events after a sequence; `height` is that of the first one. */
type Waiting = {
  readonly webhook: number;
  readonly confirmations: number;
  after: number;
  height: number | null;
};

/** Events after the bound of a queue that is being finished. */
const AFTER =
  "coalesce((SELECT unconfirmed_up_to FROM finishing_queues WHERE finishing_queues.webhook = webhooks.id), 0)";

function createConfirmedAt(database: Database): UnconfirmedEventStore["confirmedAt"] {
  // Reads one row of each webhook, however many of its events wait. An inactive webhook gets no deliveries.
  const selectWaiting = database.prepare<Waiting>(
    `WITH RECURSIVE waiting (webhook) AS (
       SELECT min(webhook) FROM unconfirmed_events
       UNION ALL SELECT (SELECT min(webhook) FROM unconfirmed_events WHERE unconfirmed_events.webhook > waiting.webhook) FROM waiting WHERE webhook IS NOT NULL
     )
     SELECT id AS webhook, confirmations, ${AFTER} AS after,
       (SELECT height FROM unconfirmed_events WHERE unconfirmed_events.webhook = webhooks.id AND sequence > ${AFTER} ORDER BY sequence LIMIT 1) AS height
     FROM waiting JOIN webhooks ON id = waiting.webhook WHERE enabled = 1 AND suspended IS NULL ORDER BY id`,
  );
  const next = database.prepare<{ height: number }>(
    "SELECT height FROM unconfirmed_events WHERE webhook = ? AND sequence > ? ORDER BY sequence LIMIT 1",
  );
  const select = database.prepare<ConfirmedEventRow>(
    `SELECT *, (SELECT count(*) FROM block_reverts WHERE block_reverts.block_id = unconfirmed_events.block_id
       AND block_reverts.sequence < unconfirmed_events.sequence) AS times_reverted
     FROM unconfirmed_events WHERE webhook = +? AND height <= ? AND sequence > +? ORDER BY sequence LIMIT +?`,
  );

  function take(one: Waiting, height: number, limit: number): ConfirmedEvent[] {
    const { webhook, confirmations, after } = one;
    const rows = select.all(webhook, height - confirmations, after, limit);
    one.after = rows.at(-1)?.sequence ?? after;
    one.height = next.get(webhook, one.after)?.height ?? null;
    return rows.map(confirmedEventFromRow);
  }

  return (heights, limit) => {
    const waiting = selectWaiting.all();
    const found: Confirmed[] = [];
    let remaining = limit;
    for (const height of heights) {
      const events: ConfirmedEvent[] = [];
      for (const one of waiting) {
        // Later events have no lower height: those of a reverted block are dropped.
        if (one.height === null || one.height + one.confirmations > height || remaining === 0) continue;
        const taken = take(one, height, remaining);
        events.push(...taken);
        remaining -= taken.length;
      }
      if (events.length > 0) found.push({ height, events });
    }
    return found;
  };
}

const confirmedEventFromRow = (row: ConfirmedEventRow): ConfirmedEvent => ({
  webhook: row.webhook,
  logSequence: row.sequence,
  name: row.name,
  event: {
    ...{ id: row.event_id, name: row.event_name, height: row.height, blockId: row.block_id },
    ...(row.time_ms !== null && { timeMs: row.time_ms }),
  },
  dataText: row.data ?? undefined,
  timesReverted: row.times_reverted,
});
