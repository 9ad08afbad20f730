/** Facts of blocks that wait for the confirmations that their webhooks require. */
import type { Query, Transaction } from "../../../postgres/connection.ts";
import type { Confirmed, ConfirmedEvent, DeferEvent, IntakeCommand } from "../../intake.ts";
import { SHARDS } from "../../storage/shards.ts";

type UnconfirmedCommand = Extract<IntakeCommand, { readonly kind: "defer" | "confirm" | "drop" }>;

/**
 * Applies the commands about unconfirmed events in order. Returns the commands that stored an event.
 *
 * @param shards shards of the batch: others have not reached its events, and have yet to confirm what it drops
 */
export async function changeUnconfirmed(
  transaction: Transaction,
  commands: readonly IntakeCommand[],
  shards: readonly number[],
): Promise<ReadonlySet<IntakeCommand>> {
  const stored = new Set<IntakeCommand>();
  for (const run of runsOf(commands)) {
    if (run.kind === "defer")
      for (const command of await store(transaction, run.commands)) stored.add(command);
    else if (run.kind === "confirm") await remove(transaction, run.commands);
    else await dropBlocks(transaction, run.commands, shards);
  }
  return stored;
}

type CommandOf<Kind> = Extract<UnconfirmedCommand, { readonly kind: Kind }>;
type Run = {
  [Kind in UnconfirmedCommand["kind"]]: { readonly kind: Kind; readonly commands: CommandOf<Kind>[] };
}[UnconfirmedCommand["kind"]];

/** Groups consecutive commands of one kind. */
function runsOf(commands: readonly IntakeCommand[]): Run[] {
  const runs: Run[] = [];
  for (const command of commands) {
    if (command.kind !== "defer" && command.kind !== "confirm" && command.kind !== "drop") continue;
    const last = runs.at(-1);
    if (last?.kind === command.kind) (last.commands as UnconfirmedCommand[]).push(command);
    else runs.push({ kind: command.kind, commands: [command] } as Run);
  }
  return runs;
}

/** Stores events unless they are stored, and returns the commands that did so. */
async function store({ query }: Transaction, commands: readonly DeferEvent[]): Promise<DeferEvent[]> {
  const column = <T>(value: (command: DeferEvent) => T) => commands.map(value);
  const rows = await query<{ webhook: string; sequence: string }>(
    `INSERT INTO unconfirmed_events
       (webhook, sequence, name, event_id, event_name, height, block_id, data, time_ms)
     SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[],
       $8::text[], $9::bigint[]) ON CONFLICT DO NOTHING RETURNING webhook, sequence`,
    [
      column(({ event }) => event.webhook),
      column(({ event }) => event.logSequence),
      column(({ event }) => event.name),
      column(({ event }) => event.event.id),
      column(({ event }) => event.event.name),
      column(({ event }) => event.event.height),
      column(({ event }) => event.event.blockId),
      column(({ event }) => event.dataText ?? null),
      column(({ event }) => event.event.timeMs ?? null),
    ],
  );
  const stored = new Set(rows.map(({ webhook, sequence }) => `${webhook} ${sequence}`));
  return commands.filter(({ event }) => stored.delete(`${event.webhook} ${event.logSequence}`));
}

async function remove({ change }: Transaction, commands: readonly CommandOf<"confirm">[]): Promise<void> {
  await change(
    `DELETE FROM unconfirmed_events
     WHERE (webhook, sequence) IN (SELECT * FROM unnest($1::bigint[], $2::bigint[]))`,
    [commands.map(({ delivery }) => delivery.webhook), commands.map(({ logSequence }) => logSequence)],
  );
}

async function dropBlocks(
  { change }: Transaction,
  commands: readonly CommandOf<"drop">[],
  shards: readonly number[],
): Promise<void> {
  await change(
    `DELETE FROM unconfirmed_events
     WHERE (height, block_id) IN (SELECT * FROM unnest($1::bigint[], $2::text[]))
       AND (webhook % ${SHARDS})::integer = ANY ($3)`,
    [commands.map(({ block }) => block.height), commands.map(({ block }) => block.blockId), shards],
  );
}

type EventRow = {
  webhook: string;
  sequence: string;
  name: string;
  event_id: string;
  event_name: string;
  height: string;
  block_id: string;
  data: string | null;
  time_ms: string | null;
  times_reverted: string;
};

/** An active webhook with unconfirmed events after a sequence; `height` is that of the first one. */
type Waiting = {
  readonly webhook: number;
  readonly confirmations: number;
  readonly after: number;
  readonly height: number | undefined;
};
type WaitingRow = { webhook: string; confirmations: number; after: string; height: string | null };

