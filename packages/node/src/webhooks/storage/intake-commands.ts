/**
 * Applies the commands of a batch. Only the owner of a webhook inserts its deliveries, and it has locked their queues: what the
 * commands do follows from what was read before, so that each kind of row is written by one statement.
 */
import { present } from "../../platform/present.ts";
import type { DeliveryDraft, IntakeCommand, SuspendWebhook } from "../intake.ts";
import type { DeliveryState, NewDelivery, TimedContent } from "../model/deliveries.ts";
import type { Replay } from "../model/replay.ts";
import { insertContents } from "./delivery-rows.ts";
import { NEXT_NUMBER } from "./pings.ts";
import { suspendWebhook } from "./queues.ts";
import { recordReverts, retractFacts } from "./retractions.ts";
import { given, type Reads, type Sql, type Steps } from "./sql.ts";
import { changeUnconfirmed } from "./unconfirmed-events.ts";

type CommandOptions = {
  readonly atMs: number;
  /** Shards whose position moves with the batch; all in SQLite. */
  readonly shards: readonly number[];
  /** The replay of the deliveries. */
  readonly replay?: Pick<Replay, "lastDelivery" | "events">;
};

type Changed = {
  /** Webhooks for which something was written. */
  readonly webhooks: readonly number[];
  /** Number of events that the replay has put into the queue so far. */
  readonly events: number;
};

/** Returns the webhook of a command; undefined for blocks. */
export function webhookOf(command: IntakeCommand): number | undefined {
  switch (command.kind) {
    case "enqueue":
    case "confirm":
      return command.delivery.webhook;
    case "defer":
      return command.event.webhook;
    case "retract":
    case "suspend":
      return command.webhook;
    default:
      return undefined;
  }
}

/** Must be called after the shards and the register were locked. */
export function* applyCommands(
  sql: Sql,
  commands: readonly IntakeCommand[],
  options: CommandOptions,
): Steps<Changed> {
  const plan = yield* planDeliveries(sql, commands, options);
  const stored = yield* changeUnconfirmed(sql, commands, options.shards);
  yield* recordReverts(
    sql,
    commands.flatMap((command) => (command.kind === "revert" ? command : [])),
  );
  yield* retractFacts(
    sql,
    commands.flatMap((command) => (command.kind === "retract" ? command.number : [])),
    options.atMs,
  );
  yield* writeDeliveries(sql, plan, options.atMs);
  // After the deliveries of the batch, which fail as well.
  for (const { webhook, reason } of commands.filter(isSuspension))
    yield* suspendWebhook(sql, webhook, reason, options.atMs);
  const changed = commands.flatMap((command) =>
    isWritten(command, plan, stored) ? (webhookOf(command) ?? []) : [],
  );
  return { webhooks: [...new Set(changed)], events: plan.events };
}

const isSuspension = (command: IntakeCommand): command is SuspendWebhook => command.kind === "suspend";

function isWritten(command: IntakeCommand, { written }: Plan, stored: ReadonlySet<IntakeCommand>): boolean {
  if (command.kind === "enqueue") return written.has(command.delivery);
  return command.kind === "defer" ? stored.has(command) : webhookOf(command) !== undefined;
}

type Plan = {
  readonly inserted: (Omit<NewDelivery, "content"> & { readonly content: TimedContent | number })[];
  /** Numbers of finished deliveries that return to the replay lane, each with its position. */
  readonly again: { readonly number: number; readonly position: number }[];
  /** Drafts that were put into a queue. */
  readonly written: Set<DeliveryDraft>;
  /** Last sequence of each changed queue. */
  readonly sequences: Map<number, number>;
  events: number;
};

/** A delivery that its webhook has; `number` is absent if this batch inserts it. */
type Known = { readonly number?: number; readonly state: DeliveryState };

const keyOf = (webhook: number, id: string): string => `${webhook} ${id}`;

/** Locks the queues, and determines in order which drafts are inserted, and their sequences. */
function* planDeliveries(
  sql: Sql,
  commands: readonly IntakeCommand[],
  { replay }: CommandOptions,
): Steps<Plan> {
  const drafts = commands.flatMap(draftOf);
  const plan: Plan = {
    inserted: [],
    again: [],
    written: new Set(),
    sequences: new Map(),
    events: replay?.events ?? 0,
  };
  const changed = commands.flatMap((command) => (changesQueue(command) ? (webhookOf(command) ?? []) : []));
  if (changed.length === 0) return plan;
  const queues = yield* sql.rows<{ webhook: number; last_sequence: number }>(
    "SELECT webhook, last_sequence FROM queues WHERE webhook = ANY ($1) ORDER BY webhook FOR UPDATE",
    [[...new Set(changed)]],
  );
  const sequences = new Map(queues.map(({ webhook, last_sequence }) => [webhook, last_sequence]));
  const known = yield* readKnown(sql, drafts);
  for (const draft of drafts) {
    const { webhook, id, requires, reverts, ...delivery } = draft;
    const has = (other: string) => known.has(keyOf(webhook, other));
    const position = replay && plan.events + 1;
    const existing = known.get(keyOf(webhook, id));
    if (!existing && (requires === undefined || has(requires))) {
      const sequence = present(sequences.get(webhook), `the queue of webhook ${webhook}`) + 1;
      sequences.set(webhook, sequence);
      plan.sequences.set(webhook, sequence);
      known.set(keyOf(webhook, id), { state: "pending" });
      plan.inserted.push({
        ...delivery,
        ...{ webhook, id, sequence },
        ...(reverts !== undefined && has(reverts) && { reverts }),
        ...(position !== undefined && { replay: position }),
      });
    } else if (position !== undefined && mayReturn(existing, replay)) {
      plan.again.push({ number: present(existing?.number), position });
      known.set(keyOf(webhook, id), { state: "pending" });
    } else continue;
    plan.written.add(draft);
    if (position !== undefined) plan.events = position;
  }
  return plan;
}

