import { describe, expect, test } from "vitest";
import { ROWS_READ_AT_ONCE } from "../../../src/webhooks/storage/delivery-rows.ts";
import { createDeliveryRows } from "../../../test-support/webhooks/sqlite-register.ts";
import { blockApplied, type Reply, settle } from "../../../test-support/webhooks/support.ts";
import { BODY, serve, TOKEN } from "../serve.ts";

/** Webhook for every applied block, with its API. */
async function serveBlocks(reply?: () => Reply | Promise<Reply>) {
  const served = await serve(undefined, reply && { reply });
  await served.create({
    event: "block.applied",
    conditions: [{ key: "id", condition: "ne", value: "" }],
  });
  return served;
}

describe("the delivery log", () => {
  test("The delivery log lists every delivery with each of its attempts.", async () => {
    const headers = "retry-after: 9";
    let reply: Reply = { status: 503, excerpt: "not now", headers };
    const { ask, emit, clock } = await serveBlocks(() => reply);
    const createdAt = clock.nowMs();
    await emit(blockApplied(7));
    const waiting = {
      id: 1,
      messageId: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
      sequence: 1,
      event: "block.applied",
      height: 7,
      blockId: "block7",
      state: "pending",
      reason: "HTTP 503",
      createdAt,
      nextAttemptAt: createdAt + 5_000,
      attempts: [
        { startedAt: createdAt, durationMs: 0, status: 503, response: "not now", responseHeaders: headers },
      ],
    };
    expect((await ask("GET", "/api/webhooks/1/deliveries")).body).toEqual({
      meta: { count: 1, next: null },
      data: [waiting],
    });
    reply = Object.assign(new Error("reset"), { code: "ECONNRESET" });
    await clock.advance(5_000);
    reply = 204;
    await clock.advance(30_000);
    const { nextAttemptAt: _due, reason: _reason, ...done } = waiting;
    const delivered = {
      ...done,
      state: "delivered",
      finishedAt: createdAt + 35_000,
      attempts: [
        ...waiting.attempts,
        { startedAt: createdAt + 5_000, durationMs: 0, error: "ECONNRESET" },
        { startedAt: createdAt + 35_000, durationMs: 0, status: 204 },
      ],
    };
    const { body } = await ask("GET", "/api/v2/webhooks/1/deliveries");
    expect(body.data).toEqual([delivered]);
    const one = { ...delivered, body: blockApplied(7) };
    for (const key of ["1", body.data[0].messageId]) {
      const found = (await ask("GET", `/api/webhooks/1/deliveries/${key}`)).body.data;
      expect(found).toMatchObject({
        ...delivered,
        body: { event: "block.applied", height: 7 },
      });
      expect(found.body.id).toBe(found.messageId);
      expect(found.body.data).toEqual(one.body.data);
    }
  });

  test("The delivery log is paged, newest first.", async () => {
    const { ask, emit } = await serveBlocks();
    await emit(...[1, 2, 3, 4, 5].map(blockApplied));
    const heights = ({ body }: { body: { data: { height: number }[] } }) =>
      body.data.map(({ height }) => height);
    const first = await ask("GET", "/api/webhooks/1/deliveries?limit=2&state=delivered");
    expect(heights(first)).toEqual([5, 4]);
    expect(first.body.meta).toEqual({
      count: 2,
      next: "/api/v2/webhooks/1/deliveries?limit=2&state=delivered&cursor=4",
    });
    // Deliveries that arrive meanwhile move nothing.
    await emit(blockApplied(6));
    const second = await ask("GET", first.body.meta.next);
    expect(heights(second)).toEqual([3, 2]);
    const third = await ask("GET", second.body.meta.next);
    expect(heights(third)).toEqual([1]);
    expect(third.body.meta).toEqual({ count: 1, next: null });
  });

  test("The delivery log is filtered by state, event, height and time.", async () => {
    let reply: Reply = 200;
    const { ask, emit, clock, webhooks } = await serveBlocks(() => reply);
    await emit(blockApplied(1));
    const laterMs = clock.nowMs() + 1_000;
    await clock.advance(1_000);
    reply = 500;
    await emit(blockApplied(2));
    await webhooks.ping("1");
    const found = async (query: string) =>
      (await ask("GET", `/api/webhooks/1/deliveries?${query}`)).body.data.map(
        ({ event, height }: { event: string; height?: number }) => height ?? event,
      );
    expect(await found("")).toEqual(["ping", 2, 1]);
    expect(await found("state=delivered")).toEqual([1]);
    expect(await found("state=pending")).toEqual([2]);
    expect(await found("state=failed")).toEqual(["ping"]);
    expect(await found("state=cancelled")).toEqual([]);
    expect(await found("event=block.applied")).toEqual([2, 1]);
    expect(await found("height=2")).toEqual([2]);
    expect(await found("height=2&state=delivered")).toEqual([]);
    expect(await found(`from=${laterMs}`)).toEqual(["ping", 2]);
    expect(await found(`to=${laterMs - 1}`)).toEqual([1]);
    expect(await found(`from=${laterMs}&to=${laterMs}&event=block.applied`)).toEqual([2]);
  });

  test.each([
    "state=lost",
    "height=0",
    "height=x",
    "from=-1",
    "to=1.5",
    "limit=0",
    "limit=101",
    "cursor=0",
    "event=",
    "page=1",
    "state=failed&state=failed",
  ])("?%s is refused", async (query) => {
    const { ask } = await serveBlocks();
    expect((await ask("GET", `/api/webhooks/1/deliveries?${query}`)).status).toBe(422);
  });

  test("The delivery log lists only the deliveries of one webhook, and requires the token.", async () => {
    const { ask, create, emit } = await serveBlocks();
    await create(BODY);
    await emit(blockApplied(1));
    for (const path of [
      "9/deliveries",
      "2/deliveries/1",
      "1/deliveries/2",
      "1/deliveries/msg_0",
      "9/deliveries/1",
    ]) {
      expect([path, (await ask("GET", `/api/webhooks/${path}`)).status]).toEqual([path, 404]);
      expect([path, (await ask("GET", `/api/webhooks/${path}`, { headers: {} })).status]).toEqual([
        path,
        401,
      ]);
    }
    expect((await ask("GET", "/api/webhooks/2/deliveries")).body.data).toEqual([]);
  });
});

