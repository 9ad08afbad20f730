/** Dispatcher of the webhook service on a delivery queue, with requests to which the test responds. */
import { onTestFinished } from "vitest";
import { type Attempted, NO_WEBHOOK_OBSERVER } from "../../../src/webhooks/collaborators.ts";
import { Consequences } from "../../../src/webhooks/delivery/consequences.ts";
import { Dispatcher } from "../../../src/webhooks/delivery/dispatch.ts";
import type { WaitingDelivery } from "../../../src/webhooks/model/deliveries.ts";
import type { DeliveryQueue } from "../../../src/webhooks/storage/delivery-queue.ts";
import { createTestClock, settle, silent } from "../../../test-support/webhooks/support.ts";

export type Call = {
  readonly delivery: WaitingDelivery;
  /** Ends the request; with a reason it has failed. */
  end(reason?: string): Promise<void>;
};

/** Pause between two attempts. */
export const PAUSE_MS = 1_000;
const retryPausesMs = [PAUSE_MS, PAUSE_MS];

export function startDeliverer(storage: DeliveryQueue, startMs?: number) {
  const { deliveryQueue, settleAll } = watch(storage);
  const clock = createTestClock(startMs, settleAll);
  const calls: Call[] = [];
  const dispatcher = new Dispatcher(
    { maxConcurrent: 100, maxConcurrentPerWebhook: 8, callTimeoutMs: 10_000, closeGraceMs: 0, retryPausesMs },
    {
      deliveryQueue,
      match: async () => ({ webhooks: new Set(), more: false }),
      backgroundTasks: [() => deliveryQueue.finishStep(clock.nowMs())],
      consequences: new Consequences({
        observer: NO_WEBHOOK_OBSERVER,
        random: () => 0.5,
        logger: silent,
        clock,
        retryPausesMs,
        suspendAfterMs: 1_000_000,
      }),
      attempt(outgoing, signal) {
        const { promise, resolve } = Promise.withResolvers<Attempted | undefined>();
        signal.addEventListener("abort", () => resolve(undefined));
        calls.push({
          delivery: outgoing as WaitingDelivery,
          async end(reason) {
            resolve({ startedMs: clock.nowMs(), durationMs: 1, ...(reason !== undefined && { reason }) });
            await settleAll();
          },
        });
        return promise;
      },
      retain: () => {},
      runEnded(error) {
        if (error !== undefined) throw error;
      },
      clock,
      logger: silent,
    },
  );
  let isOpen = true;
  async function close(): Promise<void> {
    if (!isOpen) return;
    isOpen = false;
    const closed = dispatcher.close();
    await clock.advance(0);
    await closed;
  }
  onTestFinished(close);
  return {
    calls,
    clock,
    async run() {
      dispatcher.notify();
      await settleAll();
    },
    close,
  };
}

/** Counts running calls of the queue, which take time in some databases. `settleAll` returns when no further ones follow. */
function watch(queue: DeliveryQueue): { deliveryQueue: DeliveryQueue; settleAll: () => Promise<void> } {
  const running = new Set<Promise<unknown>>();
  const deliveryQueue = new Proxy(queue, {
    get(target, name: keyof DeliveryQueue) {
      const member = target[name];
      if (typeof member !== "function") return member;
      return (...parameters: unknown[]) => {
        const call: Promise<unknown> = Reflect.apply(member, target, parameters);
        running.add(call);
        const remove = () => running.delete(call);
        call.then(remove, remove);
        return call;
      };
    },
  });
  return {
    deliveryQueue,
    async settleAll() {
      await settle();
      while (running.size > 0) {
        await Promise.allSettled(running);
        await settle();
      }
    },
  };
}
