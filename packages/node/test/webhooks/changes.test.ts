import { describe, expect, test } from "vitest";
import {
  always,
  blockApplied,
  createService,
  heights,
  type Reply,
  settle,
} from "../../test-support/webhooks/support.ts";

describe("updates and deletions", () => {
  test("An update with `queue: drop` cancels the queue, keeps id and token, and resets the failures.", async () => {
    let status = 500;
    const { webhooks, database, emit, calls, clock, log } = createService({ reply: () => status });
    const { id, secrets } = await webhooks.register.create(always());
    await emit(blockApplied(1));
    await webhooks.register.update(`${id}`, { target: "https://other.example/", queue: "drop" });
    status = 200;
    await clock.advance(86_400_000);
    expect(heights(calls)).toEqual([1]);
    expect(log(id, 1)).toMatchObject([{ state: "cancelled", reason: "the webhook was updated" }]);
    expect(await webhooks.register.find(`${id}`)).toMatchObject({
      id,
      secrets,
      target: "https://other.example/",
    });
    const failures = database.prepare("SELECT failures, failing_since_ms FROM webhooks WHERE id = ?");
    expect(failures.get(id)).toEqual({ failures: 0, failing_since_ms: null });
    await emit(blockApplied(2));
    expect(calls[1]).toMatchObject({ target: "https://other.example/" });
    expect(calls[1]?.headers.authorization).toBe(secrets.token.slice(0, 32));
  });

  test("An empty update changes nothing.", async () => {
    let status = 500;
    const { webhooks, emit, calls, clock } = createService({ reply: () => status });
    const webhook = await webhooks.register.create(always());
    await emit(blockApplied(1));
    await webhooks.register.update(`${webhook.id}`, {});
    expect(await webhooks.register.find(`${webhook.id}`)).toEqual(webhook);
    status = 200;
    await clock.advance(5_000);
    expect(heights(calls)).toEqual([1, 1]);
  });

  test("A response to a request of the old definition does not change the state of the new one.", async () => {
    let respond: (reply: Reply) => void = () => {};
    const { webhooks, emit } = createService({
      reply: () => new Promise<Reply>((resolve) => (respond = resolve)),
    });
    const { id } = await webhooks.register.create(always());
    await emit(blockApplied(1));
    await webhooks.register.update(`${id}`, { target: "https://other.example/" });
    respond(410);
    await settle();
    expect((await webhooks.register.find(`${id}`)).suspended).toBeUndefined();
  });

  test("A deletion cancels queued deliveries.", async () => {
    const { webhooks, emit, calls, clock, log } = createService({ reply: () => 500 });
    const { id } = await webhooks.register.create(always());
    await emit(blockApplied(1));
    await webhooks.register.remove(`${id}`);
    await clock.advance(86_400_000);
    await emit(blockApplied(2));
    expect(calls).toHaveLength(1);
    await expect(webhooks.log.page(`${id}`, {}, { limit: 1 })).rejects.toThrow(`webhook ${id} not found`);
    expect(log(id, 1)).toEqual([]);
  });

  test("A deletion ends the running call.", async () => {
    let call: AbortSignal | undefined;
    const { webhooks, emit } = createService({
      reply: (_, signal) => {
        call = signal;
        return "never";
      },
    });
    const { id } = await webhooks.register.create(always());
    await emit(blockApplied(1));
    expect(call?.aborted).toBe(false);
    await webhooks.register.remove(`${id}`);
    expect(call?.aborted).toBe(true);
  });

  test("A webhook receives events that occur after the response to its creation, and no earlier ones.", async () => {
    const known = Promise.withResolvers<void>();
    const called = Promise.withResolvers<void>();
    const { webhooks, emit, calls } = createService({
      webhooksChanged: () => {
        called.resolve();
        return known.promise;
      },
    });
    const created = webhooks.register.create(always());
    await called.promise;
    await emit(blockApplied(1));
    known.resolve();
    await created;
    await emit(blockApplied(2));
    expect(heights(calls)).toEqual([2]);
  });

  test("An update applies to events after it, even while the event log is being notified.", async () => {
    const known = Promise.withResolvers<void>();
    const called = Promise.withResolvers<void>();
    let isNotified = true;
    const { webhooks, emit, calls } = createService({
      webhooksChanged: async () => {
        if (isNotified) return;
        called.resolve();
        await known.promise;
      },
    });
    const { id } = await webhooks.register.create(always());
    isNotified = false;
    const updated = webhooks.register.update(`${id}`, { target: "https://other.example/" });
    await called.promise;
    await emit(blockApplied(1));
    known.resolve();
    await updated;
    expect(calls.map(({ target }) => target)).toEqual(["https://other.example/"]);
  });

  test("Concurrent changes notify the node once, and a refused one undoes no other.", async () => {
    let announced = 0;
    const { webhooks } = createService({
      options: { webhookLimit: 2 },
      webhooksChanged: async () => void announced++,
    });
    const { register } = webhooks;
    const created = await Promise.allSettled([1, 2, 3].map(() => register.create(always())));
    expect(created.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    expect(created[2]).toMatchObject({ reason: { code: "WEBHOOK_LIMIT" } });
    expect(announced).toBe(1);
    const changed = await Promise.allSettled([
      register.remove("1"),
      register.remove("1"),
      register.update("2", { target: "https://other.example/" }),
      register.update("2", { enabled: "no" }),
    ]);
    expect(changed.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "rejected"]);
    expect(announced).toBe(2);
    expect((await register.list({ offset: 0, limit: 10 })).webhooks).toMatchObject([
      { id: 2, target: "https://other.example/" },
    ]);
  });

  test("A webhook is not created when the node cannot be notified.", async () => {
    const { webhooks } = createService({
      webhooksChanged: async () => {
        throw new Error("gone");
      },
    });
    await expect(webhooks.register.create(always())).rejects.toThrow("gone");
    expect(await webhooks.register.list({ offset: 0, limit: 10 })).toEqual({ webhooks: [], totalCount: 0 });
  });

  test("A deletion succeeds when the node cannot be notified: the webhook is gone.", async () => {
    let notify = async () => {};
    const { webhooks } = createService({ webhooksChanged: () => notify() });
    const { id } = await webhooks.register.create(always());
    notify = () => Promise.reject(new Error("gone"));
    await webhooks.register.remove(`${id}`);
    expect(await webhooks.register.list({ offset: 0, limit: 10 })).toEqual({ webhooks: [], totalCount: 0 });
  });
});

test("Conditions of all webhooks together take 16 MiB at most, however they were registered.", async () => {
  const { webhooks, store } = createService();
  const { register } = webhooks;
  // 81 webhooks with the largest possible conditions fit.
  const value = "x".repeat(4_096);
  const large = Array.from({ length: 50 }, () => ({ key: "id", condition: "ne", value }));
  for (let count = 0; count < 81; count++) await register.create({ ...always(), conditions: large });
  const full = { code: "WEBHOOK_LIMIT", message: expect.stringContaining("16777216 bytes") };
  await expect(register.create({ ...always(), conditions: large })).rejects.toMatchObject(full);
  const { id } = await register.create(always());
  await expect(register.update(`${id}`, { conditions: large })).rejects.toMatchObject(full);
  expect((await register.find(`${id}`)).conditions).toBe(JSON.stringify(always().conditions));
  await register.update("1", { conditions: large });
  await register.update("1", { conditions: always().conditions });
  await register.update(`${id}`, { conditions: large });
  expect(store.count()).toBe(82);
});
