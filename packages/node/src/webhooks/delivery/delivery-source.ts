/** Which delivery of a queue is the next one in a lane, as the database says. */
import { isRetraction } from "../../events/catalogue.ts";
import type { DeliveryStore, Waiting } from "../../store/webhooks/deliveries.ts";
import type { ReplayQueue } from "../../store/webhooks/replay-queue.ts";
import { type Lane, type Queue, type Retries, runningOf } from "./queue.ts";

export type DeliverySourceDeps = {
  deliveries: Pick<DeliveryStore, "nextFirsts" | "nextRetry" | "nextRetryMs" | "hasRetraction">;
  replayQueue: Pick<ReplayQueue, "next">;
};

export type DeliverySource = {
  /** Takes the next one out of a lane that is due; nothing if there is none, or it has to be alone and is not. */
  next(queue: Queue, lane: Lane, nowMs: number): Waiting | undefined;
  /** What the database says of a queue beside its first attempts. */
  retriesOf(webhook: number): Retries;
};

/** First attempts that are read in one go, and characters of their contents. */
const READ_AHEAD = 8;
const MAX_AHEAD_LENGTH = 32_768;

export function createDeliverySource({ deliveries, replayQueue }: DeliverySourceDeps): DeliverySource {
  const retriesOf = (webhook: number): Retries => ({
    retryMs: deliveries.nextRetryMs(webhook),
    hasRetraction: deliveries.hasRetraction(webhook),
  });

  function takeFirst(queue: Queue): Waiting | undefined {
    if (queue.ahead.length === 0) queue.ahead = readAhead(queue);
    const [delivery] = queue.ahead;
    if (!delivery) {
      queue.hasFirst = false;
      return undefined;
    }
    if (isRetraction(delivery.message.event)) {
      queue.isBarred = true;
      if (runningOf(queue) > 0) return undefined;
    }
    queue.ahead.shift();
    queue.taken = delivery.number;
    return delivery;
  }

  /** More than the next one only where they will not lie in memory for long. */
  function readAhead({ webhook, taken, isQuick }: Queue): Waiting[] {
    const waiting = deliveries.nextFirsts(webhook, taken, isQuick ? READ_AHEAD : 1);
    let length = 0;
    return waiting.filter(({ message }, index) => {
      length += message.content.dataText?.length ?? 0;
      return index === 0 || length <= MAX_AHEAD_LENGTH;
    });
  }

  function takeRetry(queue: Queue, nowMs: number): Waiting | undefined {
    const delivery = deliveries.nextRetry(queue.webhook, nowMs);
    // Cancelled meanwhile: perhaps a later one is left.
    if (!delivery) Object.assign(queue, retriesOf(queue.webhook));
    return delivery;
  }

  function takeReplay(queue: Queue, nowMs: number): Waiting | undefined {
    // What is behind those under way. In strict order, one that failed is the next again.
    const after = queue.running.replay === 0 ? 0 : queue.replayed;
    const delivery = replayQueue.next(queue.webhook, after);
    queue.hasReplay = delivery !== undefined;
    queue.replayMs = delivery?.nextAttemptMs ?? 0;
    if (!delivery || queue.replayMs > nowMs) return undefined;
    queue.replayed = delivery.place;
    return delivery;
  }

  return {
    next(queue, lane, nowMs) {
      if (lane === "first") return takeFirst(queue);
      return lane === "retry" ? takeRetry(queue, nowMs) : takeReplay(queue, nowMs);
    },
    retriesOf,
  };
}