describe("sending again", () => {
  test("The route for sending again repeats a delivery with its id and body, in any state.", async () => {
    let reply: Reply = 200;
    const { ask, emit, calls, clock } = await serveBlocks(() => reply);
    await emit(blockApplied(1));
    reply = 500;
    expect((await ask("POST", "/api/webhooks/1/deliveries/1/retry", { body: {} })).text).toBe("{}");
    await settle();
    expect(calls).toHaveLength(2);
    reply = 200;
    // The complete schedule starts again.
    await clock.advance(5_000);
    expect(calls).toHaveLength(3);
    expect(new Set(calls.map(({ body }) => body)).size).toBe(1);
    const { data } = (await ask("GET", "/api/webhooks/1/deliveries/1")).body;
    expect(data.state).toBe("delivered");
    expect(data.attempts.map(({ status }: { status: number }) => status)).toEqual([200, 500, 200]);
  });

  test("The route for sending again accepts the webhook-id too, needs no body, and returns 404 for unknown deliveries.", async () => {
    const { ask, emit, calls } = await serveBlocks();
    await emit(blockApplied(1));
    const headers = { authorization: TOKEN };
    const retry = async (path: string) =>
      (await ask("POST", `/api/webhooks/${path}/retry`, { headers })).status;
    expect(await retry(`1/deliveries/${calls[0]?.headers["webhook-id"]}`)).toBe(200);
    expect(await retry("1/deliveries/2")).toBe(404);
    expect(await retry("2/deliveries/1")).toBe(404);
    const text = { ...headers, "content-type": "text/plain" };
    const response = await ask("POST", "/api/webhooks/1/deliveries/1/retry", { headers: text, body: "x" });
    expect(response.status).toBe(415);
  });
});

