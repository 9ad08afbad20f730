import { describe, expect, test } from "vitest";
import type { WebhookOptions } from "../../src/webhooks/options.ts";
import { createDeliveryRows } from "../../test-support/webhooks/sqlite-register.ts";
import {
  always,
  blockApplied,
  createService,
  heights,
  type Reply,
  settle,
} from "../../test-support/webhooks/support.ts";

const strict = { ...always(), order: "strict" };

/** A service whose targets respond when the test says so. */
function createWaiting(options: Partial<WebhookOptions> = {}) {
  const open = new Map<unknown, (reply: Reply) => void>();
  const service = createService({
    options,
    reply: ({ message }) => new Promise<Reply>((resolve) => open.set(message.height, resolve)),
  });
  const deliveries = createDeliveryRows(service.database);
  return {
    ...service,
    /** Responds to the request of a height. */
    async respond(height: number, reply: Reply = 200) {
      open.get(height)?.(reply);
      await settle();
    },
    /** Inserts deliveries into a queue; heights count from 1. */
    queue(webhook: number, ...events: string[]) {
      for (const [index, event] of events.entries()) {
        const id = `${webhook}-${index}`;
        const message = { webhook, id, sequence: index + 1, event, height: index + 1 };
        deliveries.insert({ ...message, content: deliveries.insertContent() }, 0);
      }
    },
  };
}

