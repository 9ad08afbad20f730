/** Facts of blocks that wait for the confirmations that their webhooks require. */
import type {
  BlockReference,
  ConfirmEvent,
  Confirmed,
  ConfirmedEvent,
  DeferEvent,
  IntakeCommand,
} from "../intake.ts";
import { isOwned } from "./shards.ts";
import { given, type Reads, type Sql, type Steps } from "./sql.ts";

/**
 * Applies the commands about unconfirmed events. Returns the commands that stored an event. A batch confirms no event that it defers,
 * and neither confirms nor defers events if it drops some.
 *
 * @param shards shards of the batch: others have not reached its events, and have yet to confirm what it drops
 */
export function* changeUnconfirmed(
  sql: Sql,
  commands: readonly IntakeCommand[],
  shards: readonly number[],
): Steps<ReadonlySet<IntakeCommand>> {
  const stored = yield* store(
    sql,
    commands.filter((command) => command.kind === "defer"),
  );
  yield* remove(
    sql,
    commands.filter((command) => command.kind === "confirm"),
  );
  for (const command of commands) if (command.kind === "drop") yield* dropBlock(sql, command.block, shards);
  return stored;
}

const UNCONFIRMED = {
  webhook: "bigint",
  sequence: "bigint",
  name: "text",
  event_id: "text",
  event_name: "text",
  height: "bigint",
  block_id: "text",
  data: "text",
  time_ms: "bigint",
} as const;
const UNCONFIRMED_COLUMNS = Object.keys(UNCONFIRMED).join(", ");

/** Stores events unless they are stored, and returns the commands that did so. */
function* store(sql: Sql, commands: readonly DeferEvent[]): Steps<ReadonlySet<DeferEvent>> {
  if (commands.length === 0) return new Set();
  const rows = commands.map(({ event: { webhook, logSequence, name, event, dataText } }) => [
    webhook,
    logSequence,
    name,
    event.id,
    event.name,
    event.height,
    event.blockId,
    dataText ?? null,
    event.timeMs ?? null,
  ]);
  const { table, values } = given(sql.kind, UNCONFIRMED, rows);
  const inserted = yield* sql.rows<{ webhook: number; sequence: number }>(
    `INSERT INTO unconfirmed_events (${UNCONFIRMED_COLUMNS}) SELECT ${UNCONFIRMED_COLUMNS} FROM ${table} WHERE true
     ON CONFLICT DO NOTHING RETURNING webhook, sequence`,
    values,
  );
  const stored = new Set(inserted.map(({ webhook, sequence }) => `${webhook} ${sequence}`));
  return new Set(commands.filter(({ event }) => stored.delete(`${event.webhook} ${event.logSequence}`)));
}

function* remove(sql: Sql, commands: readonly ConfirmEvent[]): Steps<void> {
  if (commands.length === 0) return;
  const rows = commands.map(({ delivery, logSequence }) => [delivery.webhook, logSequence]);
  const { table, values } = given(sql.kind, { webhook: "bigint", sequence: "bigint" }, rows);
  yield* sql.change(
    `DELETE FROM unconfirmed_events WHERE (webhook, sequence) IN (SELECT webhook, sequence FROM ${table})`,
    values,
  );
}

function* dropBlock(sql: Sql, block: BlockReference, shards: readonly number[]): Steps<void> {
  yield* sql.change(
    `DELETE FROM unconfirmed_events WHERE height = $1 AND block_id = $2 AND ${isOwned(sql.kind, "webhook", "$3")}`,
    [block.height, block.blockId, shards],
  );
}

const EVENT_COLUMNS = `event.webhook, event.sequence AS "logSequence", name, event_id AS id, event_name AS "eventName", height,
  block_id AS "blockId", data AS "dataText", time_ms AS "timeMs"`;

type EventRow = Omit<ConfirmedEvent, "event" | "dataText"> & {
  readonly id: string;
  readonly eventName: string;
  readonly height: number;
  readonly blockId: string;
  readonly dataText: string | null;
  readonly timeMs: number | null;
};

/** An active webhook with unconfirmed events after a sequence; `height` is that of the first one. */
type Waiting = {
  readonly webhook: number;
  readonly confirmations: number;
  readonly after: number;
  readonly height: number | null;
};

const FIRST_HEIGHT = "SELECT height FROM unconfirmed_events AS event WHERE event.webhook =";

