/**
 * What matching and replays read and write: deliveries come into the queues in the transaction that moves the cursor of the
 * event log, or the position of a replay. Log and deliveries are tables of one database; reads and writes of a transaction
 * answer at once, because nothing else may come between them.
 */
import type { Event, LoggedEvent } from "../events/event.ts";
import type { Content } from "../subscriptions/content.ts";
import type { DeliveredFact, NewDelivery } from "./deliveries.ts";
import type { ReplayPosition } from "./model/replay.ts";

/** Name of the matcher's cursor in the event log. */
export const READER = "webhooks";

export type Intake = {
  /**
   * Runs a synchronous work; all of its changes are made, or none.
   *
   * @param survives what the changes outlive once the promise has settled: the loss of power, or at least the death of
   *   the process, which takes no wait for the disk
   */
  transaction<T>(work: () => T, survives?: "power loss" | "process death"): Promise<T>;
  /** Runs synchronous reads, of blocks as well, that see the database at one commit. */
  readTogether<T>(work: () => T): T;
  /**
   * Suspends a webhook: its deliveries fail, a step at a time, and its replay is cancelled. To be called in a transaction.
   */
  suspend(webhook: number, reason: string, atMs: number): void;
  readonly events: EventCursor;
  readonly deliveries: NewDeliveries;
  readonly contents: Contents;
  readonly facts: DeliveredFacts;
  readonly unconfirmed: UnconfirmedEvents;
  readonly blockReverts: BlockReverts;
  readonly replayed: ReplayedDeliveries;
};

/** The event log, as far as it was matched. */
export type EventCursor = {
  /** Events that were not matched yet, in order. */
  next(limit: number): LoggedEvent[];
  /** Every event up to a sequence was matched. */
  moveTo(sequence: number): void;
  /** Whether an event that was not matched yet retracts another one. */
  hasRetraction(): boolean;
};

export type NewDeliveries = {
  /** Whether the webhook has a delivery of this id. */
  has(webhook: number, id: string): boolean;
  /** Sequence of the next delivery of the webhook, which is then taken: there are no gaps. */
  nextSequence(webhook: number): number;
  /** Puts a delivery into the queue of its webhook. Returns its number. */
  insert(delivery: NewDelivery, atMs: number): number;
};

/** Contents of deliveries. A content is dropped together with the last delivery that has it. */
export type Contents = {
  /** Returns its number. */
  insert(content: Content): number;
};

/** Facts of blocks that were delivered to webhooks: they are retracted when their block is reverted. */
export type DeliveredFacts = {
  /**
   * Deliveries of facts of the block that were not retracted, the latest first and the block itself last: the order of
   * their retractions (webhooks.md 5).
   */
  unretracted(height: number, blockId: string, limit: number): DeliveredFact[];
  /** Marks the fact as retracted: it is neither retried nor sent again on demand. */
  retract(number: number, atMs: number): void;
};

/** Which blocks were reverted, and when: a block that is applied again is another fact than before. */
export type BlockReverts = {
  /** Records a revert with its sequence in the event log. Recorded again, it counts once. */
  record(blockId: string, sequence: number): void;
  /** How often the block was reverted before a sequence of the event log. */
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
  /** Keeps the event until the chain has reached `dueHeight`. `false` if it is kept already; nothing changes then. */
  add(event: UnconfirmedEvent, dueHeight: number): boolean;
  /** Webhooks with facts that are due at a height, by ascending id. */
  due(height: number): number[];
  /** Removes and returns the events of blocks up to a height, in the order of the log. */
  release(webhook: number, height: number, limit: number): UnconfirmedEvent[];
  /** Drops the events of a reverted block: they are never delivered. */
  dropBlock(height: number, blockId: string): void;
};

/** Deliveries of replays. */
export type ReplayedDeliveries = {
  /** Puts a finished delivery into the replay lane again, unless its number is greater than `upTo`. `false`: nothing changed. */
  putAgain(
    webhook: number,
    delivery: { readonly id: string; readonly position: number; readonly upTo: number },
  ): boolean;
  /** The next step of the replay continues there. */
  advance(webhook: number, position: ReplayPosition): void;
};
