/** Reads the next delivery of a lane from the database. */
import { isRetraction } from "../../events/catalogue.ts";
import type { WaitingDelivery } from "../model/deliveries.ts";
import type { DeliveryQueue } from "../storage/delivery-queue.ts";
import type { Lane } from "../storage/lanes.ts";
import { type Queue, runningOf } from "./active-queues.ts";

type DeliverySourceDeps = {
  readonly deliveryQueue: Pick<DeliveryQueue, "nextFirst" | "nextRetry" | "nextReplayed" | "states">;
  /** Returns whether a call may start now. */
  readonly mayBegin: () => boolean;
  /** Returns whether a call of the delivery is running, or its outcome is not recorded yet. */
  readonly isUnderWay: (delivery: number) => boolean;
  readonly latestMs: () => number;
};

/** Maximum number of first attempts of a queue in memory, and maximum characters of their contents. */
const READ_AHEAD = 16;
const MAX_AHEAD_LENGTH = 32_768;

export class DeliverySource {
  readonly #deps: DeliverySourceDeps;

  constructor(deps: DeliverySourceDeps) {
    this.#deps = deps;
  }

  /**
   * Takes the next due delivery out of a lane. Returns undefined if no delivery is due, if the delivery is under way already, if
   * it must be sent alone but other calls are running, or if no call may start.
   */
  next(queue: Queue, lane: Lane, nowMs: number): Promise<WaitingDelivery | undefined> {
    if (lane === "first") return this.#takeFirst(queue);
    return lane === "retry" ? this.#takeRetry(queue, nowMs) : this.#takeReplayed(queue, nowMs);
  }

  async #takeFirst(queue: Queue): Promise<WaitingDelivery | undefined> {
    if (queue.ahead.length === 0) await this.readAhead([queue]);
    const [delivery] = queue.ahead;
    if (!delivery) return undefined;
    const isAlone = isRetraction(delivery.message.event);
    if (isAlone && runningOf(queue) > 0) {
      queue.isBarred = true;
      return undefined;
    }
    if (!this.#isAllowed(queue, "first", delivery)) return undefined;
    queue.isBarred = isAlone;
    queue.ahead.shift();
    queue.taken = delivery.number;
    return delivery;
  }

  /**
   * Reads the next first attempts of queues, all with one read, after those in memory: several only if they will not stay in memory
   * for long.
   */
  async readAhead(queues: readonly Queue[]): Promise<void> {
    if (queues.length === 0) return;
    const ranges = queues.map((queue) => ({
      webhook: queue.webhook,
      after: lastRead(queue),
      limit: queue.isQuick ? READ_AHEAD - queue.ahead.length : 1,
    }));
    const found = await this.#deps.deliveryQueue.nextFirst(ranges);
    for (const [index, queue] of queues.entries()) {
      // A call that ended during the read can have dropped the deliveries in memory, which must be read again first.
      if (lastRead(queue) !== ranges[index]?.after) continue;
      queue.ahead = withinLength([...queue.ahead, ...(found[index] ?? [])]);
      queue.hasFirst = queue.ahead.length > 0;
    }
  }

  async #takeRetry(queue: Queue, nowMs: number): Promise<WaitingDelivery | undefined> {
    const { deliveryQueue, latestMs } = this.#deps;
    const delivery = await deliveryQueue.nextRetry(queue.webhook, nowMs, latestMs());
    // The delivery was cancelled meanwhile; later deliveries may remain.
    if (!delivery) Object.assign(queue, (await deliveryQueue.states([queue.webhook], latestMs()))[0]);
    return delivery && this.#isAllowed(queue, "retry", delivery) ? delivery : undefined;
  }

  async #takeReplayed(queue: Queue, nowMs: number): Promise<WaitingDelivery | undefined> {
    const { deliveryQueue, latestMs } = this.#deps;
    // Reads the deliveries after the running deliveries. In strict order, a failed delivery is the next delivery again.
    const after = queue.running.replay === 0 ? 0 : queue.replayed;
    const delivery = await deliveryQueue.nextReplayed(queue.webhook, after);
    queue.hasReplay = delivery !== undefined;
    const { nextAttemptMs = 0 } = delivery ?? {};
    queue.replayMs = nextAttemptMs > latestMs() ? 0 : nextAttemptMs;
    if (!delivery || queue.replayMs > nowMs || !this.#isAllowed(queue, "replay", delivery)) return undefined;
    queue.replayed = delivery.position;
    return delivery;
  }

  /**
   * Returns whether the call may start now. Another process may have put a delivery into another lane while it is under way:
   * then the lane is held.
   */
  #isAllowed(queue: Queue, lane: Lane, { number }: WaitingDelivery): boolean {
    const { mayBegin, isUnderWay } = this.#deps;
    if (!mayBegin()) return false;
    if (!isUnderWay(number)) return true;
    queue.held.add(lane);
    return false;
  }
}

/** Returns the number of the last first attempt that was read. */
const lastRead = ({ ahead, taken }: Queue): number => ahead.at(-1)?.number ?? taken;

/** Returns whether a queue has few first attempts in memory, and will need more soon. */
export const hasFewAhead = ({ ahead, isQuick }: Queue): boolean =>
  isQuick && ahead.length > 0 && ahead.length <= READ_AHEAD / 2;

function withinLength(deliveries: readonly WaitingDelivery[]): WaitingDelivery[] {
  let length = 0;
  return deliveries.filter(({ message }, index) => {
    length += message.content.dataText?.length ?? 0;
    return index === 0 || length <= MAX_AHEAD_LENGTH;
  });
}
