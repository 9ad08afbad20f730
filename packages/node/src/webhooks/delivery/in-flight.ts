/** Running calls to targets, and deliveries that are under way. */
import type { Clock } from "../collaborators.ts";

export type InFlight = {
  size(): number;
  /** Starts a call with a signal that aborts it; the call must not reject. */
  begin(call: (signal: AbortSignal) => Promise<void>, webhook?: number): void;
  /** Aborts the calls of a webhook. */
  abort(webhook: number): void;
  /** Settles when every call has ended; aborts calls after the grace period. */
  close(graceMs: number): Promise<void>;
};

/** The calls of one webhook share a signal. */
type Group = { readonly abort: AbortController; size: number };

const NO_WEBHOOK = 0;

export function createInFlight(clock: Pick<Clock, "after">): InFlight {
  const calls = new Set<Promise<void>>();
  const groups = new Map<number, Group>();

  function enter(webhook: number): Group {
    const group = groups.get(webhook) ?? { abort: new AbortController(), size: 0 };
    group.size++;
    groups.set(webhook, group);
    return group;
  }

  function leave(webhook: number, group: Group): void {
    group.size--;
    if (group.size === 0 && groups.get(webhook) === group) groups.delete(webhook);
  }

  function abort(webhook: number): void {
    const group = groups.get(webhook);
    groups.delete(webhook);
    group?.abort.abort();
  }

  return {
    size: () => calls.size,
    begin(call, webhook = NO_WEBHOOK) {
      const group = enter(webhook);
      const ended = call(group.abort.signal).finally(() => {
        calls.delete(ended);
        leave(webhook, group);
      });
      calls.add(ended);
    },
    abort,
    async close(graceMs) {
      const settled = Promise.all(calls);
      const grace = Promise.withResolvers<void>();
      const cancelGrace = clock.after(graceMs, grace.resolve);
      await Promise.race([settled, grace.promise]);
      cancelGrace();
      for (const webhook of [...groups.keys()]) abort(webhook);
      await settled;
    },
  };
}

/** Deliveries whose calls are running, or whose outcomes are not on disk yet. */
export type UnderWay = {
  has(delivery: number): boolean;
  begin(webhook: number, delivery: number): void;
  end(delivery: number): void;
  /** Settles when no delivery of the webhooks is under way. */
  ended(webhooks: readonly number[]): Promise<void>;
};

export function createUnderWay(): UnderWay {
  /** Webhooks by delivery. */
  const deliveries = new Map<number, number>();
  const waits = new Set<() => void>();
  return {
    has: (delivery) => deliveries.has(delivery),
    begin: (webhook, delivery) => void deliveries.set(delivery, webhook),
    end(delivery) {
      deliveries.delete(delivery);
      for (const check of waits) check();
    },
    ended(webhooks) {
      const awaited = new Set(webhooks);
      const { promise, resolve } = Promise.withResolvers<void>();
      const check = () => {
        for (const webhook of deliveries.values()) if (awaited.has(webhook)) return;
        waits.delete(check);
        resolve();
      };
      waits.add(check);
      check();
      return promise;
    },
  };
}
