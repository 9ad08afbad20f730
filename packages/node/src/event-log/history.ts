/**
 * Derives past events from stored blocks. Their ids equal the original ones. Contents that depend on the state of that
 * time cannot be derived:
 *
 * - `wallet.saved` and `wallet.created.cold` are never derived;
 * - the delegates in `forger.missing`, `round.missed` and `round.created` have address, public key and
 *   username, and in `round.created` with the votes and the round, as the round was set up;
 * - everything else is exactly what it was.
 */

import { type Event, isChainFact, isRetraction } from "../events/catalogue.ts";
import { CodedError } from "../platform/coded-error.ts";

export type History = {
  /**
   * Returns the height of the last block; 0 in an empty database.
   *
   * @throws {HistoryError}
   */
  head(): Promise<number>;
  /**
   * Returns the events of a block in the order in which they happened, all from one state of the database; none above the
   * head.
   *
   * @throws {HistoryError}
   */
  eventsAt(height: number): Promise<readonly Event[]>;
};

/**
 * - `HISTORY_BUILDING`: a mirror is being built, and has no consistent state yet
 * - `HISTORY_UNREADABLE`: the database did not return the rows, or not in time
 * - `HISTORY_DAMAGED`: a row is missing, or cannot be decoded
 */
export type HistoryErrorCode = "HISTORY_BUILDING" | "HISTORY_UNREADABLE" | "HISTORY_DAMAGED";

export class HistoryError extends CodedError<HistoryErrorCode> {
  constructor(code: HistoryErrorCode, message: string, cause?: unknown) {
    super(code, message, { isRetryable: code !== "HISTORY_DAMAGED", cause });
  }
}

/** Past events that are read synchronously, in a transaction of the caller. */
export type PastEvents = {
  head(): number;
  eventsAt(height: number): readonly Event[];
};

const LOST: ReadonlySet<string> = new Set(["wallet.saved", "wallet.created.cold"]);

/** Returns true if events of this name can be derived from stored blocks. */
export const isRemembered = (name: string): boolean =>
  isChainFact(name) && !isRetraction(name) && !LOST.has(name);
