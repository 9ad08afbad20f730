/**
 * Writes the changes of the pool to disk, many in one database transaction, together with their events: a change is
 * reported if and only if it is on disk, so a crash neither loses nor repeats an event.
 */
import type { SealedTransaction } from "@uniknode/protocol";
import type { PoolStore } from "../../store/node/pool.ts";
import type { PoolEvent } from "../events.ts";

export type Journal = {
  added(transaction: SealedTransaction): void;
  removed(id: string): void;
  report(event: PoolEvent): void;
  /**
   * Holds writes back until `release`: changes that belong to one event are made in several event-loop ticks.
   *
   * @param report reports the changes made so far; called by `release`, or by a `flush` before it
   */
  hold(report: () => void): void;
  release(): void;
  /** Settles once everything recorded so far is on disk. */
  flushed(): Promise<void>;
  /** Writes the outstanding changes, synchronously; the promise rejects if the write failed. */
  flush(): Promise<void>;
};

/** Pause after a failed write. */
const RETRY_MS = 1_000;
/**
 * Maximum number of events that wait for a successful write; after that, events of refused transactions are
 * dropped.
 */
const MAX_WAITING_REPORTS = 10_000;

type Outstanding = {
  readonly added: Map<string, Uint8Array>;
  readonly removed: Set<string>;
  readonly events: PoolEvent[];
};

const nothing = (): Outstanding => ({ added: new Map(), removed: new Set(), events: [] });

export type JournalDeps = {
  readonly store: PoolStore;
  readonly emit: (event: PoolEvent) => void;
  /** Called with the error of a failed write, which is retried. */
  readonly onWriteFailed?: (error: unknown) => void;
};

export function createJournal({ store, emit, onWriteFailed = () => {} }: JournalDeps): Journal {
  let outstanding = nothing();
  let written: PromiseWithResolvers<void> | undefined;
  let turn: NodeJS.Immediate | undefined;
  let retry: NodeJS.Timeout | undefined;
  let reportHeld: (() => void) | undefined;

  /**
   * Writes the changes of one tick of the event loop in one commit; meanwhile, the changes of the next tick
   * are collected.
   */
  function schedule(): void {
    if (expectWrite()) turn = setImmediate(write);
  }

  /** Returns true if none was expected yet. */
  function expectWrite(): boolean {
    if (written) return false;
    written = Promise.withResolvers();
    // Handled here, since there may be no caller that waits for it.
    written.promise.catch(() => {});
    return true;
  }

  function unschedule(): void {
    clearImmediate(turn);
    clearTimeout(retry);
  }

  function write(): void {
    if (reportHeld) return;
    const { resolve, reject } = written!;
    const { added, removed, events } = outstanding;
    const change = { added: Array.from(added, ([id, bytes]) => ({ id, bytes })), removed: [...removed] };
    written = undefined;
    try {
      store.write(change, () => events.forEach(emit));
    } catch (error) {
      onWriteFailed(error);
      reject(error);
      // Retries together with the changes made in the meantime.
      if (expectWrite()) retry = setTimeout(write, RETRY_MS);
      return;
    }
    outstanding = nothing();
    resolve();
  }

  const flushed = () => written?.promise ?? Promise.resolve();

  function release(): void {
    const report = reportHeld;
    reportHeld = undefined;
    report?.();
    unschedule();
    if (written) turn = setImmediate(write);
  }

  return {
    added({ data, bytes }) {
      outstanding.added.set(data.id, bytes);
      schedule();
    },
    removed(id) {
      outstanding.added.delete(id);
      // If it is added again later, it is written again, after the transactions added in between.
      outstanding.removed.add(id);
      schedule();
    },
    report(event) {
      const isFull = outstanding.events.length >= MAX_WAITING_REPORTS;
      if (isFull && event.name === "transaction.pool.rejected") return;
      outstanding.events.push(event);
      schedule();
    },
    flushed,
    hold(report) {
      reportHeld = report;
    },
    release,
    flush() {
      release();
      const done = flushed();
      unschedule();
      if (written) write();
      unschedule();
      return done;
    },
  };
}
