/**
 * The intake: the database port of matching and replays, which put deliveries into queues. A step reads, decides what to
 * write, and applies it as one batch of commands. Each implementation must pass the tests in
 * `packages/node/test/webhooks/queue-port`.
 *
 * A batch is applied with its position in the event log or in a replay, or not at all. A step that is repeated, because the
 * process died before the position moved, writes nothing twice: deliveries have ids, and the storage assigns sequences.
 */
import type { Event, LoggedEvent } from "../events/catalogue.ts";
import type { DeliveredFact, NewDelivery, TimedContent } from "./model/deliveries.ts";
import type { Replay } from "./model/replay.ts";
import type { ActiveWebhook } from "./model/webhook.ts";

/** Name of the matcher's cursor in the event log. */
export const READER = "webhooks";

/** Maximum work of a step of matching. Larger steps share the cost of a commit, and delay other users of the database for longer. */
export type StepSize = {
  readonly events: number;
  /** Webhooks, each of which starts calls. */
  readonly webhooks: number;
  /** Commands, unless the last event has more. */
  readonly commands: number;
};

/** Suits a database in this process: the chain waits for its write lock, and requests for this thread. */
export const STEP_SIZE: StepSize = { events: 50, webhooks: 100, commands: 500 };

export type Intake = {
  /** Default: `STEP_SIZE`. */
  readonly stepSize?: StepSize;
  /** Returns the active webhooks; undefined if the register still has the version `known`. */
  activeWebhooks(known: number | undefined): Promise<ActiveWebhooks | undefined>;
  /** Returns the next unmatched events of the log, in order. */
  nextEvents(limit: number): Promise<readonly LoggedEvent[]>;
  /**
   * Returns false while replays must wait: a retraction is not matched, or the past events may contain its block, or blocks
   * whose own events are not matched, which would get a later number.
   */
  canReplay(): Promise<boolean>;
  /** Returns how often each block was reverted before a sequence of the event log; blocks without reverts may be absent. */
  countReverts(blockIds: readonly string[], before: number): Promise<ReadonlyMap<string, number>>;
  /**
   * Returns the unretracted deliveries of facts, block by block: of each block the latest first and the block itself last,
   * which is the order of their retractions (webhooks.md 5).
   */
  unretracted(blocks: readonly BlockReference[], limit: number): Promise<readonly DeliveredFact[]>;
  /**
   * Returns the unconfirmed events that blocks at ascending heights confirm, by the number that each webhook requires now: for each
   * height that confirms any, its events by webhook and in the order of the log. Events of inactive webhooks are not confirmed.
   */
  confirmedAt(heights: readonly number[], limit: number): Promise<readonly Confirmed[]>;
  /** Applies all commands, those of one kind together and in their order, and moves the position; nothing if the batch is not current. */
  apply(batch: IntakeBatch): Promise<Applied>;
};

export type ActiveWebhooks = {
  /** Changes whenever the active webhooks may have changed. */
  readonly version: number;
  readonly webhooks: readonly ActiveWebhook[];
};

export type BlockReference = { readonly height: number; readonly blockId: string };

/** A fact of a block that waits for the confirmations that its webhook requires. */
export type UnconfirmedEvent = {
  readonly webhook: number;
  /** Sequence of the event in the log. */
  readonly logSequence: number;
  /** Name of the event in the subscription. */
  readonly name: string;
  readonly event: Pick<Event, "id" | "name" | "timeMs"> & BlockReference;
  /** Content of the event as JSON. */
  readonly dataText: string | undefined;
};

export type ConfirmedEvent = UnconfirmedEvent & {
  /** Number of reverts of the block before the event. */
  readonly timesReverted: number;
};

export type Confirmed = { readonly height: number; readonly events: readonly ConfirmedEvent[] };

export type IntakeBatch = {
  /** Version of the register by which the commands were determined; the batch is not current if the register has another. */
  readonly registerVersion: number;
  readonly atMs: number;
  readonly commands: readonly IntakeCommand[];
  readonly position: LogPosition | ReplayStep;
};

export type LogPosition = {
  readonly reader: "log";
  /** Sequence up to which every event is matched; absent if the first event needs a further batch. */
  readonly matched?: number;
};

/**
 * Position before and after a batch of a replay. The batch is not current if the replay has ended or moved meanwhile, or replays
 * must wait (`canReplay`). Its deliveries enter the replay lane. Those that had
 * finished before the replay return to it.
 */
export type ReplayStep = {
  readonly reader: "replay";
  readonly replay: Replay;
  readonly next: Pick<Replay, "nextHeight" | "nextIndex">;
};

export type Applied = {
  /** False if nothing was written, because the batch is not current: the step must be repeated. */
  readonly isCurrent: boolean;
  /** Webhooks for which something was written. */
  readonly webhooks: readonly number[];
};

export type IntakeCommand =
  | EnqueueDelivery
  | DeferEvent
  | ConfirmEvent
  | RetractFact
  | DropUnconfirmed
  | RecordRevert
  | SuspendWebhook;

/** A delivery without what the storage assigns: number, sequence, and position in the replay lane. */
export type DeliveryDraft = Omit<NewDelivery, "sequence" | "replay" | "content"> & {
  /** Number of a stored content, or a new one. Deliveries of a batch that have the same object share the stored content. */
  readonly content: TimedContent | number;
  /** Id of the retracted delivery; dropped unless the webhook has that delivery. */
  readonly reverts?: string;
  /** Id of a delivery that the webhook must have; without it, the draft is dropped. */
  readonly requires?: string;
};

/** Puts a delivery into the queue of its webhook, unless the webhook has a delivery with this id. */
export type EnqueueDelivery = { readonly kind: "enqueue"; readonly delivery: DeliveryDraft };

/** Stores an event until it is confirmed, unless it is stored. */
export type DeferEvent = { readonly kind: "defer"; readonly event: UnconfirmedEvent };

/** Puts the delivery of an unconfirmed event into the queue, and removes the event. */
export type ConfirmEvent = {
  readonly kind: "confirm";
  readonly logSequence: number;
  readonly delivery: DeliveryDraft;
};

/**
 * Marks a delivered fact as retracted: it is neither retried nor sent again on demand. The retraction is absent if the target
 * did not receive the fact.
 */
export type RetractFact = {
  readonly kind: "retract";
  readonly number: number;
  readonly webhook: number;
  readonly retraction?: DeliveryDraft;
};

/** Drops the unconfirmed events of a reverted block: they are never delivered. */
export type DropUnconfirmed = { readonly kind: "drop"; readonly block: BlockReference };

/** Records the revert of a block with its sequence in the event log, once. */
export type RecordRevert = {
  readonly kind: "revert";
  readonly blockId: string;
  readonly sequence: number;
};

/**
 * Suspends a webhook until it is updated or its target responds to a ping (webhooks.md 10 point 6): its deliveries fail, a
 * step at a time, and its replay is cancelled. The register shows the reason.
 */
export type SuspendWebhook = {
  readonly kind: "suspend";
  readonly webhook: number;
  readonly reason: string;
};
