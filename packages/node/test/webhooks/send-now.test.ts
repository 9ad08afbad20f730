/** Deliveries that are sent on demand, in any state (webhooks.md 10 point 5). */
import { describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import {
  blockApplied,
  blockReverted,
  heights,
  type Reply,
  settle,
} from "../../test-support/webhooks/support.ts";
import { serve } from "./serve.ts";

const EVERY_BLOCK = { event: "block.applied", conditions: [{ key: "id", condition: "ne", value: "" }] };

/** Webhook whose target responds as the test says. */
async function start(changes: object = {}, reply: Reply = 500) {
  const replies: { all: Reply } = { all: reply };
  const service = await serve(undefined, { reply: () => replies.all });
  const { body } = await service.create({ ...EVERY_BLOCK, ...changes });
  expect(body.data.id).toBe(1);
  const post = (path: string, given: unknown = {}) =>
    service.ask("POST", `/api/webhooks/1/deliveries/${path}`, { body: given });
  return { ...service, replies, post };
}

const blocks = (count: number) => Array.from({ length: count }, (_, index) => blockApplied(index + 1));
const states = (log: readonly { readonly state: string }[]) => [...new Set(log.map(({ state }) => state))];

describe("sending now", () => {
  test("A request to send now sends a delivery that waits for its retry at once, and restarts its schedule.", async () => {
    const { post, emit, clock, calls } = await start();
    await emit(blockApplied(1));
    await clock.advance(200_000);
    const before = calls.length;
    expect((await post("1/retry")).text).toBe("{}");
    await settle();
    expect(calls).toHaveLength(before + 1);
    await clock.advance(5_000);
    expect(calls).toHaveLength(before + 2);
  });

  test("A request to send now sends a delivery without an attempt, although its target is only probed.", async () => {
    const { post, emit, calls, replies } = await start();
    for (const block of blocks(60)) await emit(block);
    const before = calls.length;
    replies.all = 200;
    expect((await post("60/retry")).status).toBe(200);
    await settle();
    expect(heights(calls.slice(before))).toContain(60);
  });

  test("A request to send now sends a selection, in order, by id or webhook-id, and omits unknown ones.", async () => {
    const { post, emit, calls, log, replies } = await start();
    await emit(...blocks(6));
    replies.all = 200;
    const before = calls.length;
    const deliveries = [5, `${2}`, present(log(1, 9).find(({ number }) => number === 3)).id, 99, "msg_0"];
    expect((await post("retry", { deliveries })).body).toEqual({ data: { retried: 3 } });
    await settle();
    expect(heights(calls.slice(before))).toEqual([2, 3, 5]);
  });

  test.each(["parallel", "strict"])(
    "A request to send now sends all queued deliveries in order: %s.",
    async (order) => {
      const { post, emit, clock, calls, log, replies } = await start({ order });
      for (const block of blocks(40)) await emit(block);
      await clock.advance(3_600_000);
      replies.all = 200;
      const before = calls.length;
      expect((await post("retry", { state: "pending" })).body).toEqual({ data: { retried: 40 } });
      while (calls.length < before + 40) await settle();
      await settle();
      const sent = heights(calls.slice(before));
      expect([...sent].sort((a, b) => Number(a) - Number(b))).toEqual(blocks(40).map(({ height }) => height));
      if (order === "strict") expect(sent).toEqual(blocks(40).map(({ height }) => height));
      expect(states(log(1, 100))).toEqual(["delivered"]);
    },
  );

  test("A request to send now in strict order sends earlier deliveries as well.", async () => {
    const { post, emit, clock, calls, replies } = await start({ order: "strict" });
    await emit(...blocks(3));
    await clock.advance(3_600_000);
    replies.all = 200;
    const before = calls.length;
    expect((await post("3/retry")).status).toBe(200);
    await settle();
    expect(heights(calls.slice(before))).toEqual([1, 2, 3]);
  });

  test("A request to send now sends all undelivered ones: pending, failed and cancelled.", async () => {
    const { ask, post, emit, calls, log, replies } = await start();
    await emit(...blocks(2));
    await ask("PUT", "/api/webhooks/1", { body: { queue: "drop" } });
    replies.all = 410;
    await emit(blockApplied(3));
    replies.all = 500;
    await ask("PUT", "/api/webhooks/1", { body: { enabled: true } });
    await emit(blockApplied(4));
    expect(log(1, 9).map(({ state }) => state)).toEqual(["pending", "failed", "cancelled", "cancelled"]);
    replies.all = 200;
    const before = calls.length;
    expect((await post("retry", { state: "all" })).body).toEqual({ data: { retried: 4 } });
    await settle();
    expect(new Set(heights(calls.slice(before)))).toEqual(new Set([1, 2, 3, 4]));
    expect(states(log(1, 9))).toEqual(["delivered"]);
  });

  test("A request to send now sends the queued deliveries that match.", async () => {
    const { post, emit, clock, calls } = await start();
    await emit(...blocks(4));
    await clock.advance(200_000);
    const before = calls.length;
    expect((await post("retry", { state: "pending", height: 3 })).body).toEqual({ data: { retried: 1 } });
    await settle();
    expect(heights(calls.slice(before))).toEqual([3]);
  });

  test("A request to send now does not send a delivery in flight a second time.", async () => {
    const { post, emit, calls } = await start({}, "never");
    await emit(...blocks(2));
    for (const path of ["1/retry", "2/retry"]) expect((await post(path)).status).toBe(200);
    expect((await post("retry", { deliveries: [1, 2] })).body).toEqual({ data: { retried: 0 } });
    await post("retry", { state: "all" });
    await settle();
    expect(heights(calls)).toEqual([1, 2]);
  });

  test("A request to send now reports that the webhook is paused, and that the block of a delivery was reverted.", async () => {
    const { ask, post, emit } = await start();
    await emit(...blocks(2));
    await emit(blockReverted(2));
    expect((await post("2/retry")).body).toMatchObject({ statusCode: 409, code: "DELIVERY_UNDONE" });
    await ask("PUT", "/api/webhooks/1", { body: { enabled: false } });
    for (const [path, body] of [
      ["1/retry", {}],
      ["retry", { state: "pending" }],
      ["retry", { state: "all" }],
      ["retry", { deliveries: [1] }],
    ] as const) {
      expect((await post(path, body)).body).toMatchObject({ statusCode: 409, code: "WEBHOOK_OFF" });
    }
  });

  test("A request to send now, while paused, sends finished deliveries later, and reports that pending ones wait.", async () => {
    const { ask, post, emit, calls, log, replies } = await start();
    replies.all = 410;
    await emit(blockApplied(1));
    await ask("PUT", "/api/webhooks/1", { body: { enabled: true } });
    replies.all = 500;
    await emit(blockApplied(2));
    await ask("PUT", "/api/webhooks/1", { body: { enabled: false } });
    expect(log(1, 9).map(({ state }) => state)).toEqual(["pending", "failed"]);
    const sent = {
      data: { retried: 1, notSent: expect.stringMatching(/^pending .* webhook 1 is disabled/) },
    };
    expect((await post("retry", { state: "all" })).body).toEqual(sent);
    expect(states(log(1, 9))).toEqual(["pending"]);
    replies.all = 200;
    const before = calls.length;
    await ask("PUT", "/api/webhooks/1", { body: { enabled: true } });
    await settle();
    expect(new Set(heights(calls.slice(before)))).toEqual(new Set([1, 2]));
    await ask("PUT", "/api/webhooks/1", { body: { enabled: false } });
    expect((await post("retry", { deliveries: [1, 2] })).body).toEqual({ data: { retried: 2 } });
    expect((await post("retry", { deliveries: [1, 2] })).body).toMatchObject({ code: "WEBHOOK_OFF" });
  });

  test.each([
    { deliveries: [] },
    { deliveries: "1" },
    { deliveries: [1.5] },
    { deliveries: [""] },
    { deliveries: [null] },
    { deliveries: ["x".repeat(65)] },
    { deliveries: Array.from({ length: 501 }, (_, index) => index) },
    { deliveries: [1], state: "pending" },
  ])("A request to send now refuses an invalid selection: %#.", async (body) => {
    const { post } = await start();
    expect((await post("retry", body)).status).toBe(422);
  });
});