const FIRST_HEIGHT = "SELECT height FROM unconfirmed_events AS event WHERE event.webhook =";

/** Reads one row of each webhook, however many of its events wait. An inactive webhook gets no deliveries. */
const WAITING = `WITH RECURSIVE waiting (webhook) AS (
    SELECT min(webhook) FROM unconfirmed_events
    UNION ALL SELECT (SELECT min(event.webhook) FROM unconfirmed_events AS event WHERE event.webhook > waiting.webhook)
      FROM waiting WHERE webhook IS NOT NULL
  )
  SELECT id AS webhook, confirmations, coalesce(unconfirmed_up_to, 0) AS after,
    (${FIRST_HEIGHT} id AND sequence > coalesce(unconfirmed_up_to, 0) ORDER BY sequence LIMIT 1) AS height
  FROM waiting JOIN webhooks ON id = waiting.webhook LEFT JOIN finishing_queues ON finishing_queues.webhook = id
  WHERE shard = ANY ($1) AND enabled AND suspended IS NULL`;

/** Reads the same again after other sequences. */
const WAITING_AFTER = `SELECT webhook, confirmations, after,
    (${FIRST_HEIGHT} waiting.webhook AND sequence > after ORDER BY sequence LIMIT 1) AS height
  FROM unnest($1::bigint[], $2::integer[], $3::bigint[]) AS waiting (webhook, confirmations, after)`;

const CONFIRMED = `SELECT event.*,
    (SELECT count(*) FROM block_reverts WHERE block_reverts.block_id = event.block_id
      AND block_reverts.sequence < event.sequence) AS times_reverted
  FROM unnest($2::bigint[], $3::integer[], $4::bigint[]) AS waiting (webhook, confirmations, after)
    CROSS JOIN LATERAL (SELECT * FROM unconfirmed_events AS own WHERE own.webhook = waiting.webhook
      AND height <= $1 - confirmations AND sequence > after ORDER BY sequence LIMIT $5) AS event
  ORDER BY event.webhook, event.sequence LIMIT $5`;

/** Returns the events that blocks at ascending heights confirm, by height. */
export async function confirmedAt(
  query: Query,
  shards: readonly number[],
  heights: readonly number[],
  limit: number,
): Promise<Confirmed[]> {
  let waiting = (await query<WaitingRow>(WAITING, [shards])).map(waitingFromRow);
  const found: Confirmed[] = [];
  let remaining = limit;
  for (const height of heights) {
    if (remaining === 0) break;
    // Later events of a webhook have no lower height: those of a reverted block are dropped.
    const due = waiting.filter((one) => one.height !== undefined && one.height + one.confirmations <= height);
    if (due.length === 0) continue;
    const events = (await query<EventRow>(CONFIRMED, [height, ...columnsOf(due), remaining])).map(
      eventFromRow,
    );
    found.push({ height, events });
    remaining -= events.length;
    waiting = await skip(query, waiting, events);
  }
  return found;
}

/** Moves webhooks after their events. */
async function skip(
  query: Query,
  waiting: readonly Waiting[],
  events: readonly ConfirmedEvent[],
): Promise<Waiting[]> {
  const last = new Map(events.map(({ webhook, logSequence }) => [webhook, logSequence]));
  const moved = waiting.map((one) => ({ ...one, after: last.get(one.webhook) ?? one.after }));
  return (await query<WaitingRow>(WAITING_AFTER, columnsOf(moved))).map(waitingFromRow);
}

const columnsOf = (waiting: readonly Waiting[]) => [
  waiting.map(({ webhook }) => webhook),
  waiting.map(({ confirmations }) => confirmations),
  waiting.map(({ after }) => after),
];

const waitingFromRow = ({ webhook, confirmations, after, height }: WaitingRow): Waiting => ({
  webhook: Number(webhook),
  confirmations,
  after: Number(after),
  height: height === null ? undefined : Number(height),
});

const eventFromRow = (row: EventRow): ConfirmedEvent => ({
  webhook: Number(row.webhook),
  logSequence: Number(row.sequence),
  name: row.name,
  event: {
    ...{ id: row.event_id, name: row.event_name, height: Number(row.height), blockId: row.block_id },
    ...(row.time_ms !== null && { timeMs: Number(row.time_ms) }),
  },
  dataText: row.data ?? undefined,
  timesReverted: Number(row.times_reverted),
});