const changesQueue = ({ kind }: IntakeCommand): boolean =>
  kind === "enqueue" || kind === "confirm" || kind === "retract";

function draftOf(command: IntakeCommand): readonly DeliveryDraft[] {
  if (command.kind === "enqueue" || command.kind === "confirm") return [command.delivery];
  return command.kind === "retract" && command.retraction ? [command.retraction] : [];
}

/** Deliveries from before the replay are sent again; those made since it began are not. */
const mayReturn = (known: Known | undefined, replay: CommandOptions["replay"]): boolean =>
  known?.number !== undefined && known.state !== "pending" && known.number <= (replay?.lastDelivery ?? 0);

/** Returns the stored deliveries that drafts name. */
function* readKnown(sql: Reads, drafts: readonly DeliveryDraft[]): Steps<Map<string, Known>> {
  const ids = drafts.flatMap(({ id, requires = [], reverts = [] }) => [id].concat(requires, reverts));
  const rows = yield* sql.rows<{ webhook: number; id: string; number: number; state: DeliveryState }>(
    "SELECT webhook, id, number, state FROM deliveries WHERE id = ANY ($1)",
    [[...new Set(ids)]],
  );
  return new Map(rows.map(({ webhook, id, number, state }) => [keyOf(webhook, id), { number, state }]));
}

function* writeDeliveries(sql: Sql, { inserted, again, sequences }: Plan, atMs: number): Steps<void> {
  if (again.length > 0) yield* putAgain(sql, again);
  if (inserted.length === 0) return;
  const contents = [
    ...new Set(inserted.flatMap(({ content }) => (typeof content === "number" ? [] : content))),
  ];
  const numbers = yield* insertContents(sql, contents);
  const numberOf = new Map(contents.map((content, index) => [content, present(numbers[index])]));
  const rows = inserted.map(({ content, ...delivery }) => ({
    ...delivery,
    content: typeof content === "number" ? content : present(numberOf.get(content)),
  }));
  yield* insertDeliveries(sql, rows, atMs);
  const { table, values } = given(sql.kind, { webhook: "bigint", sequence: "bigint" }, [...sequences]);
  yield* sql.change(
    `UPDATE queues SET last_sequence = given.sequence FROM ${table} WHERE queues.webhook = given.webhook`,
    values,
  );
}

const COLUMNS = {
  webhook: "bigint",
  id: "text",
  sequence: "bigint",
  event: "text",
  height: "bigint",
  block_id: "text",
  is_retracted: "boolean",
  reverts: "text",
  replay: "bigint",
  content: "bigint",
} as const;
const NAMES = Object.keys(COLUMNS).join(", ");

/** Inserts deliveries in their order, with ascending numbers. */
export function* insertDeliveries(sql: Sql, deliveries: readonly NewDelivery[], atMs: number): Steps<void> {
  const rows = deliveries.map((delivery) => [
    delivery.webhook,
    delivery.id,
    delivery.sequence ?? null,
    delivery.event,
    delivery.height ?? null,
    delivery.blockId ?? null,
    delivery.isRetractable ? false : null,
    delivery.reverts ?? null,
    delivery.replay ?? null,
    delivery.content,
  ]);
  const { table, values } = given(sql.kind, COLUMNS, rows);
  yield* sql.change(
    `INSERT INTO deliveries (number, ${NAMES}, state, created_ms, target_number)
     SELECT ${NEXT_NUMBER[sql.kind]}, delivery.*, 'pending', $${values.length + 1},
       coalesce((SELECT target_number FROM webhooks WHERE id = delivery.webhook), 0)
     FROM (SELECT ${NAMES} FROM ${table} ORDER BY place) AS delivery`,
    [...values, atMs],
  );
}

/** Returns finished deliveries to the replay lane. */
export function* putAgain(
  sql: Sql,
  again: readonly { readonly number: number; readonly position: number }[],
): Steps<void> {
  const rows = again.map(({ number, position }) => [number, position]);
  const { table, values } = given(sql.kind, { delivery: "bigint", position: "bigint" }, rows);
  yield* sql.change(
    `UPDATE deliveries SET state = 'pending', attempts = 0, next_attempt_ms = NULL, finished_ms = NULL, reason = NULL,
       replay = given.position,
       target_number = coalesce((SELECT target_number FROM webhooks WHERE id = webhook), target_number)
     FROM ${table} WHERE deliveries.number = given.delivery`,
    values,
  );
}
