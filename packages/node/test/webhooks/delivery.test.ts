import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { RETRY_PAUSES_MS } from "../../src/webhooks/delivery/retry.ts";
import {
  always,
  blockApplied,
  type Call,
  createService,
  createTestClock,
  databasePath,
  type Reply,
  settle,
} from "./support.ts";

const heights = (calls: readonly Call[]) => calls.map(({ message }) => message.height);

describe("a delivery", () => {
  test("carries the event, and proves where it comes from", async () => {
    const { webhooks, emit, calls, clock } = createService();
    const { id, token } = await webhooks.register.create(always());
    await emit(blockApplied(7));

    expect(calls).toHaveLength(1);
    const [call] = calls as [Call];
    expect(call.target).toBe("https://receiver.example/hook");
    expect(call.message).toEqual({
      timestamp: clock.nowMs(),
      data: blockApplied(7).data,
      event: "block.applied",
      id: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
      webhookId: id,
      sequence: 1,
      height: 7,
      blockId: "block7",
    });
    const { headers } = call;
    expect(headers["content-type"]).toBe("application/json");
    // The receiver's half of the token completes the header (7.2).
    expect(`${headers.authorization}${token.slice(32)}`).toBe(token);

    // As a Standard Webhooks receiver verifies it, with `whsec_` and the token's bytes in base64.
    const secret = `whsec_${Buffer.from(token, "hex").toString("base64")}`;
    expect(headers["webhook-id"]).toBe(call.message.id);
    expect(headers["webhook-timestamp"]).toBe(`${Math.floor(clock.nowMs() / 1000)}`);
    const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${call.body}`;
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    expect(headers["webhook-signature"]).toBe(
      `v1,${createHmac("sha256", key).update(signed).digest("base64")}`,
    );
  });

  test("has no data for an event without content, and the name that was registered", async () => {
    const { webhooks, emit, calls } = createService();
    await webhooks.register.create(always("round.applied"));
    await webhooks.register.create(always("state:started"));
    await webhooks.register.create(always("state.started"));
    await emit({ id: "round.applied:x:1", name: "round.applied", height: 5, blockId: "x" });
    await emit({ id: "state.started:1", name: "state.started", data: true });
    const messages = calls.map(({ message }) => message);
    expect(messages.map(({ event, data }) => [event, data])).toEqual([
      ["round.applied", undefined],
      ["state:started", true],
      ["state.started", true],
    ]);
    expect(messages[0]).not.toHaveProperty("data");
    expect(messages[1]).not.toHaveProperty("height");
  });

  test("is made when a condition holds, the webhook is enabled and the name fits", async () => {
    const { webhooks, emit, calls } = createService();
    const { register } = webhooks;
    await register.create({
      ...always(),
      conditions: [{ key: "height", condition: "between", value: "2..4" }],
    });
    await register.create({ ...always(), enabled: "false" });
    await register.create(always("block.reverted"));
    await emit(blockApplied(2), blockApplied(3), blockApplied(4));
    expect(heights(calls)).toEqual([3]);
  });

  test("of a fact that comes back has another id", async () => {
    const { webhooks, emit, calls } = createService();
    await webhooks.register.create(always());
    await emit(blockApplied(7));
    await emit(blockApplied(7));
    const [first, second] = calls as [Call, Call];
    expect(first.message.id).not.toBe(second.message.id);
    expect(first.message.sequence).toBeLessThan(second.message.sequence as number);
  });
});

describe("order", () => {
  test("first attempts come in the order of events, one at a time", async () => {
    const answers: ((reply: Reply) => void)[] = [];
    const { webhooks, emit, calls } = createService({
      reply: () => new Promise<Reply>((resolve) => answers.push(resolve)),
    });
    await webhooks.register.create(always());
    await emit(blockApplied(1), blockApplied(2), blockApplied(3));
    for (const expected of [[1], [1, 2], [1, 2, 3]]) {
      expect(heights(calls)).toEqual(expected);
      answers.shift()?.(200);
      await settle();
    }
  });

  test("a failing delivery does not hold back the later ones", async () => {
    const { webhooks, emit, calls, clock } = createService({
      reply: ({ message }) => (message.height === 1 ? 500 : 200),
    });
    await webhooks.register.create(always());
    await emit(blockApplied(1), blockApplied(2), blockApplied(3));
    expect(heights(calls)).toEqual([1, 2, 3]);
    await clock.advance(5_000);
    expect(heights(calls)).toEqual([1, 2, 3, 1]);
  });

  test("nor does a retry that hangs", async () => {
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

  test("in strict order it does", async () => {
    let failures = 2;
    const { webhooks, emit, calls, clock } = createService({
      options: { strictOrder: true },
      reply: ({ message }) => (message.height === 1 && failures-- > 0 ? 500 : 200),
    });
    await webhooks.register.create(always());
    await emit(blockApplied(1), blockApplied(2), blockApplied(3));
    expect(heights(calls)).toEqual([1]);
    await clock.advance(5_000);
    expect(heights(calls)).toEqual([1, 1]);
    await clock.advance(30_000);
    expect(heights(calls)).toEqual([1, 1, 1, 2, 3]);
  });

  test("a slow target does not delay the others", async () => {
    const { webhooks, emit, calls } = createService({
      reply: ({ target }) => (target.includes("slow") ? "never" : 200),
    });
    await webhooks.register.create(always("block.applied", "https://slow.example/"));
    await webhooks.register.create(always());
    await emit(blockApplied(1), blockApplied(2), blockApplied(3));
    expect(heights(calls.filter(({ target }) => target.includes("slow")))).toEqual([1]);
    expect(heights(calls.filter(({ target }) => !target.includes("slow")))).toEqual([1, 2, 3]);
  });

  test("with few places, every webhook has its turn", async () => {
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

describe("retries", () => {
  test("follow the schedule, with one id and one body, until the last one", async () => {
    const { webhooks, emit, calls, clock, deliveries } = createService({ reply: () => 500 });
    const { id } = await webhooks.register.create(always());
    await emit(blockApplied(1));
    const pauses = RETRY_PAUSES_MS.slice();
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
    expect(deliveries.log(id, 10)).toMatchObject([
      { state: "failed", attempts: 10, status: 500, reason: "HTTP 500" },
    ]);
  });

  test.each([
    ["a redirect", 302, "HTTP 302"],
    ["a refusal", 404, "HTTP 404"],
    ["no answer", Object.assign(new Error("connect"), { code: "ECONNREFUSED" }), "ECONNREFUSED: connect"],
  ])("follow %s", async (_name, reply, reason) => {
    let isFirst = true;
    const { webhooks, emit, calls, clock, deliveries } = createService({
      reply: () => (isFirst ? reply : 204),
    });
    const { id } = await webhooks.register.create(always());
    await emit(blockApplied(1));
    expect(deliveries.log(id, 1)).toMatchObject([{ state: "pending", attempts: 1, reason }]);
    isFirst = false;
    await clock.advance(5_000);
    expect(calls).toHaveLength(2);
    expect(deliveries.log(id, 1)).toMatchObject([
      { state: "delivered", attempts: 2, status: 204, reason: null, finishedMs: clock.nowMs() },
    ]);
  });

  test("respect Retry-After", async () => {
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

  test("end with 410, which suspends the webhook until it is updated", async () => {
    let status = 500;
    const { webhooks, store, emit, calls, clock, deliveries } = createService({ reply: () => status });
    const { id } = await webhooks.register.create(always());
    await emit(blockApplied(1));
    status = 410;
    await emit(blockApplied(2));
    expect(deliveries.log(id, 2).map(({ state, status }) => [state, status])).toEqual([
      ["failed", 410],
      ["cancelled", 500],
    ]);
    expect(webhooks.register.find(`${id}`)).toMatchObject({ enabled: true, suspended: expect.any(String) });
    expect(store.eventNames().size).toBe(0);
    status = 200;
    await emit(blockApplied(3));
    await clock.advance(86_400_000);
    expect(heights(calls)).toEqual([1, 2]);

    await webhooks.register.update(`${id}`, { enabled: "true" });
    await emit(blockApplied(4));
    expect(heights(calls)).toEqual([1, 2, 4]);
  });

  test("of a target that is dead become rare, and end with suspension", async () => {
    let isDead = true;
    const { webhooks, emit, calls, clock } = createService({ reply: () => (isDead ? 500 : 200) });
    const { id } = await webhooks.register.create(always());
    for (let height = 1; height <= 20; height++) await emit(blockApplied(height));
    expect(calls).toHaveLength(20);
    // From here on one call finds out whether the target is back.
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
    expect(webhooks.register.find(`${id}`).suspended).toBeUndefined();

    isDead = true;
    for (let day = 0; day < 6; day++) {
      await emit(blockApplied(100 + day));
      await clock.advance(86_400_000);
    }
    expect(webhooks.register.find(`${id}`).suspended).toBe("the target failed for too long");
  });
});

describe("updates and deletions", () => {
  test("an update drops what waits, keeps id and token, and forgets failures", async () => {
    let status = 500;
    const { webhooks, store, emit, calls, clock, deliveries } = createService({ reply: () => status });
    const { id, token } = await webhooks.register.create(always());
    await emit(blockApplied(1));
    await webhooks.register.update(`${id}`, { target: "https://other.example/" });
    status = 200;
    await clock.advance(86_400_000);
    expect(heights(calls)).toEqual([1]);
    expect(deliveries.log(id, 1)).toMatchObject([{ state: "cancelled", reason: "the webhook was updated" }]);
    expect(webhooks.register.find(`${id}`)).toMatchObject({ id, token, target: "https://other.example/" });
    expect(store.recordFailure(id, 5)).toEqual({ failures: 1, failingSinceMs: 5 });
    await emit(blockApplied(2));
    expect(calls[1]).toMatchObject({ target: "https://other.example/" });
    expect(calls[1]?.headers.authorization).toBe(token.slice(0, 32));
  });

  test("an empty update changes nothing", async () => {
    let status = 500;
    const { webhooks, emit, calls, clock } = createService({ reply: () => status });
    const webhook = await webhooks.register.create(always());
    await emit(blockApplied(1));
    await webhooks.register.update(`${webhook.id}`, {});
    expect(webhooks.register.find(`${webhook.id}`)).toEqual(webhook);
    status = 200;
    await clock.advance(5_000);
    expect(heights(calls)).toEqual([1, 1]);
  });

  test("an answer to the old definition says nothing about the new one", async () => {
    let answer: (reply: Reply) => void = () => {};
    const { webhooks, emit } = createService({
      reply: () => new Promise<Reply>((resolve) => (answer = resolve)),
    });
    const { id } = await webhooks.register.create(always());
    await emit(blockApplied(1));
    await webhooks.register.update(`${id}`, { target: "https://other.example/" });
    answer(410);
    await settle();
    expect(webhooks.register.find(`${id}`).suspended).toBeUndefined();
  });

  test("a deletion drops what waits", async () => {
    const { webhooks, emit, calls, clock, deliveries } = createService({ reply: () => 500 });
    const { id } = await webhooks.register.create(always());
    await emit(blockApplied(1));
    await webhooks.register.remove(`${id}`);
    await clock.advance(86_400_000);
    await emit(blockApplied(2));
    expect(calls).toHaveLength(1);
    expect(deliveries.log(id, 1)).toEqual([]);
  });

  test("a webhook sees what happens after its creation was answered, and nothing before", async () => {
    let known: () => void = () => {};
    const { webhooks, emit, calls } = createService({
      webhooksChanged: () => new Promise<void>((resolve) => (known = resolve)),
    });
    const created = webhooks.register.create(always());
    await emit(blockApplied(1));
    known();
    await created;
    await emit(blockApplied(2));
    expect(heights(calls)).toEqual([2]);
  });

  test("an update sees what happens after it, even while the node is told", async () => {
    let known: () => void = () => {};
    let isTold = true;
    const { webhooks, emit, calls } = createService({
      webhooksChanged: async () => {
        if (!isTold) await new Promise<void>((resolve) => (known = resolve));
      },
    });
    const { id } = await webhooks.register.create(always());
    isTold = false;
    const updated = webhooks.register.update(`${id}`, { target: "https://other.example/" });
    await emit(blockApplied(1));
    known();
    await updated;
    expect(calls.map(({ target }) => target)).toEqual(["https://other.example/"]);
  });

  test("a webhook that the node cannot be told of is not created", async () => {
    const { webhooks } = createService({
      webhooksChanged: async () => {
        throw new Error("gone");
      },
    });
    await expect(webhooks.register.create(always())).rejects.toThrow("gone");
    expect(webhooks.register.list({ offset: 0, limit: 10 })).toEqual({ webhooks: [], totalCount: 0 });
  });
});

describe("restarts", () => {
  test("lose nothing and change no id, wherever the process ends", async () => {
    const path = databasePath();
    const clock = createTestClock();
    const seen: Call[] = [];
    const reply = (call: Call): Reply => {
      seen.push(call);
      // Delivery 1 fails, 2 never gets its answer.
      return call.message.height === 1 ? 500 : "never";
    };
    const first = createService({ path, clock, reply });
    await first.webhooks.register.create(always());
    await first.emit(blockApplied(1), blockApplied(2), blockApplied(3));
    // Logged, but the process ends before anybody looks.
    first.database.transaction(() => first.eventLog.append([blockApplied(4)]));
    await first.close();
    expect(heights(seen)).toEqual([1, 2]);

    const second = createService({ path, clock });
    second.webhooks.wake();
    await clock.advance(5_000);
    seen.push(...second.calls);
    expect(heights(seen).sort()).toEqual([1, 1, 2, 2, 3, 4]);
    const idsByHeight = Map.groupBy(seen, ({ message }) => message.height);
    for (const [height, calls] of idsByHeight) {
      expect([height, new Set(calls.map(({ message }) => message.id)).size]).toEqual([height, 1]);
    }
    expect(second.deliveries.log(1, 10).map(({ state, attempts }) => [state, attempts])).toEqual([
      ["delivered", 1],
      ["delivered", 1],
      ["delivered", 1],
      ["delivered", 2],
    ]);
  });

  test("a cursor that comes back from the past makes no second delivery", async () => {
    const { webhooks, emit, calls, eventLog } = createService();
    await webhooks.register.create(always());
    await emit(blockApplied(1), blockApplied(2));
    eventLog.moveCursor("webhooks", 0);
    await emit(blockApplied(3));
    expect(heights(calls)).toEqual([1, 2, 3]);
  });

  test("activate a webhook whose creation was not answered", async () => {
    const path = databasePath();
    const first = createService({ path, webhooksChanged: () => new Promise(() => {}) });
    first.webhooks.register.create(always());
    await settle();
    await first.close();
    const second = createService({ path });
    await second.emit(blockApplied(1));
    expect(heights(second.calls)).toEqual([1]);
  });

  test("many events are matched in several steps", async () => {
    const { webhooks, emit, calls } = createService();
    await webhooks.register.create(always());
    await emit(...Array.from({ length: 120 }, (_, index) => blockApplied(index + 1)));
    for (let turn = 0; turn < 30 && calls.length < 120; turn++) await settle();
    expect(heights(calls)).toEqual(Array.from({ length: 120 }, (_, index) => index + 1));
  });
});

test("the database being busy holds deliveries up and loses none", async () => {
  const path = databasePath();
  const { webhooks, emit, calls, clock, database, deliveries } = createService({ path });
  const { id } = await webhooks.register.create(always());
  // A trigger stands for any write that the database refuses.
  database.execute("CREATE TRIGGER refuse BEFORE UPDATE ON deliveries BEGIN SELECT RAISE(ABORT, 'no'); END");
  await emit(blockApplied(1));
  expect(calls).toHaveLength(1);
  expect(deliveries.log(id, 1)).toMatchObject([{ state: "pending", attempts: 0 }]);
  database.execute("DROP TRIGGER refuse");
  await clock.advance(1_000);
  expect(calls).toHaveLength(1);
  expect(deliveries.log(id, 1)).toMatchObject([{ state: "delivered", attempts: 1 }]);
});

test("finished deliveries are dropped by age and count, and full queues lose their oldest", async () => {
  const retention = { maxAgeMs: 3_600_000, maxFinished: 2, maxWaiting: 1 };
  const { webhooks, emit, clock, deliveries } = createService({
    options: { retention },
    reply: ({ target }) => (target.includes("slow") ? "never" : 200),
  });
  const { id } = await webhooks.register.create(always());
  for (let height = 1; height <= 4; height++) await emit(blockApplied(height));
  deliveries.prune(retention, clock.nowMs());
  expect(deliveries.log(id, 9).map(({ sequence }) => sequence)).toEqual([4, 3]);
  deliveries.prune(retention, clock.nowMs() + 3_600_001);
  expect(deliveries.log(id, 9)).toEqual([]);

  const slow = await webhooks.register.create(always("block.reverted", "https://slow.example/"));
  const reverted = (height: number) => ({ ...blockApplied(height), name: "block.reverted" });
  await emit(reverted(1), reverted(2), reverted(3));
  deliveries.prune(retention, clock.nowMs());
  expect(deliveries.log(slow.id, 9).map(({ state, reason }) => [state, reason])).toEqual([
    ["pending", null],
    ["failed", "the queue was full"],
    ["failed", "the queue was full"],
  ]);
});
