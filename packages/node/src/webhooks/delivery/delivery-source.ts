/** Which delivery of a queue is the next one in a lane, as the database says. */
import { isRetraction } from "../../events/catalogue.ts";
import type { WaitingDelivery } from "../deliveries.ts";
import type { DeliveryQueue } from "../delivery-queue.ts";
import type { HostRates } from "./host-rate-limit.ts";
import { type Lane, type Queue, runningOf } from "./queue.ts";

export type DeliverySource = {
  /**
   * Takes the next delivery out of a lane that is due; undefined if there is none, if it has to be alone and is not, or if
   * its host gets no call at present.
   */
  next(queue: Queue, lane: Lane, nowMs: number): Promise<WaitingDelivery | undefined>;
};

export type DeliverySourceDeps = {
  readonly deliveryQueue: Pick<DeliveryQueue, "nextFirst" | "nextRetry" | "nextReplayed" | "states">;
  /** Absent: no limit. */
  readonly rates?: HostRates | undefined;
};

/** First attempts that are read together, and characters of their contents. */
const READ_AHEAD = 8;
const MAX_AHEAD_LENGTH = 32_768;

export function createDeliverySource({ deliveryQueue, rates }: DeliverySourceDeps): DeliverySource {
  /** Counts the call that a delivery needs, if its host may get one now. */
  function isAllowed(queue: Queue, { target }: WaitingDelivery): boolean {
    queue.target = target;
    return rates === undefined || rates.take(target);
  }

  async function takeFirst(queue: Queue): Promise<WaitingDelivery | undefined> {
    if (queue.ahead.length === 0) queue.ahead = await readAhead(queue);
    const [delivery] = queue.ahead;
    if (!delivery) {
      queue.hasFirst = false;
      return undefined;
    }
    if (isRetraction(delivery.message.event)) {
      queue.isBarred = true;
      if (runningOf(queue) > 0) return undefined;
    }
    if (!isAllowed(queue, delivery)) return undefined;
    queue.ahead.shift();
    queue.taken = delivery.number;
    return delivery;
  }

  /** More than the next one only where they will not be in memory for long. */
  async function readAhead({ webhook, taken, isQuick }: Queue): Promise<WaitingDelivery[]> {
    const waiting = await deliveryQueue.nextFirst(webhook, taken, isQuick ? READ_AHEAD : 1);
    let length = 0;
    return waiting.filter(({ message }, index) => {
      length += message.content.dataText?.length ?? 0;
      return index === 0 || length <= MAX_AHEAD_LENGTH;
    });
  }

  async function takeRetry(queue: Queue, nowMs: number): Promise<WaitingDelivery | undefined> {
    const delivery = await deliveryQueue.nextRetry(queue.webhook, nowMs);
    // Cancelled meanwhile: perhaps a later one is left.
    if (!delivery) Object.assign(queue, (await deliveryQueue.states([queue.webhook]))[0]);
    return delivery && isAllowed(queue, delivery) ? delivery : undefined;
  }

  async function takeReplayed(queue: Queue, nowMs: number): Promise<WaitingDelivery | undefined> {
    // What is behind those under way. In strict order, one that failed is the next again.
    const after = queue.running.replay === 0 ? 0 : queue.replayed;
    const delivery = await deliveryQueue.nextReplayed(queue.webhook, after);
    queue.hasReplay = delivery !== undefined;
    queue.replayMs = delivery?.nextAttemptMs ?? 0;
    if (!delivery || queue.replayMs > nowMs || !isAllowed(queue, delivery)) return undefined;
    queue.replayed = delivery.position;
    return delivery;
  }

  return {
    next(queue, lane, nowMs) {
      if (lane === "first") return takeFirst(queue);
      return lane === "retry" ? takeRetry(queue, nowMs) : takeReplayed(queue, nowMs);
    },
  };
}
