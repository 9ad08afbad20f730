/** Replay of a range of the chain. */
import { pino } from "pino";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { HistoryError } from "../../src/event-log/history.ts";
import type { Event } from "../../src/events/catalogue.ts";
import { present } from "../../src/platform/present.ts";
import { isVerified, secretOf } from "../../test-support/webhooks/receiver.ts";
import {
  always,
  blockApplied,
  blockReverted,
  type Call,
  createService,
  createTestClock,
  databasePath,
  heights,
  type Reply,
  type Service,
  type ServiceOptions,
  settle,
} from "../../test-support/webhooks/support.ts";
import { serve } from "./serve.ts";

const transaction = (height: number, index = 0): Event => ({
  id: `transaction.applied:block${height}:${index}`,
  name: "transaction.applied",
  height,
  blockId: `block${height}`,
  data: { id: `t${height}.${index}`, amount: `${height}` },
});
const blockOf = (height: number): Event[] => [transaction(height), blockApplied(height)];
const chainOf = (length: number) => Array.from({ length }, (_, index) => blockOf(index + 1));
const both = { ...always(), events: ["transaction.applied"] };
const range = (fromHeight: number, toHeight: number) => ({ fromHeight, toHeight });

const saw = (calls: readonly Call[]) => calls.map(({ message }) => `${message.event} ${message.height}`);
const expected = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => [
    `transaction.applied ${from + index}`,
    `block.applied ${from + index}`,
  ]).flat();

/** Waits until nothing happens. */
async function finish({ webhooks, clock }: Service, id = "1") {
  for (let turn = 0; turn < 1_000 && (await webhooks.replays.find(id)).state === "running"; turn++) {
    await clock.advance(5);
  }
  await settle();
  return await webhooks.replays.find(id);
}

async function start(body: object = {}, options: ServiceOptions = {}) {
  const service = createService({ chain: chainOf(10), ...options });
  const { secrets } = await service.webhooks.register.create({ ...both, order: "strict", ...body });
  return { ...service, secrets };
}

