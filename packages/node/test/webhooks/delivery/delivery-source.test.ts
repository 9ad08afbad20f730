/** Prefetched deliveries while the database reads, and calls end. */
import { expect, test } from "vitest";
import { createQueue, type Queue } from "../../../src/webhooks/delivery/active-queues.ts";
import { DeliverySource } from "../../../src/webhooks/delivery/delivery-source.ts";
import type { WaitingDelivery } from "../../../src/webhooks/model/deliveries.ts";

const delivery = (number: number): WaitingDelivery => ({
  ...{ number, attempts: 0, target: "https://receiver.example/", secrets: { token: "5".repeat(64) } },
  message: { webhook: 1, id: `msg_${number}`, event: "block.applied", timeMs: 1, content: {} },
});

/** A source over a queue of 40 deliveries, whose reads end when the test says. */
function openSource() {
  const queue: Queue = createQueue(1, { isStrict: true, retryAtMs: undefined, hasRetraction: false });
  let held: PromiseWithResolvers<void> | undefined;
  const source = new DeliverySource({
    deliveryQueue: {
      async nextFirst(ranges) {
        await held?.promise;
        return ranges.map(({ after, limit }) =>
          Array.from({ length: 40 }, (_, index) => delivery(index + 1))
            .filter(({ number }) => number > after)
            .slice(0, limit),
        );
      },
      nextRetry: async () => undefined,
      nextReplayed: async () => undefined,
      states: async () => [],
    },
    mayBegin: () => true,
    latestMs: () => Number.MAX_SAFE_INTEGER,
    isUnderWay: () => false,
  });
  return {
    queue,
    source,
    take: async () => (await source.next(queue, "first", 0))?.number,
    /** Returns a function that lets the reads end. */
    hold() {
      held = Promise.withResolvers();
      return () => held?.resolve();
    },
  };
}

test("Deliveries that were dropped from memory during a read are read again, in order.", async () => {
  const { queue, source, take, hold } = openSource();
  const taken = [await take()];
  queue.isQuick = true;
  while (taken.length < 10) taken.push(await take());
  expect(queue.ahead.length).toBeGreaterThan(0);
  const release = hold();
  const reading = source.readAhead([queue]);
  // The call of the last delivery was not quick.
  queue.ahead = [];
  queue.isQuick = false;
  release();
  await reading;
  for (let count = 0; count < 30; count++) taken.push(await take());
  expect(taken).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
  expect(await take()).toBeUndefined();
});

test("A queue that starts again during a read begins with its first delivery.", async () => {
  const { queue, source, take, hold } = openSource();
  queue.isQuick = true;
  for (let count = 0; count < 10; count++) await take();
  const release = hold();
  const reading = source.readAhead([queue]);
  Object.assign(queue, { ahead: [], taken: 0, hasFirst: true });
  release();
  await reading;
  expect(queue.hasFirst).toBe(true);
  expect(await take()).toBe(1);
});
