/** The workers' side of a hand-over: the port to their database, which `postgres/hand-over` implements. */
import type { HandOverLine } from "./lines.ts";
import type { Owner, OwnerChange } from "./owner.ts";
import type { CopiedEvent } from "./rows.ts";

export type WorkersSide = {
  /** True if the secrets in the database are encrypted. */
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
