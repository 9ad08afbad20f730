/** Which calls are due, and when the next ones will be. */
import type { WaitingDelivery } from "../deliveries.ts";
import { createCallSlots } from "./call-slots.ts";
import type { DeliverySource } from "./delivery-source.ts";
import type { HostRates } from "./host-rate-limit.ts";
import { LANES, type Lane, laneDueMs, type Queue } from "./queue.ts";
import type { Queues } from "./queues.ts";

export type DueOptions = {
  /** Calls under way at once, over all webhooks, the first one of each left out. */
  readonly maxConcurrent: number;
  /** First attempts under way at once in one webhook. */
  readonly maxConcurrentPerWebhook: number;
};

export type DueDeps = {
  readonly queues: Queues;
  readonly deliverySource: Pick<DeliverySource, "next">;
  /** Absent: no limit. */
  readonly rates?: HostRates | undefined;
  /** Begins a call, which counts as running already. */
  readonly begin: (queue: Queue, lane: Lane, delivery: WaitingDelivery) => void;
};

export type DueCalls = {
  /**
   * Begins calls that are due while slots are free: one of each queue, then the next one of each. `true`: more of
   * them may be due.
   */
  begin(nowMs: number): Promise<boolean>;
  /** When the next call is due; undefined: not before something else happens. */
  nextMs(nowMs?: number): number | undefined;
};

/**
 * Calls that are begun in one pass. Responses are read between two passes: where targets respond at once, few connections
 * carry many deliveries, and each delivery takes a third less processor time.
 */
const CALLS_AT_ONCE = 32;

export function createDueCalls(
  options: DueOptions,
  { queues, deliverySource, rates, begin }: DueDeps,
): DueCalls {
  /** A call that waits for its host takes no slot. */
  const rateDelayMs = ({ target }: Queue) => (target === undefined ? 0 : (rates?.delayMs(target) ?? 0));

  function dueMs(queue: Queue, lane: Lane, nowMs: number): number | undefined {
    const atMs = laneDueMs(queue, lane, options.maxConcurrentPerWebhook);
    return atMs === undefined || rates === undefined ? atMs : Math.max(atMs, nowMs + rateDelayMs(queue));
  }

  function isDue(queue: Queue, lane: Lane, nowMs: number): boolean {
    const atMs = dueMs(queue, lane, nowMs);
    return atMs !== undefined && atMs <= nowMs;
  }

  return {
    async begin(nowMs) {
      await queues.refresh();
      const slots = createCallSlots(queues.all(), options.maxConcurrent);
      let begun = 0;
      for (let more = true; more; ) {
        more = false;
        for (const queue of [...queues.all()]) {
          if (begun >= CALLS_AT_ONCE) return true;
          for (const lane of LANES) {
            const isNext = slots.isFree(queue, lane) && isDue(queue, lane, nowMs);
            const delivery = isNext ? await deliverySource.next(queue, lane, nowMs) : undefined;
            if (!delivery) continue;
            slots.take(queue);
            queues.begin(queue, lane);
            begin(queue, lane, delivery);
            begun++;
            more = true;
          }
          queues.dropIfIdle(queue, nowMs);
        }
      }
      return false;
    },
    nextMs(nowMs = 0) {
      const slots = createCallSlots(queues.all(), options.maxConcurrent);
      const due = [...queues.all()].flatMap((queue) =>
        LANES.filter((lane) => slots.isFree(queue, lane)).flatMap((lane) => dueMs(queue, lane, nowMs) ?? []),
      );
      return due.length === 0 ? undefined : Math.min(...due);
    },
  };
}
