/**
 * Derives past events from stored blocks. Their ids equal the original ones. Contents that depend on the state of that
 * time cannot be derived:
 *
 * - `wallet.saved` and `wallet.created.cold` are never derived;
 * - the delegates in `forger.missing`, `round.missed` and `round.created` have address, public key and
 *   username, and in `round.created` with the votes and the round, as the round was set up;
 * - everything else is exactly what it was.
 */
import { isChainFact, isRetraction } from "../events/catalogue.ts";
import type { Event } from "../events/event.ts";

export type History = {
  /** Height of the last block; 0 in an empty database. */
  head(): Promise<number>;
  /**
   * Returns the events of a block in the order in which they happened, all from one state of the database; none above the
   * head.
   */
  eventsAt(height: number): Promise<Event[]>;
};

/** The same, read synchronously in a transaction of the caller. */
export type PastEvents = {
  head(): number;
  eventsAt(height: number): Event[];
};

const LOST: ReadonlySet<string> = new Set(["wallet.saved", "wallet.created.cold"]);

/** Returns true if events of this name can be derived from stored blocks. */
export const isRemembered = (name: string): boolean =>
  isChainFact(name) && !isRetraction(name) && !LOST.has(name);