describe("a replay", () => {
  test("A replay delivers the events of a range in order, with the same conditions and signatures as live events.", async () => {
    const conditions = [{ key: "amount", condition: "gte", value: "3" }];
    const service = await start({ conditions });
    await service.webhooks.replays.start("1", range(2, 5));
    expect(await finish(service)).toMatchObject({ state: "finished", events: 3, waiting: 0, nextHeight: 6 });
    expect(saw(service.calls)).toEqual([3, 4, 5].map((height) => `transaction.applied ${height}`));
    for (const { headers, body, atMs } of service.calls) {
      expect(isVerified(secretOf(service.secrets.token), { headers, body }, atMs)).toBe(true);
    }
    expect(service.calls.map(({ message }) => message.sequence)).toEqual([1, 2, 3]);
  });

  test("A replay sends delivered events again with the same ids and numbers, and others for the first time.", async () => {
    const service = await start();
    const { calls, emit, webhooks, log } = service;
    await emit(...blockOf(4));
    const live = calls.splice(0);
    await webhooks.replays.start("1", range(3, 5));
    await finish(service);
    expect(saw(calls)).toEqual(expected(3, 5));
    const again = calls.filter(({ message }) => message.height === 4);
    expect(again.map(({ body }) => body)).toEqual(live.map(({ body }) => body));
    expect(new Set(calls.map(({ message }) => message.sequence))).toEqual(new Set([1, 2, 3, 4, 5, 6]));
    expect(log(1, 10).map(({ state, attempts }) => [state, attempts.length])).toEqual([
      ...Array.from({ length: 4 }, () => ["delivered", 1]),
      ["delivered", 2],
      ["delivered", 2],
    ]);
  });

  test("A replay creates only ids that live events would have.", async () => {
    const service = await start();
    await service.webhooks.replays.start("1", range(1, 10));
    await finish(service);
    const replayed = service.calls.map(({ message }) => message.id);
    const live = await start();
    await live.emit(...chainOf(10).flat());
    while (live.calls.length < 20) await settle();
    expect(live.calls.map(({ message }) => message.id)).toEqual(replayed);
  });

  test("A replay does not repeat events that were delivered since it started.", async () => {
    let respond: (reply: Reply) => void = () => {};
    const service = await start({}, { reply: () => new Promise<Reply>((resolve) => (respond = resolve)) });
    const { webhooks, calls, emit, clock } = service;
    await webhooks.replays.start("1", range(1, 10));
    await clock.advance(5);
    expect(saw(calls)).toEqual(["transaction.applied 1"]);
    await emit(...blockOf(11));
    for (let turn = 0; turn < 100 && calls.length < 22; turn++) {
      respond(200);
      await clock.advance(5);
    }
    // Live events precede the rest of the past.
    expect(saw(calls)).toEqual([
      "transaction.applied 1",
      "transaction.applied 11",
      "block.applied 11",
      ...expected(1, 10).slice(1),
    ]);
  });

  test.each([
    new HistoryError("HISTORY_BUILDING", "the mirror is being built"),
    new Error("database disk image is malformed"),
  ])("A replay waits while past events cannot be read; live events do not: %s", async (error) => {
    let canRead = true;
    const checkRead = () => {
      if (!canRead) throw error;
    };
    const lines: string[] = [];
    const service = await start(
      {},
      {
        createPastEvents: () => ({
          head() {
            checkRead();
            return 10;
          },
          eventsAt(height) {
            checkRead();
            return blockOf(height);
          },
        }),
        logger: pino({ level: "warn" }, { write: (line) => lines.push(line) }),
      },
    );
    const { webhooks, calls, emit, clock } = service;
    await webhooks.replays.start("1", range(2, 3));
    canRead = false;
    await clock.advance(5_000);
    for (const height of [11, 12]) await emit(...blockOf(height));
    expect(saw(calls)).toEqual(expected(11, 12));
    expect(await webhooks.replays.find("1")).toMatchObject({ state: "running", nextHeight: 2 });
    expect(lines).toEqual([expect.stringContaining("failed to read past events; replays wait")]);
    canRead = true;
    await emit(...blockOf(13));
    expect(await finish(service)).toMatchObject({ state: "finished", events: 4 });
    expect(saw(calls).toSorted()).toEqual([...expected(2, 3), ...expected(11, 13)].toSorted());
  });

  test("A replay reads a block once, even if that takes longer than a step.", async () => {
    let nowMs = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => nowMs);
    onTestFinished(() => clock.mockRestore());
    const reads: number[] = [];
    const service = await start(
      { conditions: [{ key: "amount", condition: "eq", value: "0" }] },
      {
        createPastEvents: () => ({
          head: () => 2,
          eventsAt(height) {
            reads.push(height);
            nowMs += 400;
            return Array.from({ length: 50 }, (_, index) => transaction(height, index));
          },
        }),
      },
    );
    await service.webhooks.replays.start("1", range(1, 2));
    expect(await finish(service)).toMatchObject({ state: "finished", events: 0 });
    expect(reads).toEqual([1, 2]);
  });

  test("A replay of a long range queues few deliveries at a time, and does not delay live events.", async () => {
    const chain = chainOf(1_000);
    const open: ((reply: Reply) => void)[] = [];
    const service = await start(
      { order: "parallel" },
      {
        chain,
        reply: ({ message }) =>
          Number(message.height) > 1_000 ? 200 : new Promise<Reply>((resolve) => open.push(resolve)),
      },
    );
    const { webhooks, calls, clock, emit } = service;
    await webhooks.replays.start("1", range(1, 1_000));
    await clock.advance(500);
    expect(calls).toHaveLength(2);
    const { waiting, nextHeight } = await webhooks.replays.find("1");
    expect(waiting).toBeLessThanOrEqual(200);
    expect(nextHeight).toBeLessThanOrEqual(101);
    await emit(...Array.from({ length: 20 }, (_, index) => blockApplied(1_001 + index)));
    expect(heights(calls).filter((height) => Number(height) > 1_000)).toHaveLength(20);
    while ((await webhooks.replays.find("1")).state === "running") {
      for (const respond of open.splice(0)) respond(200);
      await clock.advance(5);
    }
    expect(calls).toHaveLength(2_020);
  });

  test("A replay does not wait for the replay of another webhook, whose target does not respond.", async () => {
    const service = await start({}, { reply: ({ message }) => (message.webhookId === 1 ? "never" : 200) });
    const { webhooks, clock, calls } = service;
    for (let id = 2; id <= 3; id++) await webhooks.register.create(both);
    for (const id of ["1", "2", "3"]) await webhooks.replays.start(id, range(1, 10));
    await clock.advance(1_000);
    const states = await Promise.all(
      ["1", "2", "3"].map(async (id) => (await webhooks.replays.find(id)).state),
    );
    expect(states).toEqual(["running", "finished", "finished"]);
    expect(calls).toHaveLength(41);
  });

  test("A replay respects confirmations: events with too few of them are delivered later.", async () => {
    const service = await start({ confirmations: 3 });
    const { webhooks, emit, calls } = service;
    await emit(...chainOf(10).slice(5).flat());
    expect(saw(calls.splice(0))).toEqual(expected(6, 7));
    await webhooks.replays.start("1", range(5, 10));
    expect(await finish(service)).toMatchObject({ toHeight: 7, state: "finished" });
    expect(saw(calls.splice(0))).toEqual(expected(5, 7));
    await emit(blockApplied(11));
    expect(saw(calls)).toEqual(expected(8, 8));
  });

  test("A replay waits for blocks whose webhook gets more confirmations meanwhile.", async () => {
    const chain = chainOf(200);
    const gate = Promise.withResolvers<Reply>();
    const service = await start({}, { chain, reply: () => gate.promise });
    const { webhooks, emit, clock, calls } = service;
    await webhooks.replays.start("1", range(1, 200));
    await clock.advance(5);
    await webhooks.register.update("1", { confirmations: 3 });
    gate.resolve(200);
    for (let turn = 0; turn < 500; turn++) await clock.advance(5);
    expect(await webhooks.replays.find("1")).toMatchObject({ state: "running", nextHeight: 198 });
    expect(heights(calls)).not.toContain("198");
    for (const height of [201, 202, 203]) {
      chain.push(blockOf(height));
      await emit(...blockOf(height));
    }
    expect(await finish(service)).toMatchObject({ state: "finished" });
    expect(new Set(heights(calls)).size).toBe(200);
  });

  test("A replay continues at its position after a restart.", async () => {
    const path = databasePath();
    const clock = createTestClock();
    const seen: Call[] = [];
    let responded = 0;
    const options: ServiceOptions = {
      path,
      clock,
      chain: chainOf(400),
      reply(call) {
        seen.push(call);
        return responded++ < 120 ? 200 : "never";
      },
    };
    const first = await start({}, options);
    await first.webhooks.replays.start("1", range(1, 400));
    await clock.advance(2_000);
    expect(await first.webhooks.replays.find("1")).toMatchObject({ state: "running" });
    await first.close();
    responded = Number.NEGATIVE_INFINITY;
    const second = createService(options);
    second.webhooks.notify();
    expect(await finish(second)).toMatchObject({ state: "finished", events: 800 });
    // The request that the end of the process interrupted is repeated.
    expect(saw(seen).filter((what, index) => what !== saw(seen)[index - 1])).toEqual(expected(1, 400));
    const sequences = seen.map(({ message }) => Number(message.sequence));
    expect(new Set(sequences)).toEqual(new Set(Array.from({ length: 800 }, (_, index) => index + 1)));
  });

  test("A replay of a failing target waits in strict order, and delays no live event.", async () => {
    let status = 500;
    const service = await start({}, { reply: ({ message }) => (message.height === 1 ? status : 200) });
    const { webhooks, calls, clock, emit } = service;
    await webhooks.replays.start("1", range(1, 2));
    await clock.advance(100);
    expect(saw(calls)).toEqual(["transaction.applied 1"]);
    await emit(...blockOf(11));
    expect(saw(calls).slice(1)).toEqual(expected(11, 11));
    status = 200;
    await clock.advance(5_000);
    expect(saw(calls).slice(3)).toEqual(expected(1, 2));
    expect(await finish(service)).toMatchObject({ state: "finished" });
  });

  test("A replay of a failing target leaves the failures to the retries in parallel order.", async () => {
    let status = 500;
    const service = await start(
      { order: "parallel" },
      { reply: ({ message }) => (message.height === 1 ? status : 200) },
    );
    const { webhooks, calls, clock } = service;
    await webhooks.replays.start("1", range(1, 3));
    await finish(service);
    expect(saw(calls)).toEqual(expected(1, 3));
    status = 200;
    await clock.advance(6_000);
    expect(saw(calls).slice(6)).toEqual(expected(1, 1));
  });
});

