/**
 * Writes the changes of the pool to disk, many in one database transaction, together with their events: a change is
 * reported if and only if it is on disk, so a crash neither loses nor repeats an event.
 */
import type { SealedTransaction } from "@uniknode/protocol";
import type { AddedRow, PoolStore } from "../../store/node/pool.ts";
import type { PoolEvent } from "../events.ts";
import type { Place } from "./pending.ts";

export type Journal = {
  added(transaction: SealedTransaction, place?: Place): void;
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
  readonly added: Map<string, AddedRow>;
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

type State = Required<JournalDeps> & {
  outstanding: Outstanding;
  /** Settles with the next write; undefined while none is expected. */
  written: PromiseWithResolvers<void> | undefined;
  scheduled: NodeJS.Immediate | undefined;
  retry: NodeJS.Timeout | undefined;
  reportHeld: (() => void) | undefined;
};

export function createJournal({ store, emit, onWriteFailed = () => {} }: JournalDeps): Journal {
  const state: State = {
    ...{ store, emit, onWriteFailed },
    outstanding: nothing(),
    written: undefined,
    scheduled: undefined,
    retry: undefined,
    reportHeld: undefined,
  };
  return {
    added({ data: { id }, bytes }, place) {
      state.outstanding.added.set(id, { id, bytes, ...(place && { place }) });
      schedule(state);
    },
    removed(id) {
      state.outstanding.added.delete(id);
      // If it is added again later, it is written again, after the transactions added in between.
      state.outstanding.removed.add(id);
      schedule(state);
    },
    report(event) {
      const isFull = state.outstanding.events.length >= MAX_WAITING_REPORTS;
      if (isFull && event.name === "transaction.pool.rejected") return;
      state.outstanding.events.push(event);
      schedule(state);
    },
    flushed: () => flushed(state),
    hold(report) {
      state.reportHeld = report;
    },
    release: () => release(state),
    flush: () => flush(state),
  };
}

const flushed = ({ written }: State): Promise<void> => written?.promise ?? Promise.resolve();

/** Writes the changes of one tick of the event loop in one commit; meanwhile, the changes of the next tick are collected. */
function schedule(state: State): void {
  if (expectWrite(state)) state.scheduled = setImmediate(write, state);
}

/** Returns true if none was expected yet. */
function expectWrite(state: State): boolean {
  if (state.written) return false;
  state.written = Promise.withResolvers();
  // Handled here, since there may be no caller that waits for it.
  state.written.promise.catch(() => {});
  return true;
}

function unschedule({ scheduled, retry }: State): void {
  clearImmediate(scheduled);
  clearTimeout(retry);
}

function write(state: State): void {
  const { written, reportHeld, outstanding, store, emit, onWriteFailed } = state;
  if (reportHeld || !written) return;
  const { added, removed, events } = outstanding;
  const change = { added: [...added.values()], removed: [...removed] };
  state.written = undefined;
  try {
    store.write(change, () => events.forEach(emit));
  } catch (error) {
    onWriteFailed(error);
    written.reject(error);
    // Retries together with the changes made in the meantime.
    if (expectWrite(state)) state.retry = setTimeout(write, RETRY_MS, state);
    return;
  }
  state.outstanding = nothing();
  written.resolve();
}

function release(state: State): void {
  const report = state.reportHeld;
  state.reportHeld = undefined;
  report?.();
  unschedule(state);
  if (state.written) state.scheduled = setImmediate(write, state);
}

function flush(state: State): Promise<void> {
  release(state);
  const done = flushed(state);
  unschedule(state);
  write(state);
  unschedule(state);
  return done;
}