test("A search in a long log stops after a number of rows, and continues with the next page.", async () => {
  const { ask, create, database } = await serve();
  await create();
  const deliveries = createDeliveryRows(database);
  const content = deliveries.insertContent();
  const total = 2 * ROWS_READ_AT_ONCE + 5;
  database.transaction(() => {
    for (let index = 1; index <= total; index++) {
      const event = index === 1 ? "block.received" : "block.forged";
      const number = deliveries.insert({ webhook: 1, id: `${index}`, event, content }, index);
      if (index === 3) deliveries.finish(number, "failed", 3);
    }
  });
  async function search(query: string) {
    const pages: number[] = [];
    const found: number[] = [];
    let path: string | null = `/api/webhooks/1/deliveries?${query}`;
    while (path !== null) {
      const { body }: { body: { meta: { next: string | null }; data: { id: number }[] } } = await ask(
        "GET",
        path,
      );
      pages.push(body.data.length);
      found.push(...body.data.map(({ id }) => id));
      path = body.meta.next;
    }
    return { pages, found };
  }
  expect(await search("event=block.received")).toEqual({ pages: [0, 0, 1], found: [1] });
  expect(await search("to=2")).toEqual({ pages: [0, 0, 2], found: [2, 1] });
  expect(await search("state=delivered")).toEqual({ pages: [0, 0, 0], found: [] });
  // These filters have an index.
  expect(await search("state=failed")).toEqual({ pages: [1], found: [3] });
  expect(await search("height=7")).toEqual({ pages: [0], found: [] });
  const { found } = await search("limit=100&state=pending");
  expect([found.length, new Set(found).size, found.at(-1)]).toEqual([total - 1, total - 1, 1]);
});

describe("failed deliveries", () => {
  test("Failed deliveries are sent again in order, all since a time.", async () => {
    let respond: (reply: Reply) => void = () => {};
    let reply: Reply | Promise<Reply> = 410;
    const { ask, emit, calls, clock, webhooks } = await serveBlocks(() => reply);
    await emit(blockApplied(1));
    const sinceMs = clock.nowMs() + 1_000;
    await clock.advance(1_000);
    await webhooks.ping("1");
    reply = 200;
    await webhooks.ping("1");
    reply = new Promise<Reply>((resolve) => (respond = resolve));
    await emit(...Array.from({ length: 1_199 }, (_, index) => blockApplied(index + 2)));
    for (let turn = 0; turn < 10; turn++) await settle();
    // Queued deliveries are removed with their webhook.
    respond(410);
    await settle();
    reply = 200;
    await webhooks.ping("1");
    const before = calls.length;
    const retry = async (body: unknown) => ask("POST", "/api/webhooks/1/deliveries/retry", { body });
    expect((await retry({ since: sinceMs })).body).toEqual({ data: { retried: 1_199 } });
    for (let turn = 0; turn < 1_000 && calls.length < before + 1_199; turn++) await settle();
    expect(calls.slice(before).map(({ message }) => message.height)).toEqual(
      Array.from({ length: 1_199 }, (_, index) => index + 2),
    );
    expect((await retry({ since: 0 })).body).toEqual({ data: { retried: 1 } });
    await settle();
    expect((await retry({})).body).toEqual({ data: { retried: 0 } });
  });

  test.each<[string, (times: readonly number[]) => object, readonly number[]]>([
    ["that were delivered", () => ({ state: "delivered" }), [3, 4]],
    ["that failed, without a state", () => ({}), [1, 2]],
    ["of an event", () => ({ state: "delivered", event: "block.applied" }), [3, 4]],
    ["of an unused event", () => ({ state: "delivered", event: "block.forged" }), []],
    ["of a height", () => ({ state: "delivered", height: 4 }), [4]],
    ["of a height that failed", () => ({ height: 2 }), [2]],
    ["of a time", ([, second, third]) => ({ from: second, to: third }), [2]],
    ["up to a time", ([first]) => ({ to: first }), [1]],
    ["that were cancelled", () => ({ state: "cancelled" }), []],
  ])("are sent again, all %s", async (_name, filterOf, heights) => {
    let reply: Reply = 200;
    const { ask, emit, calls, clock, webhooks } = await serveBlocks(() => reply);
    const times: number[] = [];
    for (const [height, status] of [
      [1, 410],
      [2, 410],
      [3, 200],
      [4, 200],
    ] as const) {
      times.push(clock.nowMs());
      reply = status;
      await emit(blockApplied(height));
      await settle();
      reply = 200;
      // Ends the suspension.
      await webhooks.ping("1");
      await clock.advance(1_000);
    }
    const before = calls.length;
    const body = filterOf(times);
    const { body: result } = await ask("POST", "/api/webhooks/1/deliveries/retry", { body });
    await settle();
    expect(result).toEqual({ data: { retried: heights.length } });
    expect(calls.slice(before).map(({ message }) => message.height)).toEqual(heights);
  });

  test.each<[string, unknown]>([
    ["an unknown state", { state: "waiting" }],
    ["an empty event", { event: "" }],
    ["a height that is text", { height: "1" }],
    ["a text", { since: "yesterday" }],
    ["a negative time", { since: -1 }],
    ["a fraction", { since: 1.5 }],
    ["something more", { since: 0, until: 1 }],
  ])("are refused since %s", async (_name, body) => {
    const { ask } = await serveBlocks();
    expect((await ask("POST", "/api/webhooks/1/deliveries/retry", { body })).status).toBe(422);
    expect((await ask("POST", "/api/webhooks/2/deliveries/retry", { body: { since: 0 } })).status).toBe(404);
  });
});

