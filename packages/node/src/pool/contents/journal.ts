/**
 * Writes the changes of the pool to disk, many in one database transaction, together with their events: a change is
 * reported if and only if it is on disk, so a crash neither loses nor repeats an event.
 */
import type { SealedTransaction } from "@uniknode/protocol";
import type { AddedRow, PoolStore } from "../../store/node/pool.ts";
import type { PoolEvent } from "../events.ts";
import type { Place } from "./pending.ts";

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
  /** Returns true if `emit` adds events of this name to the log. Absent: it adds none. */
  readonly isLogged?: (name: PoolEvent["name"]) => boolean;
  /** Called with the error of a failed write, which is retried. */
  readonly onWriteFailed?: (error: unknown) => void;
};

export class Journal {
  readonly #deps: JournalDeps;
  #outstanding = nothing();
  /** Settles with the next write; undefined while none is expected. */
  #written: PromiseWithResolvers<void> | undefined;
  #scheduled: NodeJS.Immediate | undefined;
  #retry: NodeJS.Timeout | undefined;
  #reportHeld: (() => void) | undefined;

  constructor(deps: JournalDeps) {
    this.#deps = deps;
  }

  added({ data: { id }, bytes }: SealedTransaction, place?: Place): void {
    this.#outstanding.added.set(id, { id, bytes, ...(place && { place }) });
    this.#schedule();
  }

  removed(id: string): void {
    this.#outstanding.added.delete(id);
    // If it is added again later, it is written again, after the transactions added in between.
    this.#outstanding.removed.add(id);
    this.#schedule();
  }

  report(event: PoolEvent): void {
    const isFull = this.#outstanding.events.length >= MAX_WAITING_REPORTS;
    if (isFull && event.name === "transaction.pool.rejected") return;
    this.#outstanding.events.push(event);
    this.#schedule();
  }

  /**
   * Holds writes back until `release`: changes that belong to one event are made in several event-loop ticks.
   *
   * @param report reports the changes made so far; called by `release`, or by a `flush` before it
   */
  hold(report: () => void): void {
    this.#reportHeld = report;
  }

  release(): void {
    const report = this.#reportHeld;
    this.#reportHeld = undefined;
    report?.();
    this.#unschedule();
    if (this.#written) this.#scheduled = setImmediate(() => this.#write());
  }

  /** Settles once everything recorded so far is on disk. */
  flushed(): Promise<void> {
    return this.#written?.promise ?? Promise.resolve();
  }

  /** Writes the outstanding changes, synchronously; the promise rejects if the write failed. */
  flush(): Promise<void> {
    this.release();
    const done = this.flushed();
    this.#unschedule();
    this.#write();
    return done;
  }

  /** Writes the outstanding changes as `flush` does; a failed write is not repeated, and `flushed` rejects with its error. */
  close(): Promise<void> {
    const done = this.flush();
    this.#unschedule();
    done.catch((error) => this.#written?.reject(error));
    return done;
  }

  /** Writes the changes of one tick of the event loop in one commit; meanwhile, the changes of the next tick are collected. */
  #schedule(): void {
    if (this.#expectWrite()) this.#scheduled = setImmediate(() => this.#write());
  }

  /** Returns true if none was expected yet. */
  #expectWrite(): boolean {
    if (this.#written) return false;
    this.#written = Promise.withResolvers();
    // Handled here, since there may be no caller that waits for it.
    this.#written.promise.catch(() => {});
    return true;
  }

  #unschedule(): void {
    clearImmediate(this.#scheduled);
    clearTimeout(this.#retry);
  }

  #write(): void {
    const { store, emit, isLogged, onWriteFailed } = this.#deps;
    const written = this.#written;
    if (this.#reportHeld || !written) return;
    const { added, removed, events } = this.#outstanding;
    const change = { added: [...added.values()], removed: [...removed] };
    // After a power failure, another event would get its number: a stream that has sent the lost one would skip it.
    const survives = events.some(({ name }) => isLogged?.(name)) ? "power loss" : "process death";
    this.#written = undefined;
    try {
      store.write(change, () => events.forEach(emit), survives);
    } catch (error) {
      onWriteFailed?.(error);
      written.reject(error);
      // Retries together with the changes made in the meantime.
      if (this.#expectWrite()) this.#retry = setTimeout(() => this.#write(), RETRY_MS);
      return;
    }
    this.#outstanding = nothing();
    written.resolve();
  }
}
