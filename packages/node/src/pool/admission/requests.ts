/**
 * Requests to the pool: the ids that they submitted, the order of their senders, their share of the thread, and why they fail as a
 * whole.
 */

import type { AdmissionTime } from "../../gateway/figures.ts";
import { deleteOldest } from "../../platform/bounded-entries.ts";
import { CodedError } from "../../platform/coded-error.ts";
import { troubleOf } from "../../platform/files/disk.ts";
import type { RefusalCode } from "../events.ts";

const MAX_IDS = 10_000;

/** Ids submitted since the last block, whatever their outcome (pool.md 4, stage A). */
export class RecentIds {
  /** Oldest first. */
  readonly #ids = new Set<string>();

  /**
   * Splits inputs into new ones and the ids of the repeated ones, and stores the ids of the new ones. Inputs of one request do not
   * repeat each other: without ids, or with a forged one, they are different transactions.
   */
  partition<T extends { readonly id: string }>(inputs: readonly T[]): [fresh: T[], repeated: Set<string>] {
    const fresh = inputs.filter(({ id }) => !this.#ids.has(id));
    const repeated = new Set(inputs.map(({ id }) => id).filter((id) => this.#ids.has(id)));
    for (const { id } of fresh) {
      if (!this.#ids.has(id) && this.#ids.size >= MAX_IDS) deleteOldest(this.#ids);
      this.#ids.add(id);
    }
    return [fresh, repeated];
  }

  /** Removes ids whose submission has ended without an outcome. */
  forget(ids: readonly string[]): void {
    for (const id of ids) this.#ids.delete(id);
  }

  clear(): void {
    this.#ids.clear();
  }
}

/** Keeps the requests of each sender in order; requests of different senders do not wait for each other. */
export class SenderOrder {
  /** The last unfinished request of each sender. */
  readonly #last = new Map<string, Promise<void>>();

  /** Enters a request with its senders; `isNext` resolves when every earlier request of one of them has finished. */
  enter(senders: ReadonlySet<string>): { readonly isNext: Promise<void>; leave(): void } {
    const { promise: left, resolve } = Promise.withResolvers<void>();
    const earlier = [...senders].flatMap((sender) => this.#last.get(sender) ?? []);
    const isNext = Promise.all(earlier).then(() => {});
    for (const sender of senders) this.#last.set(sender, left);
    return {
      isNext,
      leave: () => {
        for (const sender of senders) if (this.#last.get(sender) === left) this.#last.delete(sender);
        // A request that fails early does not change the order of the others.
        void isNext.then(resolve);
      },
    };
  }
}

/** `excess`: beyond the maximum of pending transactions of a sender; `POOL_BUSY`: beyond the maximum of waiting ones. */
type PoolRefusal = RefusalCode | "excess" | "POOL_BUSY";

/** Transactions refused since the process started, by reason; reasons that did not occur are absent. */
export class RefusalCounts {
  readonly #counts: Partial<Record<PoolRefusal, number>> = {};

  count(reason: PoolRefusal, transactions = 1): void {
    if (transactions > 0) this.#counts[reason] = (this.#counts[reason] ?? 0) + transactions;
  }

  read(): Readonly<Partial<Record<PoolRefusal, number>>> {
    return { ...this.#counts };
  }
}

export const closed = () => new CodedError("POOL_CLOSED", "the pool was closed", { isRetryable: false });

/** The maximum of transactions is being checked. */
export const busy = () =>
  new CodedError("POOL_BUSY", "too many transactions are being checked; retry in a moment", {
    isRetryable: true,
  });

/** The transactions stay pending, and the journal writes them as soon as it can. */
export function failUnstored(error: unknown): never {
  const trouble = troubleOf(error);
  if (!trouble) throw error;
  const code = trouble === "disk full" ? "POOL_DISK_FULL" : "POOL_DISK_UNWRITABLE";
  throw new CodedError(code, `${trouble}: the accepted transactions are pending, but not stored yet`, {
    cause: error,
    isRetryable: true,
  });
}

type AdmissionBudgetOptions = {
  /** Duration of a slot. */
  readonly slotMs: () => number;
  /** Returns true while blocks are being processed. */
  readonly isChainBusy: () => boolean;
  /** Monotonic clock: a dev chain may move or stop the other one. */
  readonly nowMs?: () => number;
};

/** Part of each slot. */
const SHARE = 0.6;
/** Pause between two slices while blocks are processed. */
const BUSY_PAUSE_MS = 100;
/** A slice ends with the transaction that exceeds it. */
export const SLICE_MS = 10;

/**
 * The share of the consensus thread for submissions: a part of each slot, in short slices, and little while blocks are
 * processed. Work beyond the share waits.
 */
export class AdmissionBudget {
  readonly #slotMs: () => number;
  readonly #isChainBusy: () => boolean;
  readonly #nowMs: () => number;
  #slotStartMs: number;
  #usedInSlotMs = 0;
  #lastSliceMs = Number.NEGATIVE_INFINITY;
  #usedMs = 0;
  #exhaustedSlots = 0;
  #isExhausted = false;

  constructor({ slotMs, isChainBusy, nowMs = () => performance.now() }: AdmissionBudgetOptions) {
    this.#slotMs = slotMs;
    this.#isChainBusy = isChainBusy;
    this.#nowMs = nowMs;
    this.#slotStartMs = nowMs();
  }

  /** Milliseconds until the next slice may begin; 0 for the next event-loop tick. */
  pauseMs(): number {
    const now = this.#nowMs();
    const durationMs = this.#slotMs();
    if (now - this.#slotStartMs >= durationMs) {
      this.#slotStartMs = now;
      this.#usedInSlotMs = 0;
      this.#isExhausted = false;
    }
    if (this.#usedInSlotMs >= durationMs * SHARE) {
      if (!this.#isExhausted) this.#exhaustedSlots++;
      this.#isExhausted = true;
      return Math.ceil(this.#slotStartMs + durationMs - now);
    }
    return this.#isChainBusy() ? Math.max(0, Math.ceil(this.#lastSliceMs + BUSY_PAUSE_MS - now)) : 0;
  }

  /** Counts a slice. */
  spend(durationMs: number): void {
    this.#usedMs += durationMs;
    this.#usedInSlotMs += durationMs;
    this.#lastSliceMs = this.#nowMs();
  }

  figures(): AdmissionTime {
    return {
      usedMs: this.#usedMs,
      perSlotMs: this.#slotMs() * SHARE,
      exhaustedSlots: this.#exhaustedSlots,
    };
  }
}
