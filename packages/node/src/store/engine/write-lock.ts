/**
 * Turns of the threads that write to one database. SQLite has them poll for its lock with growing pauses, and the
 * thread that polls most often gets it: consensus would wait longest for the threads that write most. Here the first writer
 * is next whenever a writer has ended, and is notified by it. Only waiting times depend on it: the lock itself is that of SQLite.
 */

/** A writer's own end of the turns. Calls come in pairs, and never one pair within another. */
export type Turn = {
  /** Waits until no other thread writes, for a limited time. */
  take(): void;
  end(): void;
};

/** Places in the shared memory. */
const IS_TAKEN = 0;
const FIRST_WAITS = 1;
/** Who has waited so long goes on to SQLite, which says what is wrong. A writer may have died in its turn. */
const WAIT_TIMEOUT_MS = 1_000;

/** What all writers share: `first` and `further` are made of it in whatever thread they live. */
export const createTurns = (): SharedArrayBuffer => new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);

/** The turn of consensus. */
export function firstTurn(turns: SharedArrayBuffer): Turn {
  const places = new Int32Array(turns);
  return {
    take() {
      Atomics.store(places, FIRST_WAITS, 1);
      const untilMs = performance.now() + WAIT_TIMEOUT_MS;
      while (!takeIfFree(places) && performance.now() < untilMs)
        Atomics.wait(places, IS_TAKEN, 1, WAIT_TIMEOUT_MS);
      Atomics.store(places, FIRST_WAITS, 0);
      Atomics.notify(places, FIRST_WAITS);
    },
    end: () => endTurn(places),
  };
}

/** The turn of anybody else. */
export function furtherTurn(turns: SharedArrayBuffer): Turn {
  const places = new Int32Array(turns);
  return {
    take() {
      const untilMs = performance.now() + WAIT_TIMEOUT_MS;
      while (performance.now() < untilMs) {
        if (Atomics.load(places, FIRST_WAITS) === 1) Atomics.wait(places, FIRST_WAITS, 1, WAIT_TIMEOUT_MS);
        else if (takeIfFree(places)) return;
        else Atomics.wait(places, IS_TAKEN, 1, WAIT_TIMEOUT_MS);
      }
    },
    end: () => endTurn(places),
  };
}

/** Whether the turn was free, and is the caller's. */
const takeIfFree = (places: Int32Array): boolean => Atomics.compareExchange(places, IS_TAKEN, 0, 1) === 0;

function endTurn(places: Int32Array): void {
  Atomics.store(places, IS_TAKEN, 0);
  Atomics.notify(places, IS_TAKEN);
}
