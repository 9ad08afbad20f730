/**
 * The write lock of the threads that write to one database. With SQLite's own lock, waiting threads poll at
 * growing intervals, and the thread that polls most often gets it: consensus would wait longest. With this
 * lock, consensus is next whenever a writer releases it, and is notified. It affects only waiting times:
 * SQLite's lock still guards the data.
 */

/** One thread's side of the lock. Calls come in pairs, and pairs are never nested. */
export type WriteLock = {
  /** Waits until no other thread writes, or until a timeout. */
  acquire(): void;
  release(): void;
};

/** Positions in the shared memory: 1 while a thread holds the lock, and 1 while consensus waits for it. */
const IS_LOCKED = 0;
const PRIORITY_WAITS = 1;
/**
 * Time after which a waiting writer tries SQLite's lock, which reports the cause: the holder of this lock may
 * have died.
 */
const WAIT_TIMEOUT_MS = 1_000;

/** Shared memory, from which each thread creates its side of the lock. */
export const createWriteLockMemory = (): SharedArrayBuffer =>
  new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);

/** The side of consensus, which has priority over all others. */
export function priorityWriteLock(memory: SharedArrayBuffer): WriteLock {
  const state = new Int32Array(memory);
  return {
    acquire() {
      Atomics.store(state, PRIORITY_WAITS, 1);
      const untilMs = performance.now() + WAIT_TIMEOUT_MS;
      while (!tryAcquire(state) && performance.now() < untilMs)
        Atomics.wait(state, IS_LOCKED, 1, WAIT_TIMEOUT_MS);
      Atomics.store(state, PRIORITY_WAITS, 0);
      Atomics.notify(state, PRIORITY_WAITS);
    },
    release: () => release(state),
  };
}

/** The side of every other thread. */
export function ordinaryWriteLock(memory: SharedArrayBuffer): WriteLock {
  const state = new Int32Array(memory);
  return {
    acquire() {
      const untilMs = performance.now() + WAIT_TIMEOUT_MS;
      while (performance.now() < untilMs) {
        if (Atomics.load(state, PRIORITY_WAITS) === 1)
          Atomics.wait(state, PRIORITY_WAITS, 1, WAIT_TIMEOUT_MS);
        else if (tryAcquire(state)) return;
        else Atomics.wait(state, IS_LOCKED, 1, WAIT_TIMEOUT_MS);
      }
    },
    release: () => release(state),
  };
}

/** Returns true if the lock was free; then the caller holds it. */
const tryAcquire = (state: Int32Array): boolean => Atomics.compareExchange(state, IS_LOCKED, 0, 1) === 0;

function release(state: Int32Array): void {
  Atomics.store(state, IS_LOCKED, 0);
  Atomics.notify(state, IS_LOCKED);
}
