/**
 * Ports of a hand-over: the database of the node, which `sqlite/hand-over` implements, and the database of the workers,
 * which `postgres/hand-over` implements.
 */
import type { HandOverHead, HandOverLine } from "./lines.ts";
import type { Owner, OwnerChange } from "./owner.ts";
import type { HandOverRow, TableName } from "./tables.ts";

export type HandOverRows = {
  readonly isEncrypted: boolean;
  owner(): Owner;
  /** Returns the sequence of the last matched event. */
  matched(): number;
  /**
   * Changes the owner; durable when it returns. While the workers own the webhooks, the log keeps no events for the node; from
   * `to node` on, it keeps all that are not copied.
   *
   * @throws {OwnerError}
   */
  change(change: OwnerChange): Owner;
  /** Completes registrations that a crash has interrupted. Must be called before `lines`, and after the service was stopped. */
  complete(): void;
  /** Yields the lines of all rows, from one snapshot. */
  lines(): Iterable<HandOverLine>;
  /** Drops some rows; returns `false` if none remain. */
  drop(): boolean;
  isEmpty(): boolean;
  /** Writes rows; must be called in the order of the tables. */
  add(table: TableName, rows: readonly HandOverRow[]): void;
  /**
   * Completes a hand-over to the node: the position in the events, the numbers and the owner change in one transaction.
   *
   * @throws {OwnerError}
   * @throws {HandOverError} EVENTS_MISSING if the log does not have all events after the position
   */
  finish(head: HandOverHead, transfer: string): void;
  /** Returns whether the log has an event with this id; the log of another node has other events. */
  hasEvent(event: CopiedEvent): boolean;
};

/** The last event that a mirror has copied. */
export type CopiedEvent = { readonly sequence: number; readonly id?: string | undefined };

export type WorkersSide = {
  readonly isEncrypted: boolean;
  owner(): Promise<Owner>;
  /** @throws {OwnerError} */
  change(change: OwnerChange): Promise<Owner>;
  /** Returns the last event that the mirror has copied; undefined before it has begun. */
  lastCopied(): Promise<CopiedEvent | undefined>;
  /** Returns the number of copied events after a sequence that are missing, because the copy began later. */
  countMissing(matched: number): Promise<number>;
  /**
   * Writes all rows, and makes the workers the owner; nothing if it throws.
   *
   * @throws {OwnerError | HandOverError | HandOverLineError}
   */
  write(lines: AsyncIterable<HandOverLine>, options: WriteOptions): Promise<void>;
  /**
   * Takes all webhooks from the workers after their running calls, and brings them to the same position in the events.
   *
   * @param maxWaitMs time for the workers
   * @throws {HandOverError} NOT_READY
   * @throws {OwnerError} if another command has cancelled or completed the hand-over; then nothing stays taken
   */
  takeAll(transfer: string, maxWaitMs: number): Promise<TakenWebhooks>;
  /** Drops all rows, in the transaction of a change. @throws {OwnerError} */
  drop(change: OwnerChange): Promise<void>;
};

export type WriteOptions = {
  readonly transfer: string;
  /** Called with the number of rows so far. */
  readonly onRows: (count: number) => void;
  /** Called before the commit with the names of the events that the webhooks need from then on. */
  readonly onWritten: (names: readonly string[]) => Promise<void>;
};

/** Webhooks without a worker. */
export type TakenWebhooks = {
  /** Calls the function with the lines of all rows, from one commit. */
  read<T>(work: (lines: AsyncIterable<HandOverLine>) => Promise<T>): Promise<T>;
  /** Must be called regularly: otherwise another command can take the webhooks. @throws {OwnerError} as `takeAll` */
  renew(): Promise<void>;
  release(): Promise<void>;
};
