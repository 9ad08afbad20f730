/** The intake in SQLite. Each batch is one transaction, with the cursor of the event log or the position of the replay. */
import type { Database } from "../../store/engine/database.ts";
import type { EventLog } from "../../store/events/event-log.ts";
import { type Intake, type IntakeBatch, type LogPosition, READER, type ReplayStep } from "../intake.ts";
import type { Replay } from "../model/replay.ts";
import { type BatchState, createApplyCommand } from "./intake-commands.ts";
import { createReplayStore, type ReplayStore } from "./replays.ts";
import { createBlockRevertStore, createDeliveredFactStore } from "./retractions.ts";
import { type Sync, toPort } from "./sync.ts";
import { createUnconfirmedEventStore } from "./unconfirmed-events.ts";
import type { WebhookStore } from "./webhooks.ts";

export type IntakeDeps = {
  readonly database: Database;
  readonly webhooks: WebhookStore;
  readonly eventLog: Pick<EventLog, "read" | "cursor" | "moveCursor" | "hasRetractionAfter">;
};

export function createSqliteIntake({ database, webhooks, eventLog }: IntakeDeps): Intake {
  const matched = () => eventLog.cursor(READER) ?? 0;
  const canReplay = () => !eventLog.hasRetractionAfter(matched());
  const positions = createPositions(createReplayStore(database), canReplay, (sequence) =>
    eventLog.moveCursor(READER, sequence),
  );
  return toPort<Intake>({
    activeWebhooks(known) {
      const version = webhooks.version();
      return version === known ? undefined : { version, webhooks: webhooks.active() };
    },
    nextEvents: (limit) => eventLog.read(matched(), limit),
    canReplay,
    countReverts: createBlockRevertStore(database).count,
    unretracted: createDeliveredFactStore(database).unretracted,
    confirmedAt: createUnconfirmedEventStore(database).confirmedAt,
    apply: createApply(database, webhooks, positions),
  });
}

const NOT_CURRENT = { isCurrent: false, webhooks: [] };

function createApply(
  database: Database,
  webhooks: WebhookStore,
  positions: Positions,
): Sync<Pick<Intake, "apply">>["apply"] {
  const applyCommand = createApplyCommand(database, webhooks);
  return ({ registerVersion, atMs, commands, position }) =>
    database.transaction(
      () => {
        if (webhooks.version() !== registerVersion || !positions.isCurrent(position)) return NOT_CURRENT;
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
  replays: ReplayStore,
  canReplay: () => boolean,
  moveCursor: (sequence: number) => void,
): Positions {
  return {
    isCurrent(position) {
      if (position.reader === "log") return true;
      const current = replays.find(position.replay.webhook);
      return current !== undefined && isSame(current, position.replay) && canReplay();
    },
    move(position, events) {
      if (position.reader === "replay")
        replays.advance(position.replay.webhook, { ...position.next, events });
      else if (position.matched !== undefined) moveCursor(position.matched);
    },
  };
}

const isSame = (current: Replay, { nextHeight, nextIndex, lastDelivery }: Replay): boolean =>
  current.state === "running" &&
  current.nextHeight === nextHeight &&
  current.nextIndex === nextIndex &&
  current.lastDelivery === lastDelivery;