describe("a block that is reverted during a replay", () => {
  test("A block that is reverted during a replay is retracted, and no longer delivered.", async () => {
    const chain = chainOf(10);
    const open: ((reply: Reply) => void)[] = [];
    const service = await start(
      {},
      { chain, reply: () => new Promise<Reply>((resolve) => open.push(resolve)) },
    );
    const { webhooks, calls, clock, emit } = service;
    const next = async () => {
      open.shift()?.(200);
      await clock.advance(5);
    };
    await webhooks.replays.start("1", range(9, 10));
    await clock.advance(5);
    await next();
    expect(saw(calls)).toEqual(["transaction.applied 9", "block.applied 9"]);
    // Blocks 10 and 9 are reverted while the second message is in flight; another block follows.
    const other: Event = { ...blockApplied(9), id: "block.applied:other9", blockId: "other9" };
    chain.splice(8, 2, [other]);
    await emit(blockReverted(10), blockReverted(9), other);
    while ((await webhooks.replays.find("1")).state === "running" || open.length > 0) await next();
    expect(saw(calls).slice(2)).toEqual([
      // Block 10 was queued and never sent, but whether a request was made is unknown.
      "transaction.reverted 10",
      "block.reverted 10",
      "transaction.reverted 9",
      "block.reverted 9",
      "block.applied 9",
    ]);
    const held = new Set<unknown>();
    for (const { message } of calls) {
      if (message.reverts === undefined) held.add(message.id);
      else held.delete(message.reverts);
    }
    expect(held).toEqual(new Set([present(calls.at(-1)).message.id]));
    expect(present(calls.at(-1)).message.blockId).toBe("other9");
  });

  test("A block that is reverted during a replay is retracted only after the event log contains the revert.", async () => {
    const chain = chainOf(10);
    const service = await start({}, { chain });
    const { webhooks, calls, emit, eventLog, database } = service;
    await emit(...blockOf(10));
    calls.length = 0;
    // The chain is ahead of the webhooks: block 10 is another one already.
    const other: Event = { ...blockApplied(10), id: "block.applied:other10", blockId: "other10" };
    chain.splice(9, 1, [other]);
    database.transaction(() => eventLog.append([blockReverted(10), other]));
    await webhooks.replays.start("1", range(10, 10));
    await finish(service);
    expect(calls.map(({ message }) => [message.event, message.blockId])).toEqual([
      ["transaction.reverted", "block10"],
      ["block.reverted", "block10"],
      ["block.applied", "other10"],
    ]);
  });
});

