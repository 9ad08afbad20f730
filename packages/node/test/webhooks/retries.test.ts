import { describe, expect, test } from "vitest";
import { DEFAULT_RETRY_PAUSES_MS } from "../../src/webhooks/options.ts";
import {
  always,
  blockApplied,
  createService,
  heights,
  type Reply,
  settle,
} from "../../test-support/webhooks/support.ts";

describe("retries", () => {
  test("Retries follow the schedule, with one id and one body, until the last one.", async () => {
    const { webhooks, emit, calls, clock, log } = createService({ reply: () => 500 });
    const { id } = await webhooks.register.create(always());
    await emit(blockApplied(1));
    const pauses = DEFAULT_RETRY_PAUSES_MS.slice();
    expect(pauses.map((ms) => ms / 1000)).toEqual([5, 30, 120, 600, 1800, 7200, 18_000, 36_000, 86_400]);
    for (const [index, pauseMs] of pauses.entries()) {
      await clock.advance(pauseMs - 1);
      expect([index, calls.length]).toEqual([index, index + 1]);
      await clock.advance(1);
      expect([index, calls.length]).toEqual([index, index + 2]);
    }
    await clock.advance(30 * 86_400_000);
    expect(calls).toHaveLength(10);
    expect(new Set(calls.map(({ body }) => body)).size).toBe(1);
    expect(new Set(calls.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(new Set(calls.map(({ headers }) => headers["webhook-signature"])).size).toBe(10);
    const [record] = log(id, 10);
    expect(record).toMatchObject({ state: "failed", reason: "HTTP 500" });
    expect(record?.attempts.map(({ status }) => status)).toEqual(calls.map(() => 500));
    expect(record?.attempts.map(({ startedMs }) => startedMs)).toEqual(calls.map(({ atMs }) => atMs));
  });

  test.each([
    ["a redirect", 302, "HTTP 302"],
    ["a refusal", 404, "HTTP 404"],
    ["no response", Object.assign(new Error("connect"), { code: "ECONNREFUSED" }), "ECONNREFUSED: connect"],
  ])("Retries follow %s.", async (_name, reply, reason) => {
    let isFirst = true;
    const { webhooks, emit, calls, clock, log } = createService({
      reply: () => (isFirst ? reply : 204),
    });
    const { id } = await webhooks.register.create(always());
    await emit(blockApplied(1));
    expect(log(id, 1)).toMatchObject([{ state: "pending", attempts: [{}], reason }]);
    isFirst = false;
    await clock.advance(5_000);
    expect(calls).toHaveLength(2);
    expect(log(id, 1)).toMatchObject([
      { state: "delivered", attempts: [{}, { status: 204 }], finishedMs: clock.nowMs() },
    ]);
    expect(log(id, 1)[0]).not.toHaveProperty("reason");
  });

  test("Retries respect Retry-After.", async () => {
    let reply: Reply = { status: 503, retryAfter: "60" };
    const { webhooks, emit, calls, clock } = createService({ reply: () => reply });
    await webhooks.register.create(always());
    await emit(blockApplied(1));
    reply = 200;
    await clock.advance(59_999);
    expect(calls).toHaveLength(1);
    await clock.advance(1);
    expect(calls).toHaveLength(2);
  });

  test("Retries end with 410, which suspends the webhook until it is updated.", async () => {
    let status = 500;
    const { webhooks, store, emit, calls, clock, log } = createService({ reply: () => status });
    const { id } = await webhooks.register.create(always());
    await emit(blockApplied(1));
    status = 410;
    await emit(blockApplied(2));
    expect(log(id, 2).map(({ state, reason }) => [state, reason])).toEqual([
      ["failed", "HTTP 410"],
      ["failed", "the target responded with 410 Gone"],
    ]);
    expect(await webhooks.register.find(`${id}`)).toMatchObject({
      enabled: true,
      suspended: { reason: "the target responded with 410 Gone", sinceMs: clock.nowMs() },
    });
    // It may still receive the retraction of an earlier delivery.
    expect(store.eventNames()).toEqual(new Set(["block.reverted"]));
    status = 200;
    await emit(blockApplied(3));
    await clock.advance(86_400_000);
    expect(heights(calls)).toEqual([1, 2]);

    await webhooks.register.update(`${id}`, { enabled: "true" });
    await emit(blockApplied(4));
    expect(heights(calls)).toEqual([1, 2, 4]);
  });

  test("Retries follow the schedule of the operator.", async () => {
    const { webhooks, emit, calls, clock, log } = createService({
      options: { retryPausesMs: [1_000, 2_000] },
      reply: () => 500,
    });
    await webhooks.register.create(always());
    await emit(blockApplied(1));
    await clock.advance(1_000);
    await clock.advance(2_000);
    expect(calls).toHaveLength(3);
    expect(log(1, 1)).toMatchObject([{ state: "failed" }]);
  });

  test.each<[string, Reply, number]>([
    ["429", 429, 5_000],
    ["429 with Retry-After", { status: 429, retryAfter: "60" }, 60_000],
    ["503 with Retry-After", { status: 503, retryAfter: "60" }, 60_000],
  ])("pause the target after %s, and resume with one request", async (_name, refusal, pauseMs) => {
    let reply = refusal;
    const { webhooks, emit, calls, clock } = createService({ reply: () => reply });
    await webhooks.register.create(always());
    await emit(blockApplied(1));
    await emit(blockApplied(2), blockApplied(3));
    await clock.advance(pauseMs - 1);
    expect(calls).toHaveLength(1);
    reply = "never";
    await clock.advance(1);
    expect(calls).toHaveLength(2);
    await clock.advance(pauseMs);
    expect(calls).toHaveLength(2);
  });

  test.each<[string, Reply]>([
    ["a success", 200],
    ["429 without Retry-After", 429],
  ])(
    "A pause that a target requested is not shortened by %s of a call that began before it.",
    async (_name, reply) => {
      const respond: ((reply: Reply) => void)[] = [];
      const { webhooks, emit, calls, clock } = createService({
        reply: () => new Promise<Reply>((resolve) => respond.push(resolve)),
      });
      await webhooks.register.create(always());
      await emit(blockApplied(1), blockApplied(2));
      expect(calls).toHaveLength(2);
      for (const each of [{ status: 429, retryAfter: "60" }, reply]) {
        respond.shift()?.(each);
        await settle();
      }
      await emit(blockApplied(3));
      await clock.advance(59_999);
      expect(calls).toHaveLength(2);
      await clock.advance(1);
      expect(calls).toHaveLength(3);
    },
  );

  test("Retries after a long Retry-After of one target do not affect the others.", async () => {
    const { webhooks, emit, calls } = createService({
      reply: ({ target }) => (target.includes("busy") ? { status: 429, retryAfter: "3600" } : 200),
    });
    await webhooks.register.create(always("block.applied", "https://busy.example/"));
    await webhooks.register.create(always());
    await emit(blockApplied(1));
    await emit(blockApplied(2));
    expect(heights(calls.filter(({ target }) => target.includes("busy")))).toEqual([1]);
    expect(heights(calls.filter(({ target }) => !target.includes("busy")))).toEqual([1, 2]);
  });

  test("Retries of a target that never responds become rare, and end with suspension.", async () => {
    let isDead = true;
    const { webhooks, emit, calls, clock } = createService({ reply: () => (isDead ? 500 : 200) });
    const { id } = await webhooks.register.create(always());
    for (let height = 1; height <= 20; height++) await emit(blockApplied(height));
    expect(calls).toHaveLength(20);
    // From here on, one request probes the target.
    await emit(blockApplied(21), blockApplied(22));
    expect(calls).toHaveLength(20);
    await clock.advance(5_000);
    expect(calls).toHaveLength(21);
    await clock.advance(9_999);
    expect(calls).toHaveLength(21);
    await clock.advance(1);
    expect(calls).toHaveLength(22);
    isDead = false;
    await clock.advance(300_000);
    expect(new Set(heights(calls)).size).toBe(22);
    expect((await webhooks.register.find(`${id}`)).suspended).toBeUndefined();

    isDead = true;
    for (let day = 0; day < 6; day++) {
      await emit(blockApplied(100 + day));
      await clock.advance(86_400_000);
    }
    expect((await webhooks.register.find(`${id}`)).suspended?.reason).toBe("the target failed for too long");
  });
});
