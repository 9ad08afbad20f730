import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { EVENTS } from "../../../src/events/catalogue.ts";
import { present } from "../../../src/platform/present.ts";
import { openDatabase } from "../../../src/store/engine/database.ts";
import { Attempts } from "../../../src/webhooks/delivery/attempt.ts";
import { readNewWebhook } from "../../../src/webhooks/register/fields.ts";
import {
  always,
  blockApplied,
  type Call,
  createService,
  createTestClock,
  heights,
} from "../../../test-support/webhooks/support.ts";

describe("a delivery", () => {
  test("A delivery has the event, and signatures that authenticate its sender.", async () => {
    const { webhooks, emit, calls, clock } = createService();
    const { id, secrets } = await webhooks.register.create(always());
    await emit(blockApplied(7));

    expect(calls).toHaveLength(1);
    const [call] = calls as [Call];
    const { token } = secrets;
    expect(call.target).toBe("https://receiver.example/hook");
    expect(JSON.parse(call.body)).toEqual({
      timestamp: clock.nowMs(),
      data: blockApplied(7).data,
      event: "block.applied",
      id: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
      webhookId: id,
      height: 7,
      blockId: "block7",
    });
    const { headers } = call;
    expect(headers["webhook-sequence"]).toBe("1");
    expect(headers["content-type"]).toBe("application/json");
    // The receiver's half of the token completes the header (webhooks.md 7.2).
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

  test("A delivery has its sequence and the sender's epoch outside of the signature; a ping has neither.", async () => {
    const sent: Readonly<Record<string, string>>[] = [];
    const clock = createTestClock();
    const attempts = new Attempts({
      clock,
      async post({ headers }) {
        sent.push(headers);
        return { status: 200 };
      },
    });
    const content = { dataText: "{}" };
    const ping = { webhook: 1, id: "msg_1", event: "block.applied", timeMs: 1, content };
    const message = { ...ping, sequence: 17 };
    const outgoing = { secrets: { token: "5".repeat(64) }, target: "https://receiver.example/" };
    const { signal } = new AbortController();
    await attempts.make({ ...outgoing, message: ping }, signal);
    await attempts.make({ ...outgoing, message, epoch: 12 }, signal);
    expect(Object.keys(sent[0] ?? {}).filter((name) => name.startsWith("webhook-"))).toEqual([
      ...["webhook-id", "webhook-timestamp", "webhook-signature"],
    ]);
    expect(sent[1]).toEqual({ ...sent[0], "webhook-sequence": "17", "webhook-epoch": "12" });
  });

  test("A delivery has a duration that a change of the time of day does not affect.", async () => {
    const clock = createTestClock();
    let changedMs = 0;
    const attempts = new Attempts({
      clock: { ...clock, nowMs: () => clock.nowMs() + changedMs },
      async post() {
        changedMs = -3_600_000;
        await clock.advance(40);
        return { status: 200 };
      },
    });
    const message = { webhook: 1, id: "msg_1", event: "block.applied", timeMs: 1, content: {} };
    const outgoing = { message, secrets: { token: "5".repeat(64) }, target: "https://receiver.example/" };
    const startedMs = clock.nowMs();
    const attempted = await attempts.make(outgoing, new AbortController().signal);
    expect(attempted).toEqual({ startedMs, durationMs: 40, status: 200 });
  });

  test("A delivery has no data for an event without content, and has the registered name.", async () => {
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

  test("A delivery is created when a condition is true, the webhook is enabled and the name matches.", async () => {
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
});

describe("a webhook of several events", () => {
  test("A webhook of several events receives each of them once, under its name.", async () => {
    const { webhooks, store, emit, calls } = createService();
    await webhooks.register.create({
      ...always("state:started"),
      events: ["state.*", "block.*", "block.applied", "transaction.pool.removed"],
    });
    expect(store.eventNames()).toEqual(
      new Set([
        "state.started",
        "block.applied",
        "block.disregarded",
        "block.finalized",
        "block.forged",
        "block.received",
        "block.reverted",
        "transaction.pool.removed",
      ]),
    );
    await emit(
      { id: "a", name: "state.started", data: true },
      blockApplied(1),
      { id: "c", name: "transaction.pool.removed", data: {} },
      { id: "d", name: "transaction.applied", data: {} },
    );
    expect(calls.map(({ message }) => [message.event, message.sequence])).toEqual([
      ["state:started", 1],
      ["block.applied", 2],
      ["transaction.pool.removed", 3],
    ]);
  });

  test("A webhook of several events can subscribe to everything.", async () => {
    const { webhooks, store } = createService();
    await webhooks.register.create({ ...always(), events: ["*"] });
    const logged = Object.keys(EVENTS).filter((name) => name !== "state:started");
    expect(store.eventNames()).toEqual(new Set(logged));
  });
});

test("A webhook can require all of its conditions.", async () => {
  const { webhooks, emit, calls } = createService();
  const conditions = [
    { key: "height", condition: "gt", value: "1" },
    { key: "height", condition: "lt", value: "4" },
    { key: "id", condition: "ne", value: "block3" },
  ];
  await webhooks.register.create({ ...always(), conditions, match: "all" });
  await webhooks.register.create({ ...always(), conditions });
  await emit(...[1, 2, 3, 4].map(blockApplied));
  const of = (webhook: number) => heights(calls.filter(({ message }) => message.webhookId === webhook));
  expect([of(1), of(2)]).toEqual([[2], [1, 2, 3, 4]]);
  await webhooks.register.update("2", { match: "all" });
  await webhooks.register.update("1", { match: "any" });
  calls.length = 0;
  await emit(...[5, 6].map(blockApplied));
  expect([of(1), of(2)]).toEqual([[5, 6], []]);
});

test("Rows that no registration creates always match without conditions, and never with unreadable ones.", async () => {
  const { store, emit, calls } = createService();
  const fields = readNewWebhook(always());
  for (const conditions of ["[]", '[{"key":"height","condition":"between","value":"x"}]', "{"]) {
    store.activate(store.insert({ ...fields, conditions }, "00".repeat(32)).id, 0);
  }
  await emit(blockApplied(1));
  expect(calls.map(({ message }) => message.webhookId)).toEqual([1]);
});

describe("outcomes", () => {
  const hanging = "https://hanging.example/hook";
  const reply = ({ target }: Call) => (target === hanging ? "never" : 200);

  test("Outcomes are written together while many requests are in flight, without waiting for missing responses.", async () => {
    const { webhooks, emit, log, clock } = createService({ reply });
    for (let count = 0; count < 20; count++) {
      await webhooks.register.create(always("block.applied", hanging));
    }
    const { id } = await webhooks.register.create(always());
    await emit(blockApplied(1));
    expect(log(id, 1)).toMatchObject([{ state: "pending" }]);
    await clock.advance(2);
    expect(log(id, 1)).toMatchObject([{ state: "delivered" }]);
  });

  test("Outcomes are written when the service closes, although other requests have not ended.", async () => {
    const { webhooks, emit, database, close } = createService({ reply });
    for (let count = 0; count < 20; count++) {
      await webhooks.register.create(always("block.applied", hanging));
    }
    await webhooks.register.create(always());
    await emit(blockApplied(1));
    const path = present(
      database.prepare<{ file: string }>("SELECT file FROM pragma_database_list WHERE name = 'main'").get(),
    ).file;
    await close();
    const later = openDatabase(path, { readonly: true });
    const { count } = present(
      later
        .prepare<{ count: number }>("SELECT count(*) AS count FROM deliveries WHERE state = 'delivered'")
        .get(),
    );
    later.close();
    expect(count).toBe(1);
  });
});
