/** Facts of blocks that wait for the confirmations that their webhooks require. */
import type { Query, Transaction } from "../../../postgres/connection.ts";
import type { Confirmed, ConfirmedEvent, DeferEvent, IntakeCommand } from "../../intake.ts";
import { SHARDS } from "../shards.ts";

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
       (webhook, sequence, name, event_id, event_name, height, due_height, block_id, data)
     SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[],
       $8::text[], $9::text[]) ON CONFLICT DO NOTHING RETURNING webhook, sequence`,
    [
      column(({ event }) => event.webhook),
      column(({ event }) => event.logSequence),
      column(({ event }) => event.name),
      column(({ event }) => event.event.id),
      column(({ event }) => event.event.name),
      column(({ event }) => event.event.height),
      column(({ dueHeight }) => dueHeight),
      column(({ event }) => event.event.blockId),
      column(({ event }) => event.dataText ?? null),
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
  times_reverted: string;
};

/** An inactive webhook gets no deliveries. `taken`: last sequence that lower heights confirm, by webhook. */
const CONFIRMED = `SELECT event.*,
    (SELECT count(*) FROM block_reverts WHERE block_reverts.block_id = event.block_id
      AND block_reverts.sequence < event.sequence) AS times_reverted
  FROM webhooks
    LEFT JOIN unnest($3::bigint[], $4::bigint[]) AS taken (webhook, sequence) ON taken.webhook = webhooks.id
    LEFT JOIN finishing_queues ON finishing_queues.webhook = webhooks.id
    JOIN LATERAL (SELECT * FROM unconfirmed_events WHERE unconfirmed_events.webhook = webhooks.id
      AND height <= $1 - confirmations AND sequence > coalesce(taken.sequence, 0)
      AND sequence > coalesce(unconfirmed_up_to, 0) ORDER BY sequence LIMIT $5) AS event ON true
  WHERE shard = ANY ($2) AND enabled AND suspended IS NULL
    AND webhooks.id IN (SELECT webhook FROM unconfirmed_events WHERE due_height <= $1)
    AND (taken.sequence IS NULL OR EXISTS (SELECT 1 FROM unconfirmed_events AS due WHERE due.webhook = webhooks.id
      AND due.due_height <= $1 AND due.sequence > taken.sequence))
  ORDER BY webhooks.id, event.sequence LIMIT $5`;

/** Returns the events that blocks at ascending heights confirm, by height. */
export async function confirmedAt(
  query: Query,
  shards: readonly number[],
  heights: readonly number[],
  limit: number,
): Promise<Confirmed[]> {
  const taken = new Map<number, number>();
  const found: Confirmed[] = [];
  let remaining = limit;
  const dueHeight = await firstDueHeight(query);
  for (const height of heights) {
    if (height < dueHeight) continue;
    if (remaining === 0) break;
    const values = [height, shards, [...taken.keys()], [...taken.values()], remaining];
    const events = (await query<EventRow>(CONFIRMED, values)).map(eventFromRow);
    if (events.length > 0) found.push({ height, events });
    for (const { webhook, logSequence } of events) taken.set(webhook, logSequence);
    remaining -= events.length;
  }
  return found;
}

/** Returns the lowest height that may confirm an event: lower ones, usually all of a step, need no statement each. */
async function firstDueHeight(query: Query): Promise<number> {
  const [{ due } = { due: null }] = await query<{ due: string | null }>(
    "SELECT min(due_height) AS due FROM unconfirmed_events",
  );
  return due === null ? Number.POSITIVE_INFINITY : Number(due);
}

const eventFromRow = (row: EventRow): ConfirmedEvent => ({
  webhook: Number(row.webhook),
  logSequence: Number(row.sequence),
  name: row.name,
  event: { id: row.event_id, name: row.event_name, height: Number(row.height), blockId: row.block_id },
  dataText: row.data ?? undefined,
  timesReverted: Number(row.times_reverted),
});
