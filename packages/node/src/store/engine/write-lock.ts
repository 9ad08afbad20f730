/**
 * The write lock of the threads that write to one database. SQLite has them poll for its own lock with growing pauses, and
 * the thread that polls most often gets it: consensus would wait longest. Here consensus is next whenever a writer has
 * released the lock, and is notified. Only waiting times depend on it: the lock of SQLite remains the one that counts.
 */

/** One thread's side of the lock. Calls come in pairs, and pairs are never nested. */
export type WriteLock = {
  /** Waits until no other thread writes, for a limited time. */
  acquire(): void;
  release(): void;
};

/** Positions in the shared memory: 1 while a thread holds the lock, and 1 while consensus waits for it. */
const IS_LOCKED = 0;
const PRIORITY_WAITS = 1;
/** A writer that has waited this long asks SQLite, which reports what is wrong: the holder of the lock may have died. */
const WAIT_TIMEOUT_MS = 1_000;

/** What the threads share: each makes its side of the lock from it. */
export const createWriteLockMemory = (): SharedArrayBuffer =>
  new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);

/** The side of consensus, which goes before all others. */
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

/** Whether the lock was free; then the caller holds it. */
const tryAcquire = (state: Int32Array): boolean => Atomics.compareExchange(state, IS_LOCKED, 0, 1) === 0;

function release(state: Int32Array): void {
  Atomics.store(state, IS_LOCKED, 0);
  Atomics.notify(state, IS_LOCKED);
}
