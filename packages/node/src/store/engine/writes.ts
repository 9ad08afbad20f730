/**
 * Shared memory of the threads that write to one database: the state of writes, which succeed or which the disk refuses, and the write
 * lock. Each thread can report the state while another one hangs.
 */
import type { Logger } from "pino";
import { describeTrouble, type Trouble, troubleOf, WRITE_RETRY_MS } from "../../platform/files/disk.ts";

export type WritesDeps = {
  /**
   * Called when writes have failed for `WRITE_RETRY_MS`. A start that fails for this reason has ended earlier, with its
   * own message.
   */
  readonly onTrouble?: (trouble: Trouble, error: unknown) => void;
  /** Called by the first thread whose write succeeds again. */
  readonly onBack?: () => void;
};

/** Positions in the shared memory. */
const TROUBLE = 0;
const FAILURES = 1;
/** 1 while a failure is reported. */
const REPORTED = 2;
const TROUBLES = [undefined, "disk full", "disk cannot be written"] as const;

/** Creates the shared memory of the threads. */
export const createWriteState = (): SharedArrayBuffer =>
  new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT);

/** One thread's side of the state. */
export class Writes {
  readonly #state: Int32Array;
  readonly #deps: WritesDeps;

  constructor(state: SharedArrayBuffer, deps: WritesDeps = {}) {
    this.#state = new Int32Array(state);
    this.#deps = deps;
  }

  /** Returns why the last write failed, if the disk refused it. */
  trouble(): Trouble | undefined {
    return TROUBLES[Atomics.load(this.#state, TROUBLE)];
  }

  /** Number of such failed writes of all threads, since the process started. */
  failures(): number {
    return Atomics.load(this.#state, FAILURES);
  }

  /** Records a successful write. */
  worked(): void {
    Atomics.store(this.#state, TROUBLE, 0);
    if (Atomics.exchange(this.#state, REPORTED, 0) !== 0) this.#deps.onBack?.();
  }

  /** Records the error of a failed write of any kind. */
  failed(error: unknown): void {
    const found = troubleOf(error);
    if (!found) return;
    Atomics.add(this.#state, FAILURES, 1);
    if (Atomics.exchange(this.#state, TROUBLE, TROUBLES.indexOf(found)) !== 0) return;
    setTimeout(() => this.#reportLasting(error), WRITE_RETRY_MS).unref();
  }

  #reportLasting(error: unknown): void {
    const lasting = this.trouble();
    if (lasting && Atomics.exchange(this.#state, REPORTED, 1) === 0) this.#deps.onTrouble?.(lasting, error);
  }
}

/** Logs one line when writes begin to fail, and one when they succeed again. */
export const loggedTrouble = (logger: Pick<Logger, "error" | "warn">, folder: string): WritesDeps => ({
  onTrouble: (trouble, error) =>
    logger.error(
      { reason: trouble, error: (error as Error).message },
      `${describeTrouble(trouble, folder)}; retrying every ${WRITE_RETRY_MS / 1_000} s`,
    ),
  onBack: () => logger.warn({ folder }, "the database is writable again"),
});

/**
 * One thread's side of the write lock. With SQLite's own lock, waiting threads poll at growing intervals, and the thread that polls
 * most often gets it: consensus would wait longest. With this lock, consensus is next whenever a writer releases it, and is notified.
 * It affects only waiting times: SQLite's lock still guards the data. Calls come in pairs, and pairs are never nested.
 */
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