describe("the end of a replay", () => {
  const hanging = { reply: () => "never" as const };

  test("The end of a replay follows at once when it is cancelled.", async () => {
    const service = await start({}, hanging);
    const { webhooks, clock, log } = service;
    await webhooks.replays.start("1", range(1, 10));
    await clock.advance(10);
    await webhooks.replays.cancel("1");
    expect(await webhooks.replays.find("1")).toMatchObject({ state: "cancelled", waiting: 0 });
    expect(log(1, 1)).toMatchObject([{ state: "cancelled", reason: "the replay was cancelled" }]);
    await expect(webhooks.replays.cancel("1")).rejects.toThrow(
      expect.objectContaining({ code: "REPLAY_UNKNOWN" }),
    );
    await webhooks.replays.start("1", range(1, 10));
    await clock.advance(100);
    expect(await webhooks.replays.find("1")).toMatchObject({ state: "running", waiting: 20 });
  });

  test("The end of a replay follows an update that drops the queue, a suspension, and a removal.", async () => {
    const service = await start({}, hanging);
    const { webhooks, clock } = service;
    await webhooks.replays.start("1", range(1, 10));
    await clock.advance(10);
    await webhooks.register.update("1", { enabled: false, queue: "drop" });
    expect(await webhooks.replays.find("1")).toMatchObject({
      state: "cancelled",
      reason: "the webhook was updated",
      waiting: 0,
    });
    await expect(webhooks.replays.start("1", range(1, 10))).rejects.toThrow(
      expect.objectContaining({ code: "WEBHOOK_OFF" }),
    );
    await webhooks.register.remove("1");
    await expect(webhooks.replays.find("1")).rejects.toThrow(
      expect.objectContaining({ code: "WEBHOOK_UNKNOWN" }),
    );

    const gone = await start({}, { reply: () => 410 });
    await gone.webhooks.replays.start("1", range(1, 10));
    await gone.clock.advance(100);
    expect(await gone.webhooks.replays.find("1")).toMatchObject({
      state: "cancelled",
      reason: "the target responded with 410 Gone",
      waiting: 0,
    });
  });
});

