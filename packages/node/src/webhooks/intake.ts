/**
 * Storage of matching and replays: deliveries enter the queues in the transaction that moves the cursor of the event log, or
 * the position of a replay. Log and deliveries are tables of one database; reads and writes of a transaction are
 * synchronous, so that nothing can run between them.
 */
import type { PastEvents } from "../event-log/history.ts";
import type { Event, LoggedEvent } from "../events/event.ts";
import type { Content } from "../subscriptions/content.ts";
import type { DeliveredFact, NewDelivery } from "./model/deliveries.ts";
import type { ReplayPosition } from "./model/replay.ts";

/** Name of the matcher's cursor in the event log. */
export const READER = "webhooks";

export type Intake = {
  /**
   * Runs synchronous work atomically.
   *
   * @param survives failure that the changes survive after the promise has settled: power loss, or only process death, which
   *   needs no wait for the disk
   */
  transaction<T>(work: () => T, survives?: "power loss" | "process death"): Promise<T>;
  /** Runs synchronous reads, including reads of blocks, that see one state of the database. */
  readTogether<T>(work: () => T): T;
  /**
   * Suspends a webhook until it is updated or its target responds to a ping (webhooks.md 10 point 6): its deliveries fail,
   * a step at a time, and its replay is cancelled. The register shows the reason. Must be called in a transaction.
   */
  suspend(webhook: number, reason: string, atMs: number): void;
  readonly events: EventCursor;
  /** Events of stored blocks, for replays. */
  readonly pastEvents: PastEvents;
  readonly deliveries: NewDeliveries;
  readonly contents: Contents;
  readonly facts: DeliveredFacts;
  readonly unconfirmed: UnconfirmedEvents;
  readonly blockReverts: BlockReverts;
  readonly replayed: ReplayedDeliveries;
};

/** Position in the event log up to which events were matched. */
export type EventCursor = {
  /** Returns unmatched events, in order. */
  next(limit: number): LoggedEvent[];
  /** Marks every event up to a sequence as matched. */
  moveTo(sequence: number): void;
  /** Returns whether an unmatched event is a retraction. */
  hasRetraction(): boolean;
};

export type NewDeliveries = {
  /** Returns whether the webhook has a delivery with this id. */
  has(webhook: number, id: string): boolean;
  /** Takes the sequence of the next delivery of the webhook; sequences have no gaps. */
  nextSequence(webhook: number): number;
  /** Puts a delivery into the queue of its webhook. Returns its number. */
  insert(delivery: NewDelivery, atMs: number): number;
};

/** Contents of deliveries. A content is dropped with the last delivery that refers to it. */
export type Contents = {
  /** Stores a content and returns its number. */
  insert(content: Content): number;
};

/** Facts of blocks that were delivered to webhooks: they are retracted when their block is reverted. */
export type DeliveredFacts = {
  /**
   * Returns the unretracted deliveries of facts of the block, latest first and the block itself last: the order of their
   * retractions (webhooks.md 5).
   */
  unretracted(height: number, blockId: string, limit: number): DeliveredFact[];
  /** Marks the fact as retracted: it is neither retried nor sent again on demand. */
  retract(number: number, atMs: number): void;
};

/** Log of reverted blocks: a block that is applied again is a new fact. */
export type BlockReverts = {
  /** Records a revert with its sequence in the event log; idempotent. */
  record(blockId: string, sequence: number): void;
  /** Returns how often the block was reverted before a sequence of the event log. */
  count(blockId: string, before: number): number;
};

export type UnconfirmedEvent = {
  readonly webhook: number;
  /** Sequence of the event in the log. */
  readonly logSequence: number;
  /** Name of the event in the subscription. */
  readonly name: string;
  readonly event: Event & { readonly height: number; readonly blockId: string };
  readonly dataText: string | undefined;
};

/** Facts of blocks that wait for the confirmations that their webhooks require. */
export type UnconfirmedEvents = {
  /** Stores the event until the chain has reached `dueHeight`; returns `false` if it is already stored. */
  add(event: UnconfirmedEvent, dueHeight: number): boolean;
  /** Returns the webhooks with facts that are due at a height, by ascending id. */
  due(height: number): number[];
  /** Removes and returns the events of blocks up to a height, in the order of the log. */
  release(webhook: number, height: number, limit: number): UnconfirmedEvent[];
  /** Drops the events of a reverted block: they are never delivered. */
  dropBlock(height: number, blockId: string): void;
};

export type ReplayedDeliveries = {
  /** Puts a finished delivery back into the replay lane if its number is at most `upTo`; returns `false` if nothing changed. */
  putAgain(
    webhook: number,
    delivery: { readonly id: string; readonly position: number; readonly upTo: number },
  ): boolean;
  /** Sets the position at which the next step of the replay continues. */
  advance(webhook: number, position: ReplayPosition): void;
};
