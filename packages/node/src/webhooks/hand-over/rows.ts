/** Database port of the node's side of a hand-over; `sqlite/hand-over` implements it. */
import type { HandOverHead, HandOverLine } from "./lines.ts";
import type { Owner, OwnerChange } from "./owner.ts";
import type { HandOverRow, TableName } from "./tables.ts";

export type HandOverRows = {
  /** True if the secrets in the database are encrypted. */
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