describe("order", () => {
  test.each(["rotation", "dropping", "removal", "disabling"])(
    "Prefetched deliveries are read again after a change of the webhook: %s.",
    async (change) => {
      const { calls, respond, webhooks, emit } = createWaiting({ maxConcurrentPerWebhook: 2 });
      const { secrets } = await webhooks.register.create(always());
      // A healthy target: several deliveries are read at once.
      await emit(...[1, 2, 3, 4, 5].map(blockApplied));
      await respond(1);
      expect(heights(calls)).toEqual([1, 2, 3]);
      const rotate = async () => (await webhooks.register.rotate("1", { overlapSeconds: 0 })).secrets.token;
      const token = change === "rotation" ? await rotate() : undefined;
      if (change === "dropping") await webhooks.register.update("1", { queue: "drop" });
      if (change === "disabling") await webhooks.register.update("1", { enabled: false });
      if (change === "removal") await webhooks.register.remove("1");
      for (const height of [2, 3, 4, 5]) await respond(height);
      expect(heights(calls)).toEqual(token === undefined ? [1, 2, 3] : [1, 2, 3, 4, 5]);
      if (token === undefined) return;
      expect(calls.map(({ headers }) => headers.authorization)).toEqual(
        [secrets, secrets, secrets, { token }, { token }].map(({ token }) => token.slice(0, 32)),
      );
    },
  );

  test("First attempts start in the order of events, a limited number at a time.", async () => {
    const { calls, respond, webhooks, emit } = createWaiting({ maxConcurrentPerWebhook: 2 });
    await webhooks.register.create(always());
    await emit(...[1, 2, 3, 4].map(blockApplied));
    expect(heights(calls)).toEqual([1, 2]);
    await respond(2);
    expect(heights(calls)).toEqual([1, 2, 3]);
    await respond(3);
    expect(heights(calls)).toEqual([1, 2, 3, 4]);
    await emit(blockApplied(5));
    expect(heights(calls)).toEqual([1, 2, 3, 4]);
    await respond(1);
    expect(heights(calls)).toEqual([1, 2, 3, 4, 5]);
  });

  test("A retraction is delivered alone, after all earlier deliveries and before all later ones.", async () => {
    const { calls, respond, webhooks, queue } = createWaiting();
    const { id } = await webhooks.register.create(always());
    queue(
      id,
      "block.applied",
      "block.applied",
      "block.reverted",
      "block.reverted",
      "block.applied",
      "block.applied",
    );
    webhooks.notify();
    await settle();
    for (const [responded, begun] of [
      [[], [1, 2]],
      [[1], [1, 2]],
      [[2], [1, 2, 3]],
      [[3], [1, 2, 3, 4]],
      [[4], [1, 2, 3, 4, 5, 6]],
    ] as const) {
      for (const height of responded) await respond(height);
      expect([responded, heights(calls)]).toEqual([responded, begun]);
    }
  });

  test("A failing delivery does not delay the later ones.", async () => {
    const { webhooks, emit, calls, clock } = createService({
      reply: ({ message }) => (message.height === 1 ? 500 : 200),
    });
    await webhooks.register.create(always());
    await emit(blockApplied(1), blockApplied(2), blockApplied(3));
    expect(heights(calls)).toEqual([1, 2, 3]);
    await clock.advance(5_000);
    expect(heights(calls)).toEqual([1, 2, 3, 1]);
  });

  test("A hanging retry does not delay the later ones.", async () => {
    let isFirst = true;
    const { webhooks, emit, calls, clock } = createService({
      reply({ message }) {
        if (message.height !== 1) return 200;
        const reply: Reply = isFirst ? 500 : "never";
        isFirst = false;
        return reply;
      },
    });
    await webhooks.register.create(always());
    await emit(blockApplied(1));
    await clock.advance(5_000);
    await emit(blockApplied(2), blockApplied(3));
    expect(heights(calls)).toEqual([1, 1, 2, 3]);
  });

  test("A hanging retry delays the later ones in strict order.", async () => {
    let failures = 2;
    const { webhooks, emit, calls, clock } = createService({
      reply: ({ message }) => (message.height === 1 && failures-- > 0 ? 500 : 200),
    });
    await webhooks.register.create(strict);
    await emit(blockApplied(1), blockApplied(2), blockApplied(3));
    expect(heights(calls)).toEqual([1]);
    await clock.advance(5_000);
    expect(heights(calls)).toEqual([1, 1]);
    await clock.advance(30_000);
    expect(heights(calls)).toEqual([1, 1, 1, 2, 3]);
  });

  test("One request is sent at a time in strict order, until the delivery is acknowledged or fails for good.", async () => {
    const { webhooks, emit, calls, clock, respond } = createWaiting({ retryPausesMs: [1_000] });
    await webhooks.register.create(strict);
    await emit(blockApplied(1), blockApplied(2));
    expect(heights(calls)).toEqual([1]);
    await respond(1, 500);
    expect(heights(calls)).toEqual([1]);
    await clock.advance(1_000);
    expect(heights(calls)).toEqual([1, 1]);
    await respond(1, 500);
    expect(heights(calls)).toEqual([1, 1, 2]);
  });

  test("A delivery that is sent again takes part in strict order.", async () => {
    const { webhooks, emit, calls, respond } = createWaiting();
    await webhooks.register.create(strict);
    await emit(blockApplied(1), blockApplied(2), blockApplied(3));
    await respond(1);
    await webhooks.log.retry("1", "1");
    await settle();
    expect(heights(calls)).toEqual([1, 2]);
    await respond(2);
    expect(heights(calls)).toEqual([1, 2, 1]);
    await respond(1);
    expect(heights(calls)).toEqual([1, 2, 1, 3]);
  });

  test("The order can be changed.", async () => {
    const { webhooks, emit, calls, respond } = createWaiting();
    const { id } = await webhooks.register.create(always());
    await webhooks.register.update(`${id}`, { order: "strict" });
    await emit(blockApplied(1), blockApplied(2));
    expect(heights(calls)).toEqual([1]);
    await webhooks.register.update(`${id}`, { order: "parallel" });
    await emit(blockApplied(3), blockApplied(4));
    expect(heights(calls)).toEqual([1, 2, 3, 4]);
    await respond(1);
    expect(heights(calls)).toEqual([1, 2, 3, 4]);
  });

  test("A slow target does not delay the others.", async () => {
    const { webhooks, emit, calls } = createService({
      reply: ({ target }) => (target.includes("slow") ? "never" : 200),
    });
    await webhooks.register.create(always("block.applied", "https://slow.example/"));
    await webhooks.register.create(always());
    await emit(blockApplied(1), blockApplied(2), blockApplied(3));
    expect(heights(calls.filter(({ target }) => target.includes("slow")))).toEqual([1, 2, 3]);
    expect(heights(calls.filter(({ target }) => !target.includes("slow")))).toEqual([1, 2, 3]);
  });

  test("Every webhook is served with few request slots.", async () => {
    const { webhooks, emit, calls } = createService({ options: { maxConcurrent: 1 } });
    for (let id = 1; id <= 3; id++) await webhooks.register.create(always());
    await emit(blockApplied(1), blockApplied(2));
    expect(calls.map(({ message }) => [message.webhookId, message.height])).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
      [1, 2],
      [2, 2],
      [3, 2],
    ]);
  });
});
