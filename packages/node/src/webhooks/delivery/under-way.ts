/**
 * Deliveries that are under way: running calls to targets, and outcomes of calls that are not on disk yet. Many outcomes
 * share one write.
 */

import { setImmediate } from "node:timers/promises";
import { present } from "../../platform/present.ts";
import type { Clock } from "../collaborators.ts";
import type { AttemptOutcome, RecordedOutcome } from "../model/deliveries.ts";
import type { DeliveryQueue } from "../storage/delivery-queue.ts";
import type { Lane } from "../storage/lanes.ts";
import type { Queue, Queues } from "./active-queues.ts";
import type { Consequences, EndedAttempt } from "./consequences.ts";

/** The calls of one webhook share a signal. */
type Group = { readonly abort: AbortController; size: number };

export class InFlight {
  readonly #clock: Pick<Clock, "after">;
  readonly #calls = new Set<Promise<void>>();
  readonly #groups = new Map<number, Group>();

  constructor(clock: Pick<Clock, "after">) {
    this.#clock = clock;
  }

  size(): number {
    return this.#calls.size;
  }

  /** Starts a call with a signal that aborts it; the call must not reject. */
  begin(webhook: number, call: (signal: AbortSignal) => Promise<void>): void {
    const group = this.#groups.get(webhook) ?? { abort: new AbortController(), size: 0 };
    group.size++;
    this.#groups.set(webhook, group);
    const ended = call(group.abort.signal).finally(() => {
      this.#calls.delete(ended);
      group.size--;
      if (group.size === 0 && this.#groups.get(webhook) === group) this.#groups.delete(webhook);
    });
    this.#calls.add(ended);
  }

  abort(webhook: number): void {
    const group = this.#groups.get(webhook);
    this.#groups.delete(webhook);
    group?.abort.abort();
  }

  /** Settles when every call has ended; aborts calls after the grace period. */
  async close(graceMs: number): Promise<void> {
    const settled = Promise.all(this.#calls);
    const grace = Promise.withResolvers<void>();
    const cancelGrace = this.#clock.after(graceMs, grace.resolve);
    await Promise.race([settled, grace.promise]);
    cancelGrace();
    for (const webhook of [...this.#groups.keys()]) this.abort(webhook);
    await settled;
  }
}

/** Deliveries whose calls are running, or whose outcomes are not on disk yet. */
export class UnderWay {
  /** Webhooks by delivery. */
  readonly #deliveries = new Map<number, number>();
  readonly #waits = new Set<() => void>();

  has(delivery: number): boolean {
    return this.#deliveries.has(delivery);
  }

  begin(webhook: number, delivery: number): void {
    this.#deliveries.set(delivery, webhook);
  }

  end(delivery: number): void {
    this.#deliveries.delete(delivery);
    for (const check of this.#waits) check();
  }

  /** Settles when no delivery of the webhooks is under way. */
  ended(webhooks: readonly number[]): Promise<void> {
    const awaited = new Set(webhooks);
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = () => {
      for (const webhook of this.#deliveries.values()) if (awaited.has(webhook)) return;
      this.#waits.delete(check);
      resolve();
    };
    this.#waits.add(check);
    check();
    return promise;
  }
}

/** An attempt whose outcome is not written yet, with its position in the queue. */
export type Unwritten = EndedAttempt & { readonly queue: Queue; readonly lane: Lane };

type OutcomesDeps = {
  readonly deliveryQueue: Pick<DeliveryQueue, "record">;
  readonly queues: Pick<Queues, "end">;
  readonly consequences: Pick<Consequences, "decide" | "conclude">;
  readonly clock: Pick<Clock, "steadyMs">;
  /** Called after each outcome is on disk, or was dropped. */
  readonly onSettled?: (ended: Unwritten) => void;
  /** Called when a write has ended that `write` did not wait for: `write` must be called again. */
  readonly onWriteEnded?: () => void;
};

/** Maximum outcomes per write: if a thousand targets do not respond, all calls time out at the same moment. */
const OUTCOMES_AT_ONCE = 100;

/** Outcomes that are being written; `result` is present once the write has ended. */
type Write = {
  readonly some: readonly Unwritten[];
  readonly decisions: readonly AttemptOutcome[];
  ended: Promise<void>;
  result?: { readonly records: readonly RecordedOutcome[] } | { readonly error: unknown };
};

export class Outcomes {
  readonly #deps: Required<OutcomesDeps>;
  readonly #unwritten = new Set<Unwritten>();
  #current: Write | undefined;

  constructor(deps: OutcomesDeps) {
    this.#deps = { onSettled() {}, onWriteEnded() {}, ...deps };
  }

  /** Returns the number of outcomes that wait for a write. */
  waiting(): number {
    return this.#unwritten.size - (this.#current?.some.length ?? 0);
  }

  isWriting(): boolean {
    return this.#current !== undefined && this.#current.result === undefined;
  }

  add(outcome: Unwritten): void {
    this.#unwritten.add(outcome);
  }

  /** Drops the outcomes of webhooks that another process owns, which repeats the calls. */
  drop(webhooks: ReadonlySet<number>): void {
    for (const ended of this.#unwritten) {
      if (!webhooks.has(ended.webhook)) continue;
      this.#unwritten.delete(ended);
      this.#deps.onSettled(ended);
    }
  }

  /**
   * Applies the consequences of a write that has ended, and begins another one: some outcomes in one transaction. Waits for it
   * until the next tick of the event loop: a database in this process has written them by then, and calls of other webhooks need not
   * wait for another database. Outcomes leave the memory only after the write: a failed write loses none.
   *
   * Only this function applies consequences. Deliveries that a caller reads between two calls may have outcomes that are not written.
   *
   * @throws the error of a failed write
   */
  async write(): Promise<void> {
    this.#conclude();
    if (this.isWriting() || this.#unwritten.size === 0) return;
    const { ended } = this.#begin();
    await Promise.race([ended, setImmediate()]);
    if (this.isWriting()) void ended.then(this.#deps.onWriteEnded);
    else this.#conclude();
  }

  async writeAll(): Promise<void> {
    await this.#current?.ended;
    // A failed write is repeated.
    if (this.#current?.result && "error" in this.#current.result) this.#current = undefined;
    for (this.#conclude(); this.#unwritten.size > 0; this.#conclude()) await this.#begin().ended;
  }

  #begin(): Write {
    const { consequences, deliveryQueue } = this.#deps;
    const some = [...this.#unwritten.values().take(OUTCOMES_AT_ONCE)];
    const decisions = some.map((ended) => consequences.decide(ended));
    const record = async () => {
      try {
        current.result = { records: await deliveryQueue.record(decisions) };
      } catch (error) {
        current.result = { error };
      }
    };
    const current: Write = { some, decisions, ended: Promise.resolve() };
    current.ended = record();
    this.#current = current;
    return current;
  }

  /** Applies the consequences of the current write, if it has ended. */
  #conclude(): void {
    const { queues, consequences, clock, onSettled } = this.#deps;
    if (!this.#current?.result) return;
    const { some, decisions, result } = this.#current;
    this.#current = undefined;
    if ("error" in result) throw result.error;
    for (const [index, ended] of some.entries()) {
      // Dropped meanwhile.
      if (!this.#unwritten.delete(ended)) continue;
      const { queue, lane, attempted } = ended;
      onSettled(ended);
      const decision = present(decisions[index], "a decision");
      const pauses = consequences.conclude(ended, decision, present(result.records[index], "a record"));
      queues.end(queue, lane, {
        ...{ atMs: clock.steadyMs(), pauses },
        concernsRetries: lane !== "first" || attempted.reason !== undefined,
      });
    }
  }
}
