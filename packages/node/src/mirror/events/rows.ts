/**
 * The copy of the node's event log in PostgreSQL. Each write moves `event_log` from the event that it continues: an event is
 * written once, and in the order of the node, or not at all.
 */
import type { Postgres, Transaction } from "../../postgres/connection.ts";
import type { Retention } from "../../store/events/event-log.ts";
import { type Epoch, lockHead } from "../head.ts";
import type { CopiedEvent } from "../line.ts";
import { MirrorError } from "../mirror-error.ts";
import { type Columns, insertRows } from "../statements.ts";

/** The last copied event. */
export type CopyState = {
  readonly sequence: number;
  /** Undefined if it is not known. */
  readonly id: string | undefined;
  /** False: no event has been copied yet. */
  readonly isStarted: boolean;
  /** Number of times that events were missing in the log of the node. */
  readonly gaps: number;
  /** Time of the last gap. */
  readonly lastGapMs: number | undefined;
  /** Id of the last hand-over of webhooks in this database; undefined before the first. */
  readonly transfer: string | undefined;
};

const COLUMNS: Columns = [
  ["sequence", "bigint"],
  ["id", "text"],
  ["name", "text"],
  ["height", "bigint"],
  ["block_id", "text"],
  ["created_ms", "bigint"],
  ["time_ms", "bigint"],
  ["reverts", "text"],
  ["data", "text"],
  ["total_bytes", "bigint"],
];

export async function readCopy(postgres: Postgres): Promise<CopyState> {
  const [row] = await postgres.query<{
    sequence: string;
    id: string | null;
    isStarted: boolean;
    gaps: string;
    lastGapMs: string | null;
    transfer: string | null;
  }>(
    `SELECT last_sequence AS sequence, last_id AS id, is_started AS "isStarted", gaps, last_gap_ms AS "lastGapMs",
       (SELECT transfer FROM webhook_register) AS transfer FROM event_log`,
  );
  if (!row) throw new MirrorError("MIRROR_DATABASE", "the table event_log has no row: use an empty database");
  return {
    sequence: Number(row.sequence),
    id: row.id ?? undefined,
    isStarted: row.isStarted,
    gaps: Number(row.gaps),
    lastGapMs: row.lastGapMs === null ? undefined : Number(row.lastGapMs),
    transfer: row.transfer ?? undefined,
  };
}

/** Begins the copy after an event of the node. */
export const startCopy = (postgres: Postgres, after: number, epoch: Epoch): Promise<void> =>
  write(postgres, epoch, (transaction) => move(transaction, { from: 0, to: after }));

/**
 * Writes the events that follow the last copied one.
 *
 * @param after sequence of the last copied event
 * @throws {MirrorError} MIRROR_DEPOSED; then nothing is written
 */
export async function appendEvents(
  postgres: Postgres,
  after: number,
  events: readonly CopiedEvent[],
  epoch: Epoch,
): Promise<void> {
  const last = events.at(-1);
  if (!last) return;
  await write(postgres, epoch, async (transaction) => {
    await move(transaction, { from: after, to: last[0], id: last[1] });
    const [newest] = await transaction.query<{ bytes: string }>(NEWEST_BYTES);
    let bytes = Number(newest?.bytes ?? 0);
    const rows: (readonly (string | number | null)[])[] = [];
    for (const event of events) {
      bytes += Buffer.byteLength(event[8] ?? "");
      rows.push([...event, bytes]);
    }
    await insertRows(transaction, "events", COLUMNS, rows);
  });
}

const NEWEST_BYTES = "SELECT total_bytes AS bytes FROM events ORDER BY sequence DESC LIMIT 1";

/** Records that events after one event are missing, and continues after another. */
export const markGap = (postgres: Postgres, from: number, to: number, epoch: Epoch): Promise<void> =>
  write(postgres, epoch, async (transaction) => {
    await move(transaction, { from, to });
    await transaction.change("UPDATE event_log SET gaps = gaps + 1, last_gap_ms = $1", [Date.now()]);
  });

/** Runs a transaction that only the mirror with the lease can commit. Its commit is on disk when it returns. */
const write = (
  postgres: Postgres,
  epoch: Epoch,
  work: (transaction: Transaction) => Promise<void>,
): Promise<void> =>
  postgres.transaction("READ WRITE", async (transaction) => {
    // The node may drop events that the mirror has confirmed.
    await transaction.query("SET LOCAL synchronous_commit TO on");
    await lockHead(transaction, epoch);
    await work(transaction);
  });

type Move = { readonly from: number; readonly to: number; readonly id?: string };

async function move(transaction: Transaction, { from, to, id }: Move): Promise<void> {
  const moved = await transaction.change(
    "UPDATE event_log SET last_sequence = $1, last_id = $2, is_started = true WHERE last_sequence = $3",
    [to, id ?? null, from],
  );
  if (moved === 1) return;
  throw new MirrorError("MIRROR_DEPOSED", `another mirror copies events, or the last one is not ${from}`);
}

/** Rows deleted in one transaction. */
const DELETED_AT_ONCE = 5_000;

/**
 * Finds the events that are dropped: the oldest ones beyond the bounds, up to the first one that is not. While there are
 * webhooks, events that a worker has not matched yet stay.
 */
const DROPPED = `
  WITH oldest AS (SELECT sequence, created_ms, total_bytes FROM events ORDER BY sequence LIMIT ${DELETED_AT_ONCE}),
    newest AS (SELECT coalesce((${NEWEST_BYTES}), 0) AS bytes),
    matched AS (SELECT min(matched) AS sequence FROM shards WHERE EXISTS (SELECT FROM webhooks)),
    kept AS (
      SELECT min(oldest.sequence) AS sequence FROM oldest, newest, matched, event_log
      WHERE oldest.sequence > matched.sequence
        OR (oldest.sequence > event_log.last_sequence - $1 AND oldest.created_ms >= $2
          AND oldest.total_bytes > newest.bytes - $3))
  SELECT max(oldest.sequence) AS last, count(*)::integer AS count FROM oldest, kept
  WHERE oldest.sequence < coalesce(kept.sequence, oldest.sequence + 1)`;

/**
 * Drops some of the oldest events, to keep the copy within the bounds of the log.
 *
 * @returns true if more may remain
 * @throws {MirrorError} MIRROR_DEPOSED
 */
export async function pruneEvents(
  postgres: Postgres,
  { maxEvents, maxBytes, maxAgeMs }: Retention,
  epoch: Epoch,
): Promise<boolean> {
  const [dropped] = await postgres.query<{ last: string | null; count: number }>(DROPPED, [
    maxEvents,
    Date.now() - maxAgeMs,
    maxBytes,
  ]);
  const { last = null, count = 0 } = dropped ?? {};
  if (last === null) return false;
  await postgres.transaction("READ WRITE", async (transaction) => {
    await lockHead(transaction, epoch);
    await transaction.change("DELETE FROM events WHERE sequence <= $1", [last]);
  });
  return count === DELETED_AT_ONCE;
}
