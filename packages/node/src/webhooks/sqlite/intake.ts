/** The intake in SQLite. Each batch is one transaction, with the cursor of the event log or the position of the replay. */
import { present } from "../../platform/present.ts";
import type { Database } from "../../store/engine/database.ts";
import type { EventLog } from "../../store/events/event-log.ts";
import {
  type DeliveryDraft,
  type Intake,
  type IntakeBatch,
  type IntakeCommand,
  type LogPosition,
  READER,
  type ReplayStep,
} from "../intake.ts";
import type { TimedContent } from "../model/deliveries.ts";
import type { Replay } from "../model/replay.ts";
import { suspendWebhook } from "../storage/queues.ts";
import { advanceReplay, lockReplay } from "../storage/replays.ts";
import type { Reads, Sql } from "../storage/sql.ts";
import { activeWebhooks } from "../storage/webhooks.ts";
import { createContentStore, createDeliveryStore } from "./deliveries.ts";
import { createBlockRevertStore, createDeliveredFactStore, createUnconfirmedEventStore } from "./facts.ts";
import { runNow, type Sync, sqlOf, toPort } from "./sql.ts";

type IntakeDeps = {
  readonly database: Database;
  readonly eventLog: Pick<EventLog, "read" | "cursor" | "moveCursor" | "hasRetractionAfter">;
};

export function createSqliteIntake({ database, eventLog }: IntakeDeps): Intake {
  const sql = sqlOf(database);
  const matched = () => eventLog.cursor(READER) ?? 0;
  const canReplay = () => !eventLog.hasRetractionAfter(matched());
  const positions = createPositions(sql, canReplay, (sequence) => eventLog.moveCursor(READER, sequence));
  return toPort<Intake>({
    activeWebhooks(known) {
      const version = readVersion(sql);
      return version === known ? undefined : { version, webhooks: runNow(activeWebhooks(sql, [])) };
    },
    nextEvents: (limit) => eventLog.read(matched(), limit),
    canReplay,
    countReverts: createBlockRevertStore(database).count,
    unretracted: createDeliveredFactStore(database).unretracted,
    confirmedAt: createUnconfirmedEventStore(database).confirmedAt,
    apply: createApply(database, positions),
  });
}

const readVersion = (sql: Reads): number =>
  present(runNow(sql.row<{ version: number }>("SELECT version FROM webhook_register")), "the register")
    .version;

const NOT_CURRENT = { isCurrent: false, webhooks: [] };

function createApply(database: Database, positions: Positions): Sync<Pick<Intake, "apply">>["apply"] {
  const sql = sqlOf(database);
  const applyCommand = createApplyCommand(database);
  return ({ registerVersion, atMs, commands, position }) =>
    database.transaction(
      () => {
        if (readVersion(sql) !== registerVersion || !positions.isCurrent(position)) return NOT_CURRENT;
        const state: BatchState = {
          atMs,
          contents: new Map(),
          ...(position.reader === "replay" && { replay: { ...position.replay } }),
        };
        const changed = commands.flatMap((command) => applyCommand(state, command) ?? []);
        positions.move(position, state.replay?.events ?? 0);
        return { isCurrent: true, webhooks: [...new Set(changed)] };
      },
      survivalOf(commands, position),
    );
}

/** A range of a replay without events may be read again after a power loss. */
const survivalOf = (commands: IntakeBatch["commands"], { reader }: IntakeBatch["position"]) =>
  reader === "replay" && commands.length === 0 ? "process death" : "power loss";

type Positions = {
  isCurrent(position: LogPosition | ReplayStep): boolean;
  /** @param events number of events that the replay has put into the queue so far */
  move(position: LogPosition | ReplayStep, events: number): void;
};

function createPositions(
  sql: Sql,
  canReplay: () => boolean,
  moveCursor: (sequence: number) => void,
): Positions {
  return {
    isCurrent(position) {
      if (position.reader === "log") return true;
      const current = runNow(lockReplay(sql, position.replay.webhook));
      return current !== undefined && isSame(current, position.replay) && canReplay();
    },
    move(position, events) {
      if (position.reader === "replay")
        runNow(advanceReplay(sql, position.replay.webhook, { ...position.next, events }));
      else if (position.matched !== undefined) moveCursor(position.matched);
    },
  };
}