describe("a replay of a paused webhook", () => {
  test("A replay of a paused webhook continues at its position on resumption, with the same messages in order.", async () => {
    let isDown = true;
    const service = await start({}, { reply: ({ message }) => (isDown && message.height === 3 ? 500 : 200) });
    const { webhooks, clock, calls } = service;
    await webhooks.replays.start("1", range(1, 10));
    await clock.advance(100);
    expect(saw(calls).at(-1)).toBe("transaction.applied 3");
    await webhooks.register.update("1", { enabled: false });
    const before = calls.length;
    await clock.advance(100_000);
    expect(await webhooks.replays.find("1")).toMatchObject({ state: "running" });
    expect(calls).toHaveLength(before);
    isDown = false;
    await webhooks.register.update("1", { target: "https://other.example/", enabled: true });
    expect(await finish(service)).toMatchObject({ state: "finished", events: 20, waiting: 0 });
    const ids = new Set(calls.map(({ message }) => message.id));
    expect([ids.size, [...new Set(saw(calls))]]).toEqual([20, expected(1, 10)]);
  });
});

describe("the paths of a replay", () => {
  test.each(["/api", "/api/v2"])("The paths of a replay respond under %s.", async (prefix) => {
    const service = await serve(undefined, { chain: chainOf(10), reply: () => "never" });
    const { ask, create, clock } = service;
    await create(both);
    const path = `${prefix}/webhooks/1/replay`;
    expect(await ask("GET", path)).toMatchObject({
      status: 404,
      body: { message: "webhook 1 has no replay: POST /api/v2/webhooks/1/replay starts one" },
    });
    const begun = await ask("POST", path, { body: range(3, 1_000_000) });
    expect(begun).toMatchObject({
      status: 202,
      body: {
        data: { fromHeight: 3, toHeight: 10, nextHeight: 3, events: 0, waiting: 0, state: "running" },
      },
    });
    expect(Object.keys(begun.body.data)).toEqual([
      ...["fromHeight", "toHeight", "nextHeight", "events", "state", "waiting", "startedAt"],
    ]);
    await clock.advance(50);
    expect((await ask("GET", path)).body.data).toMatchObject({ nextHeight: 11, events: 16, waiting: 16 });
    const replay = { fromHeight: 3, toHeight: 10, nextHeight: 11 };
    expect((await ask("GET", `${prefix}/webhooks/1?health=true`)).body.data.replay).toEqual(replay);
    expect((await ask("GET", `${prefix}/webhooks?health=true`)).body.data[0].replay).toEqual(replay);
    expect(await ask("POST", path, { body: range(1, 2) })).toMatchObject({ status: 409 });
    expect(await ask("DELETE", path)).toMatchObject({ status: 200, body: {} });
    expect(await ask("DELETE", path)).toMatchObject({ status: 404 });
    expect((await ask("GET", path)).body.data).toMatchObject({
      state: "cancelled",
      reason: "by request",
      finishedAt: expect.any(Number),
    });
    expect((await ask("GET", `${prefix}/webhooks/1?health=true`)).body.data).not.toHaveProperty("replay");
  });

  test.each([
    [{}, '"fromHeight" is required'],
    [{ fromHeight: 1 }, '"toHeight" is required'],
    [range(0, 1), '"fromHeight" must be an integer from 1 to 2^53 - 1'],
    [
      range(2, 1),
      '"fromHeight" must not be greater than "toHeight", nor than 10, the last height whose events are delivered',
    ],
    [
      range(11, 12),
      '"fromHeight" must not be greater than "toHeight", nor than 10, the last height whose events are delivered',
    ],
    [{ ...range(1, 2), speed: 1 }, '"speed" is not allowed; allowed: fromHeight, toHeight'],
    [[], "the body must be an object"],
  ])("The paths of a replay refuse %j.", async (body, message) => {
    const { ask, create } = await serve(undefined, { chain: chainOf(10) });
    await create(both);
    expect(await ask("POST", "/api/webhooks/1/replay", { body })).toMatchObject({
      status: 422,
      body: { message },
    });
    expect(await ask("GET", "/api/webhooks/1/replay")).toMatchObject({ status: 404 });
  });

  test("No replay starts while no block has enough confirmations.", async () => {
    const { ask, create } = await serve(undefined, { chain: chainOf(10) });
    await create({ ...both, confirmations: 100 });
    const { status, body } = await ask("POST", "/api/webhooks/1/replay", { body: range(1, 5) });
    expect({ status, message: body.message }).toEqual({
      status: 422,
      message:
        '"fromHeight" must not be greater than "toHeight", nor than 0, the last height whose events are delivered',
    });
  });

  test("The paths of a replay refuse webhooks without events that can be derived, and disabled or unknown ones.", async () => {
    const { ask, create } = await serve(undefined, { chain: chainOf(10) });
    await create({ event: "wallet.saved" });
    await create({ ...both, enabled: "false" });
    const begin = (id: number) => ask("POST", `/api/webhooks/${id}/replay`, { body: range(1, 2) });
    expect(await begin(1)).toMatchObject({ status: 422 });
    expect(await begin(2)).toMatchObject({ status: 409 });
    for (const method of ["GET", "POST", "DELETE"] as const) {
      const body = method === "POST" ? { body: range(1, 2) } : {};
      expect(await ask(method, "/api/webhooks/3/replay", body)).toMatchObject({ status: 404 });
    }
    // The error of the body is reported first, whatever the webhook.
    const half = { body: { fromHeight: 1 } };
    expect(await ask("POST", "/api/webhooks/3/replay", half)).toMatchObject({ status: 422 });
  });
});
