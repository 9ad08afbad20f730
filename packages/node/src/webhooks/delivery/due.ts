/** Finds the calls that are due, and the time of the next call. */
import type { Attempted } from "../collaborators.ts";
import type { WaitingDelivery } from "../model/deliveries.ts";
import type { WebhookOptions } from "../options.ts";
import { LANES, type Lane } from "../storage/lanes.ts";
import { laneDueMs, type Queue, type Queues, runningOf } from "./active-queues.ts";
import { type DeliverySource, hasFewAhead } from "./delivery-source.ts";

/** Maximum duration of a quick call, which does not occupy a slot for long. */
const QUICK_MS = 1_000;

/** Returns whether the target of such a call may get concurrent calls. */
export const isQuick = ({ reason, durationMs }: Attempted): boolean =>
  reason === undefined && durationMs < QUICK_MS;

/**
 * Slots for concurrent calls. Each webhook has a reserved slot, so that other targets cannot delay it. Its further calls use
 * shared slots; targets whose last response was not quick can use half of them.
 */
class CallSlots {
  readonly #maxShared: number;
  #shared = 0;

  constructor(queues: Iterable<Queue>, maxShared: number) {
    this.#maxShared = maxShared;
    for (const queue of queues) this.#shared += Math.max(0, runningOf(queue) - 1);
  }

  /** Returns whether the queue may start a call in a lane. */
  isFree(queue: Queue, lane: Lane): boolean {
    // Replays leave room for live events.
    const most = queue.isQuick && lane !== "replay" ? this.#maxShared : this.#maxShared / 2;
    return runningOf(queue) === 0 || this.#shared < most;
  }

  /** Takes a slot; must be called before the call counts as running. */
  take(queue: Queue): void {
    if (runningOf(queue) > 0) this.#shared++;
  }
}

export type DueOptions = Pick<WebhookOptions, "maxConcurrent" | "maxConcurrentPerWebhook">;

type DueDeps = {
  readonly queues: Queues;
  readonly deliverySource: Pick<DeliverySource, "readAhead" | "next">;
  /** Returns whether a call may start now; if not, none is due. */
  readonly mayBegin: () => boolean;
  /** Starts a call, which already counts as running. */
  readonly begin: (queue: Queue, lane: Lane, delivery: WaitingDelivery) => void;
};

/**
 * Calls that start in one pass. Responses are read between two passes: if targets respond at once, few connections carry
 * many deliveries, and each delivery costs a third less CPU time.
 */
const CALLS_AT_ONCE = 32;

export class DueCalls {
  readonly #options: DueOptions;
  readonly #deps: DueDeps;

  constructor(options: DueOptions, deps: DueDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  /** Starts due calls while slots are free, round-robin over the queues. Resolves to `true` if more calls may be due. */
  async begin(nowMs: number): Promise<boolean> {
    const { queues, deliverySource, begin } = this.#deps;
    await queues.refresh();
    const slots = new CallSlots(queues.all(), this.#options.maxConcurrent);
    let begun = 0;
    for (let more = true; more; ) {
      more = false;
      await deliverySource.readAhead(this.#toRead(slots, nowMs));
      for (const queue of [...queues.all()]) {
        if (begun >= CALLS_AT_ONCE) return true;
        for (const lane of LANES) {
          const isNext = slots.isFree(queue, lane) && this.#isDue(queue, lane, nowMs);
          const delivery = isNext ? await deliverySource.next(queue, lane, nowMs) : undefined;
          if (!delivery || !queues.isCurrent(queue)) continue;
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
  }

  /**
   * Returns the queues whose next first attempt is due and not in memory. If there is one, the read includes others that have few
   * left: otherwise each would soon need its own.
   */
  #toRead(slots: CallSlots, nowMs: number): Queue[] {
    const [empty, others]: [Queue[], Queue[]] = [[], []];
    for (const queue of this.#deps.queues.all()) {
      if (empty.length === CALLS_AT_ONCE) break;
      if (hasFewAhead(queue)) others.push(queue);
      else if (queue.ahead.length === 0 && slots.isFree(queue, "first") && this.#isDue(queue, "first", nowMs))
        empty.push(queue);
    }
    return empty.length === 0 ? [] : [...empty, ...others].slice(0, CALLS_AT_ONCE);
  }

  /** Returns when the next call is due; undefined if none is due before another event. */
  nextMs(): number | undefined {
    const { queues } = this.#deps;
    const slots = new CallSlots(queues.all(), this.#options.maxConcurrent);
    const due = [...queues.all()].flatMap((queue) =>
      LANES.filter((lane) => slots.isFree(queue, lane)).flatMap((lane) => this.#dueMs(queue, lane) ?? []),
    );
    return due.length === 0 ? undefined : Math.min(...due);
  }

  #isDue(queue: Queue, lane: Lane, nowMs: number): boolean {
    const atMs = this.#dueMs(queue, lane);
    return atMs !== undefined && atMs <= nowMs;
  }

  #dueMs(queue: Queue, lane: Lane): number | undefined {
    const { queues, mayBegin } = this.#deps;
    if (!mayBegin() || !queues.isCurrent(queue)) return undefined;
    return laneDueMs(queue, lane, this.#options.maxConcurrentPerWebhook);
  }
}
