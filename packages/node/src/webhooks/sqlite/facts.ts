/**
 * Facts of blocks in SQLite: they wait for the confirmations that their webhooks require, and a revert of their block retracts the
 * delivered ones. Also counts the reverts of each block.
 */
import type { Database } from "../../store/engine/database.ts";
import type { BlockReference, Confirmed, ConfirmedEvent, UnconfirmedEvent } from "../intake.ts";
import { type DeliveredFact, REVERTED_REASON } from "../model/deliveries.ts";

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

export type DeliveredFactStore = {
  /** Returns the unretracted deliveries of the blocks' facts, block by block, in the order of their retractions. */
  unretracted(blocks: readonly BlockReference[], limit: number): DeliveredFact[];
  /** Marks the fact as retracted. */
  retract(number: number, atMs: number): void;
};

type DeliveredFactRow = Omit<DeliveredFact, "hasSameTarget"> & { sameTarget: number };

export function createDeliveredFactStore(database: Database): DeliveredFactStore {
  // A finished delivery without an attempt was dropped: its receiver does not know the fact. One with a failed attempt may have
  // reached it.
  const unretracted = database.prepare<DeliveredFactRow>(
    `SELECT number, webhook, deliveries.id, deliveries.event, height, block_id AS blockId, content,
       webhooks.id IS NOT NULL AND (state = 'pending' OR (webhooks.target_number = deliveries.target_number
         AND EXISTS (SELECT 1 FROM attempts WHERE delivery = number))) AS sameTarget
     FROM deliveries LEFT JOIN webhooks ON webhooks.id = webhook
     WHERE height = +? AND block_id = +? AND is_retracted = 0
     ORDER BY deliveries.event = 'block.applied', number DESC LIMIT +?`,
  );
  const retract = database.prepare("UPDATE deliveries SET is_retracted = 1 WHERE number = ?");
  // A failed attempt is not retried, because the receiver gets the retraction instead. Nor is a delivery in the queue of a
  // replay, for which the retraction does not wait.
  const cancel = database.prepare(
    `UPDATE deliveries SET state = 'cancelled', next_attempt_ms = NULL, reason = ?,
     finished_ms = ? WHERE number = ? AND state = 'pending' AND (next_attempt_ms IS NOT NULL OR replay IS NOT NULL)`,
  );
  return {
    unretracted(blocks, limit) {
      const facts: DeliveredFactRow[] = [];
      for (const { height, blockId } of blocks) {
        if (facts.length === limit) break;
        facts.push(...unretracted.all(height, blockId, limit - facts.length));
      }
      return facts.map(({ sameTarget, ...fact }) => ({ ...fact, hasSameTarget: sameTarget === 1 }));
    },
    retract(number, atMs) {
      retract.run(number);
      cancel.run(REVERTED_REASON, atMs, number);
    },
  };
}

export type BlockRevertStore = {
  /** Records a revert with its sequence in the event log; idempotent. */
  record(blockId: string, sequence: number): void;
  /** Returns how often each block was reverted before a sequence of the event log. */
  count(blockIds: readonly string[], before: number): Map<string, number>;
};

export function createBlockRevertStore(database: Database): BlockRevertStore {
  const insert = database.prepare("INSERT OR IGNORE INTO block_reverts VALUES (?, ?)");
  const count = database.prepare<{ total: number }>(
    "SELECT count(*) AS total FROM block_reverts WHERE block_id = +? AND sequence < ?",
  );
  return {
    record: (blockId, sequence) => void insert.run(blockId, sequence),
    count: (blockIds, before) =>
      new Map(blockIds.map((blockId) => [blockId, count.get(blockId, before)?.total ?? 0])),
  };
}
