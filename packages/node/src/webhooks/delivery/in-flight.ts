/** Running calls to targets, and deliveries that are under way. */
import type { Clock } from "../collaborators.ts";

/** The calls of one webhook share a signal. */
type Group = { readonly abort: AbortController; size: number };

const NO_WEBHOOK = 0;

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
  begin(call: (signal: AbortSignal) => Promise<void>, webhook = NO_WEBHOOK): void {
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

  /** Aborts the calls of a webhook. */
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