const isSame = (current: Replay, { nextHeight, nextIndex, lastDelivery }: Replay): boolean =>
  current.state === "running" &&
  current.nextHeight === nextHeight &&
  current.nextIndex === nextIndex &&
  current.lastDelivery === lastDelivery;

/** State of a batch. */
type BatchState = {
  readonly atMs: number;
  /** Numbers of the contents that the batch has stored. */
  readonly contents: Map<TimedContent, number>;
  /** The replay of the deliveries; its `events` counts them. */
  readonly replay?: Pick<Replay, "lastDelivery"> & { events: number };
};

/**
 * Creates a function that applies a command, and returns the webhook for which something was written. Must be called in the
 * transaction of the batch.
 */
function createApplyCommand(
  database: Database,
): (state: BatchState, command: IntakeCommand) => number | undefined {
  const facts = createDeliveredFactStore(database);
  const unconfirmed = createUnconfirmedEventStore(database);
  const { record } = createBlockRevertStore(database);
  const enqueue = createEnqueue(database);
  return (state, command) => {
    switch (command.kind) {
      case "enqueue":
        return enqueue(state, command.delivery) ? command.delivery.webhook : undefined;
      case "defer":
        return unconfirmed.add(command.event) ? command.event.webhook : undefined;
      case "confirm": {
        const { webhook } = command.delivery;
        unconfirmed.remove(webhook, command.logSequence);
        enqueue(state, command.delivery);
        return webhook;
      }
      case "retract":
        facts.retract(command.number, state.atMs);
        if (command.retraction) enqueue(state, command.retraction);
        return command.webhook;
      case "drop":
        unconfirmed.dropBlock(command.block);
        return undefined;
      case "revert":
        record(command.blockId, command.sequence);
        return undefined;
      case "suspend":
        runNow(suspendWebhook(sqlOf(database), command.webhook, command.reason, state.atMs));
        return command.webhook;
    }
  };
}

/** Puts a finished delivery into the lane of a replay. */
export const PUT_AGAIN = `UPDATE deliveries SET state = 'pending', attempts = 0, next_attempt_ms = NULL, finished_ms = NULL, reason = NULL,
  replay = ?, target_number = coalesce((SELECT target_number FROM webhooks WHERE id = webhook), target_number)
  WHERE webhook = ? AND id = ? AND number <= ? AND state <> 'pending'`;

function createEnqueue(database: Database): (state: BatchState, draft: DeliveryDraft) => boolean {
  const { has, insert } = createDeliveryStore(database);
  const nextSequence = database.prepare<{ sequence: number }>(
    "UPDATE queues SET last_sequence = last_sequence + 1 WHERE webhook = ? RETURNING last_sequence AS sequence",
  );
  const putAgain = database.prepare(PUT_AGAIN);
  const { insert: insertContent } = createContentStore(database);

  function numberOf({ contents }: BatchState, content: DeliveryDraft["content"]): number {
    if (typeof content === "number") return content;
    const number = contents.get(content) ?? insertContent(content);
    contents.set(content, number);
    return number;
  }

  /** Inserts a delivery, unless the webhook has it. */
  function insertNew(state: BatchState, draft: DeliveryDraft, replay: number | undefined): boolean {
    const { requires, reverts, ...delivery } = draft;
    const { webhook, id } = delivery;
    // Checked before taking a number, because numbers have no gaps.
    if (has(webhook, id) || (requires !== undefined && !has(webhook, requires))) return false;
    insert(
      {
        ...delivery,
        ...(reverts !== undefined && has(webhook, reverts) && { reverts }),
        sequence: present(nextSequence.get(webhook), "the row of a queue").sequence,
        content: numberOf(state, delivery.content),
        ...(replay !== undefined && { replay }),
      },
      state.atMs,
    );
    return true;
  }

  return (state, draft) => {
    const { replay } = state;
    if (!replay) return insertNew(state, draft, undefined);
    const { webhook, id } = draft;
    const position = replay.events + 1;
    // Deliveries from before the replay are sent again; those made since it began are not.
    const isQueued =
      insertNew(state, draft, position) ||
      putAgain.run(position, webhook, id, replay.lastDelivery).changes > 0;
    if (isQueued) replay.events++;
    return isQueued;
  };
}