/** Returns the events that blocks at ascending heights confirm, by height. */
export function* confirmedAt(
  sql: Reads,
  shards: readonly number[],
  heights: readonly number[],
  limit: number,
): Steps<Confirmed[]> {
  let waiting = yield* readWaiting(sql, shards);
  const found: Confirmed[] = [];
  let remaining = limit;
  for (const height of heights) {
    if (remaining === 0) break;
    // Later events of a webhook have no lower height: those of a reverted block are dropped.
    const due = waiting.filter((one) => one.height !== null && one.height + one.confirmations <= height);
    if (due.length === 0) continue;
    const events = yield* readConfirmed(sql, due, height, remaining);
    found.push({ height, events });
    remaining -= events.length;
    waiting = yield* skip(sql, waiting, events);
  }
  return found;
}

/** Reads one row of each webhook, however many of its events wait. An inactive webhook gets no deliveries. */
function* readWaiting(sql: Reads, shards: readonly number[]): Steps<Waiting[]> {
  return yield* sql.rows<Waiting>(
    `WITH RECURSIVE waiting (webhook) AS (
       SELECT min(webhook) FROM unconfirmed_events
       UNION ALL SELECT (SELECT min(event.webhook) FROM unconfirmed_events AS event WHERE event.webhook > waiting.webhook)
         FROM waiting WHERE webhook IS NOT NULL
     )
     SELECT id AS webhook, confirmations, coalesce(unconfirmed_up_to, 0) AS after,
       (${FIRST_HEIGHT} id AND sequence > coalesce(unconfirmed_up_to, 0) ORDER BY sequence LIMIT 1) AS height
     FROM waiting JOIN webhooks ON id = waiting.webhook LEFT JOIN finishing_queues ON finishing_queues.webhook = id
     WHERE ${isOwned(sql.kind, "id", "$1")} AND enabled AND suspended IS NULL ORDER BY id`,
    [shards],
  );
}

const WAITING = { webhook: "bigint", confirmations: "integer", after: "bigint" } as const;

const waitingRows = (waiting: readonly Waiting[]) =>
  waiting.map(({ webhook, confirmations, after }) => [webhook, confirmations, after]);

/** Moves webhooks after their events. */
function* skip(sql: Reads, waiting: readonly Waiting[], events: readonly ConfirmedEvent[]): Steps<Waiting[]> {
  const last = new Map(events.map(({ webhook, logSequence }) => [webhook, logSequence]));
  const moved = waiting.map((one) => ({ ...one, after: last.get(one.webhook) ?? one.after }));
  const { table, values } = given(sql.kind, WAITING, waitingRows(moved));
  return yield* sql.rows<Waiting>(
    `SELECT webhook, confirmations, after,
       (${FIRST_HEIGHT} given.webhook AND sequence > after ORDER BY sequence LIMIT 1) AS height FROM ${table} ORDER BY place`,
    values,
  );
}

const TIMES_REVERTED = `(SELECT count(*) FROM block_reverts WHERE block_reverts.block_id = event.block_id
  AND block_reverts.sequence < event.sequence) AS "timesReverted"`;

/** Returns events of due webhooks, by webhook and in the order of the log. */
function* readConfirmed(
  sql: Reads,
  due: readonly Waiting[],
  height: number,
  limit: number,
): Steps<ConfirmedEvent[]> {
  if (sql.kind === "postgres") {
    const { table, values } = given(sql.kind, WAITING, waitingRows(due));
    const rows = yield* sql.rows<EventRow>(
      `SELECT ${EVENT_COLUMNS}, ${TIMES_REVERTED}
       FROM ${table} CROSS JOIN LATERAL (SELECT * FROM unconfirmed_events AS own WHERE own.webhook = given.webhook
         AND height <= $4 - confirmations AND sequence > after ORDER BY sequence LIMIT $5) AS event
       ORDER BY event.webhook, event.sequence LIMIT $5`,
      [...values, height, limit],
    );
    return rows.map(eventFromRow);
  }
  const events: ConfirmedEvent[] = [];
  for (const { webhook, confirmations, after } of due) {
    const rows = yield* sql.rows<EventRow>(
      `SELECT ${EVENT_COLUMNS}, ${TIMES_REVERTED} FROM unconfirmed_events AS event
       WHERE webhook = $1 AND height <= $2 AND sequence > $3 ORDER BY sequence LIMIT $4`,
      [webhook, height - confirmations, after, limit - events.length],
    );
    events.push(...rows.map(eventFromRow));
    if (events.length === limit) break;
  }
  return events;
}

const eventFromRow = ({
  id,
  eventName,
  height,
  blockId,
  timeMs,
  dataText,
  ...event
}: EventRow): ConfirmedEvent => ({
  ...event,
  event: { ...{ id, name: eventName, height, blockId }, ...(timeMs !== null && { timeMs }) },
  dataText: dataText ?? undefined,
});