test("The register lists a suspension until it ends.", async () => {
  let reply: Reply = 410;
  const { ask, emit, clock } = await serveBlocks(() => reply);
  const before = (await ask("GET", "/api/webhooks/1?health=true")).body.data;
  expect(Object.keys(before)).toEqual(["id", "event", "target", "enabled", "conditions"]);
  await emit(blockApplied(1));
  const suspended = { reason: "the target responded with 410 Gone", since: clock.nowMs() };
  expect((await ask("GET", "/api/webhooks/1?health=true")).body.data).toEqual({ ...before, suspended });
  expect((await ask("GET", "/api/webhooks?health=true")).body.data).toEqual([{ ...before, suspended }]);
  reply = 200;
  await ask("PUT", "/api/webhooks/1", { body: { enabled: true } });
  expect((await ask("GET", "/api/webhooks/1?health=true")).body.data).toEqual(before);
});

describe("a ping", () => {
  test("A ping is one signed request that the log lists.", async () => {
    const { ask, calls, clock } = await serveBlocks(() => ({ status: 200, excerpt: "pong" }));
    const { status, body } = await ask("POST", "/api/webhooks/1/ping", { headers: { authorization: TOKEN } });
    expect(status).toBe(200);
    expect(body.data).toEqual({
      id: 1,
      messageId: calls[0]?.headers["webhook-id"],
      event: "ping",
      state: "delivered",
      createdAt: clock.nowMs(),
      finishedAt: clock.nowMs(),
      attempts: [{ startedAt: clock.nowMs(), durationMs: 0, status: 200, response: "pong" }],
      body: calls[0]?.message,
    });
    expect(calls[0]?.message).toEqual({
      timestamp: clock.nowMs(),
      data: {},
      event: "ping",
      id: body.data.messageId,
      webhookId: 1,
    });
    expect(calls[0]?.headers["webhook-signature"]).toMatch(/^v1,/);
    expect((await ask("POST", "/api/webhooks/2/ping", { body: {} })).status).toBe(404);
  });

  test("A ping that fails is not retried.", async () => {
    const { ask, calls, clock } = await serveBlocks(() => 500);
    expect((await ask("POST", "/api/webhooks/1/ping", { body: {} })).body.data).toMatchObject({
      state: "failed",
      reason: "HTTP 500",
    });
    await clock.advance(86_400_000);
    expect(calls).toHaveLength(1);
  });

  test("A ping is refused while another one of the webhook is in flight.", async () => {
    const response = Promise.withResolvers<number>();
    const { ask, calls } = await serveBlocks(() => response.promise);
    const first = ask("POST", "/api/webhooks/1/ping", { body: {} });
    await expect.poll(() => calls.length).toBe(1);
    const second = await ask("POST", "/api/webhooks/1/ping", { body: {} });
    expect([second.status, second.body.message]).toEqual([
      409,
      "a ping of the webhook is in progress: retry in 5 s",
    ]);
    response.resolve(200);
    expect((await first).status).toBe(200);
    expect((await ask("POST", "/api/webhooks/1/ping", { body: {} })).status).toBe(200);
    expect(calls).toHaveLength(2);
  });

  test("A ping lifts a suspension when it succeeds.", async () => {
    let reply: Reply = 410;
    const { ask, emit, calls, webhooks, store } = await serveBlocks(() => reply);
    await emit(blockApplied(1));
    expect((await webhooks.register.find("1")).suspended).toBeDefined();
    await ask("POST", "/api/webhooks/1/ping", { body: {} });
    expect((await webhooks.register.find("1")).suspended).toBeDefined();
    reply = 200;
    await ask("POST", "/api/webhooks/1/ping", { body: {} });
    expect((await webhooks.register.find("1")).suspended).toBeUndefined();
    expect(store.eventNames()).toEqual(new Set(["block.applied", "block.reverted"]));
    await emit(blockApplied(2));
    expect(calls.at(-1)?.message).toMatchObject({ event: "block.applied", height: 2 });
  });
});
