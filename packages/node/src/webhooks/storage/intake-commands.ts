/**
 * Applies a batch of the intake with its position in the events or in a replay, or nothing if the batch is not current. Only the owner of a webhook inserts its deliveries, and it has locked their queues: what the
 * commands do follows from what was read before, so that each kind of row is written by one statement.
 */
import { present } from "../../platform/present.ts";
import type { Applied, DeliveryDraft, IntakeBatch, IntakeCommand, SuspendWebhook } from "../intake.ts";
import type { DeliveryState, NewDelivery, TimedContent } from "../model/deliveries.ts";
import type { Replay } from "../model/replay.ts";
import { insertContents, insertDeliveries, putAgain } from "./delivery-rows.ts";
import { lockVersion } from "./locks.ts";
import { suspendWebhook } from "./queues.ts";
import { advanceReplay, isSame, lockReplay } from "./replays.ts";
import { recordReverts, retractFacts } from "./retractions.ts";
import { given, type Reads, type Sql, type Steps } from "./sql.ts";
import { changeUnconfirmed } from "./unconfirmed-events.ts";

/** The position of the webhooks of a batch in the events. */
export type EventPosition = {
  /** Locks the position until the end of the transaction. Returns its shards; undefined if another process owns one of them. */
  lock(sql: Sql): Steps<readonly number[] | undefined>;
  canReplay(sql: Reads): Steps<boolean>;
  move(sql: Sql, matched: number): Steps<unknown>;
};

export const NOT_CURRENT: Applied = { isCurrent: false, webhooks: [] };

export function* applyBatch(
  sql: Sql,
  { registerVersion, atMs, commands, position }: IntakeBatch,
  events: EventPosition,
): Steps<Applied> {
  const shards = yield* events.lock(sql);
  if (!shards) return NOT_CURRENT;
  // Two transactions with shared locks could not both change the version.
  const changesRegister = commands.some(({ kind }) => kind === "suspend");
  if ((yield* lockVersion(sql, changesRegister)) !== registerVersion) return NOT_CURRENT;
  if (position.reader === "log") {
    const { webhooks } = yield* applyCommands(sql, commands, { atMs, shards });
    if (position.matched !== undefined) yield* events.move(sql, position.matched);
    return { isCurrent: true, webhooks };
  }
  const replay = yield* lockReplay(sql, position.replay.webhook);
  if (!replay || !isSame(replay, position.replay) || !(yield* events.canReplay(sql))) return NOT_CURRENT;
  const applied = yield* applyCommands(sql, commands, { atMs, shards, replay });
  yield* advanceReplay(sql, replay.webhook, { ...position.next, events: applied.events });
  return { isCurrent: true, webhooks: applied.webhooks };
}

type CommandOptions = {
  readonly atMs: number;
  /** Shards whose position moves with the batch; all in SQLite. */
  readonly shards: readonly number[];
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
function* applyCommands(
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
  readonly written: Set<DeliveryDraft>;
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
