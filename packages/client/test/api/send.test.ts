import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { createList } from "../../src/api/list.ts";
import { path } from "../../src/api/request.ts";
import { createSend, type SendOptions } from "../../src/api/send.ts";
import { ApiError, createClient, EVERY_EVENT } from "../../src/index.ts";

const NOW_MS = 1_700_000_000_000;

type Handle = (request: IncomingMessage & { body: string }, response: ServerResponse) => void;

/** Node that responds as the test says, and a client of it that records the pauses instead of waiting. */
async function serve(handle: Handle, options: Partial<SendOptions> = {}) {
  const requests: { method: string; url: string; body: string; headers: IncomingMessage["headers"] }[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { method = "", url = "", headers } = request;
    requests.push({ method, url, body, headers });
    handle(Object.assign(request, { body }), response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const waitsMs: number[] = [];
  const send = createSend(
    { url, ...options },
    { fetch, sleep: async (timeMs) => void waitsMs.push(timeMs), nowMs: () => NOW_MS },
  );
  return { send, requests, waitsMs, url };
}

const responding =
  (status: number, body: unknown = {}, headers: Record<string, string> = {}): Handle =>
  (_request, response) => {
    response.writeHead(status, headers).end(typeof body === "string" ? body : JSON.stringify(body));
  };

/** The given responses, one after the other; then success. */
const first = (...handles: Handle[]): Handle => {
  return (request, response) => (handles.shift() ?? responding(200, { data: "there" }))(request, response);
};

async function errorOf(attempt: Promise<unknown>): Promise<ApiError> {
  const error = await attempt.catch((error: unknown) => error);
  if (!(error instanceof ApiError)) throw error;
  return error;
}

test("A registration returns the warnings of the header, and the secret in both forms.", async () => {
  const token = "fe944e318edb02b979d6bf0c87978b640c8e74e1cbfe36404386d33a5bbd8b66";
  const warnings = ['no member "caf\u00e9"', "and another"];
  const header = JSON.stringify(warnings).replace("\u00e9", "\\u00e9");
  const { url } = await serve(responding(201, { data: { id: 1, token } }, { "webhook-warnings": header }));
  const webhook = { event: "block.applied", target: "https://receiver.example/", conditions: [EVERY_EVENT] };
  expect(await createClient({ url }).webhooks.create(webhook)).toEqual({
    data: { id: 1, token, secret: "whsec_/pROMY7bArl51r8Mh5eLZAyOdOHL/jZAQ4bTOlu9i2Y=" },
    warnings,
  });
});

test.each(["", "{}", "[", "no list"])("A header %j is not a list of warnings.", async (header) => {
  const { url } = await serve(responding(200, {}, { "webhook-warnings": header }));
  expect(await createClient({ url }).webhooks.update(1, { enabled: true })).toEqual({});
});

test.each([undefined, 7, "ab"])("The token %j of a registration is refused.", async (token) => {
  const { url } = await serve(responding(201, { data: { id: 1, token } }));
  const webhook = { event: "block.applied", target: "https://receiver.example/", conditions: [EVERY_EVENT] };
  expect(await errorOf(createClient({ url }).webhooks.create(webhook))).toMatchObject({
    code: "API_RESPONSE_INVALID",
  });
});

describe("a request", () => {
  test.each(["", ".", ".."])(
    "A request is refused for the id %j, which would address another route.",
    async (id) => {
      const { requests, url } = await serve(responding(200));
      const client = createClient({ url });
      expect(() => client.wallets.get(id)).toThrow(TypeError);
      expect(() => client.wallets.transactions(id)).toThrow(`which "${id}" is not`);
      expect(() => client.uniks.property("a", id)).toThrow(TypeError);
      await client.uniks.property("a", "...");
      expect(requests.map((request) => request.url)).toEqual(["/api/uniks/a/properties/..."]);
    },
  );

  test("A request has its path below the base URL, its query without absent members, and its body as JSON.", async () => {
    const { requests, url } = await serve(responding(200));
    const send = createSend({ url: `${url}/node1/` }, { fetch, sleep: async () => {}, nowMs: Date.now });
    await send({
      path: path`/uniks/${"a/b"}/properties/${"usr/ä?"}`,
      query: { page: 2, a: undefined, b: "c&d" },
    });
    await send({ method: "POST", path: "/blocks/search", body: { height: { from: 2n ** 60n } } });
    expect(requests[0]).toMatchObject({
      method: "GET",
      url: "/node1/api/uniks/a%2Fb/properties/usr%2F%C3%A4%3F?page=2&b=c%26d",
      body: "",
    });
    expect(requests[0]?.headers).not.toHaveProperty("content-type");
    expect(requests[1]).toMatchObject({ method: "POST", body: '{"height":{"from":"1152921504606846976"}}' });
    expect(requests[1]?.headers["content-type"]).toBe("application/json");
  });

  test.each(["", "127.0.0.1:4003", "ftp://host", "file:///tmp"])(
    "A request is refused for the base URL %j.",
    (url) => {
      expect(() => createClient({ url })).toThrow(/base URL of a node/);
    },
  );
});

describe("an unusable response", () => {
  test("The code of the node is read from the header, which all of its errors have.", async () => {
    const { send } = await serve(responding(404, {}, { "error-code": "WALLET_UNKNOWN" }));
    const error = await errorOf(send({ path: "/wallets/a" }));
    expect([error.code, error.nodeCode, error.type]).toMatchObject([
      "API_NOT_FOUND",
      "WALLET_UNKNOWN",
      { nodeCode: "WALLET_UNKNOWN" },
    ]);
    const old = await serve(responding(404));
    expect((await errorOf(old.send({ path: "/wallets/a" }))).nodeCode).toBeUndefined();
  });

  test.each([
    [401, "API_UNAUTHORIZED", false],
    [403, "API_UNAUTHORIZED", false],
    [404, "API_NOT_FOUND", false],
    [400, "API_REFUSED", false],
    [409, "API_REFUSED", false],
    [415, "API_REFUSED", false],
    [422, "API_REFUSED", false],
    [429, "API_RATE_LIMITED", true],
    [500, "API_FAILED", true],
    [503, "API_FAILED", true],
  ])("HTTP %i is %s", async (status, code, isRetryable) => {
    const body = { statusCode: status, error: "Name", message: "why" };
    const { send } = await serve(responding(status, body), { retries: 0 });
    const error = await errorOf(send({ path: "/blocks" }));
    expect(error).toMatchObject({ code, status, body, isRetryable, type: { code, status, body } });
    expect(error.message).toBe(`GET /api/blocks: why (HTTP ${status})`);
  });

  test.each(["<html>", "null", '"text"', ""])("%j is not that of a node", async (text) => {
    const { send, requests } = await serve(responding(200, text));
    expect(await errorOf(send({ path: "/blocks" }))).toMatchObject({
      code: "API_RESPONSE_INVALID",
      status: 200,
    });
    expect(requests).toHaveLength(1);
  });

  test("An error that is not JSON is shown as text.", async () => {
    const { send } = await serve(responding(502, "Bad Gateway"), { retries: 0 });
    const error = await errorOf(send({ path: "/blocks" }));
    expect(error).toMatchObject({ code: "API_FAILED", body: "Bad Gateway" });
    expect(error.message).toBe("GET /api/blocks: HTTP 502");
  });

  test("A request fails if no server listens.", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const client = createClient({ url: `http://127.0.0.1:${port}`, retries: 0 });
    const error = await errorOf(client.blocks.last());
    expect(error).toMatchObject({ code: "API_UNREACHABLE", isRetryable: true });
    expect(error.message).toContain("ECONNREFUSED");
  });

  test("A request fails if its response does not arrive completely in time.", async () => {
    const silence: Handle = () => {};
    const halfway: Handle = (_request, response) => void response.writeHead(200).write('{"data":');
    for (const handle of [silence, halfway]) {
      const { send } = await serve(handle, { retries: 0, timeoutMs: 50 });
      const error = await errorOf(send({ path: "/blocks" }));
      expect(error).toMatchObject({ code: "API_TIMEOUT", isRetryable: true, type: { timeoutMs: 50 } });
      expect(error.message).toBe("GET /api/blocks: no response within 50 ms");
    }
  });

  test("A request fails if the caller aborts it.", async () => {
    const controller = new AbortController();
    const { send } = await serve(() => controller.abort(new Error("enough")), { signal: controller.signal });
    await expect(send({ path: "/blocks" })).rejects.toThrow("enough");
    await expect(send({ path: "/blocks" })).rejects.toThrow("enough");
  });
});

describe("a redirect", () => {
  test.each([301, 302, 307])("A redirect %i of a submission is refused.", async (status) => {
    const location = "https://node.example/api/transactions";
    const { url, requests } = await serve(responding(status, "<html>", { location }));
    const error = await errorOf(createClient({ url }).transactions.submit([]));
    expect(error).toMatchObject({ code: "API_REFUSED", status, isRetryable: false });
    expect(error.message).toContain("redirected: use the new URL");
    expect(requests).toHaveLength(1);
  });

  test("A redirect in a browser, which hides its status and its target, is refused.", async () => {
    const hidden = Object.defineProperties(new Response(null), {
      ok: { value: false },
      status: { value: 0 },
      type: { value: "opaqueredirect" },
    });
    const client = createClient({ url: "http://127.0.0.1:1", fetch: async () => hidden });
    const error = await errorOf(client.webhooks.remove(1));
    expect(error).toMatchObject({ code: "API_REFUSED", status: 0 });
    expect(error.message).toContain("redirected: use the new URL");
  });

  test("A redirect of a request that only reads is followed.", async () => {
    const { send, requests } = await serve(first(responding(302, {}, { location: "/api/other" })));
    expect(await send({ path: "/blocks" })).toEqual({ data: "there" });
    expect(requests.map(({ url }) => url)).toEqual(["/api/blocks", "/api/other"]);
  });
});

describe("a retry", () => {
  const reset: Handle = (request) => request.socket.destroy();

  test("A retry follows safe requests, after longer and longer pauses.", async () => {
    const { send, requests, waitsMs } = await serve(first(responding(503), reset));
    expect(await send({ path: "/blocks" })).toEqual({ data: "there" });
    expect(requests).toHaveLength(3);
    expect(waitsMs).toEqual([250, 500]);
  });

  test("A retry follows searches and dry runs, too.", async () => {
    const { url, requests } = await serve(first(responding(503)));
    const client = createClient({ url });
    await client.blocks.search({ height: { from: 1 } }).page();
    expect(requests).toHaveLength(2);
  });

  test("A retry never follows a request that may change something.", async () => {
    for (const handle of [responding(503), responding(429), reset]) {
      const { url, requests } = await serve(handle);
      const client = createClient({ url });
      await errorOf(client.transactions.submit([]));
      await errorOf(client.webhooks.update(1, {}));
      await errorOf(client.webhooks.remove(1));
      await errorOf(client.webhooks.ping(1));
      expect(requests).toHaveLength(4);
    }
  });

  test("A retry is bounded by the requested number of attempts.", async () => {
    const { send, requests } = await serve(responding(503), { retries: 4 });
    expect(await errorOf(send({ path: "/blocks" }))).toMatchObject({ code: "API_FAILED" });
    expect(requests).toHaveLength(5);
  });

  test("A retry waits as long as a rate-limiting node requests.", async () => {
    const inSeconds = responding(429, {}, { "retry-after": "7" });
    const atTheEnd = responding(429, {}, { "x-ratelimit-userreset": `${NOW_MS + 12_345}` });
    const { send, waitsMs } = await serve(first(inSeconds, atTheEnd));
    await send({ path: "/blocks" });
    expect(waitsMs).toEqual([7_000, 12_345]);
  });

  test("A retry is skipped if it would have to wait for more than a minute.", async () => {
    const { send, requests } = await serve(responding(429, {}, { "retry-after": "61" }));
    expect(await errorOf(send({ path: "/blocks" }))).toMatchObject({ type: { retryAfterMs: 61_000 } });
    expect(requests).toHaveLength(1);
  });

  test("A retry is skipped if it would have to wait longer than allowed.", async () => {
    const { send, waitsMs } = await serve(responding(429, {}, { "retry-after": "2" }), { maxWaitMs: 1_000 });
    expect(await errorOf(send({ path: "/blocks" }))).toMatchObject({ type: { retryAfterMs: 2_000 } });
    expect(waitsMs).toEqual([]);
  });
});

describe("the block of a response", () => {
  const at = (height: number, id: string) => ({ "x-uniknode-height": `${height}`, "x-uniknode-block": id });
  const demanded = (requests: readonly { headers: IncomingMessage["headers"] }[]) =>
    requests.map(({ headers }) => headers["x-uniknode-at-least"]);

  test("The block of a response is demanded by later requests, the newest one first.", async () => {
    const { send, requests } = await serve(
      first(responding(200, {}, at(7, "b7")), responding(200, {}, at(6, "b6")), responding(200)),
    );
    for (let index = 0; index < 4; index++) await send({ path: "/blocks" });
    expect(demanded(requests)).toEqual([undefined, "7:b7", "7:b7", "7:b7"]);
  });

  test("The block of a response is no longer demanded once a reorganisation replaced it.", async () => {
    const gone = responding(409, { message: "gone" }, { "error-code": "BRANCH_GONE" });
    const { send, requests } = await serve(first(responding(200, {}, at(7, "b7")), gone));
    await send({ path: "/blocks" });
    expect(await send({ path: "/blocks" })).toEqual({ data: "there" });
    expect(demanded(requests)).toEqual([undefined, "7:b7", undefined]);
  });

  test("The block of a response is not demanded of nodes, which name none.", async () => {
    const { send, requests } = await serve(responding(200, {}));
    await send({ path: "/blocks" });
    await send({ path: "/blocks" });
    expect(demanded(requests)).toEqual([undefined, undefined]);
  });
});

describe("a list", () => {
  const searchOf = (url: string | undefined) => new URL(url ?? "", "http://a").searchParams;

  /** Three pages, by cursor. */
  const byCursor: Handle = ({ url }, response) => {
    const cursor = searchOf(url).get("cursor");
    const page = cursor === "start" ? 1 : Number(cursor);
    const nextCursor = page < 3 ? `${page + 1}` : null;
    response.end(
      JSON.stringify({ meta: { next: nextCursor && "path", nextCursor }, data: [page * 10, page * 10 + 1] }),
    );
  };

  /** Three pages of a node that does not support cursors. */
  const byPage: Handle = ({ url }, response) => {
    const search = searchOf(url);
    if (search.has("cursor")) return responding(422)({} as never, response);
    const page = Number(search.get("page"));
    const next = page < 3 ? `/api/things?page=${page + 1}` : null;
    response.end(JSON.stringify({ meta: { next }, data: [page * 10, page * 10 + 1] }));
  };

  async function read(list: AsyncIterable<number>): Promise<number[]> {
    const rows: number[] = [];
    for await (const row of list) rows.push(row);
    return rows;
  }

  const ROWS = [10, 11, 20, 21, 30, 31];

  test("A list requests one page after the other.", async () => {
    const { send, requests } = await serve(byCursor);
    expect(await read(createList<number>(send, { path: "/things", query: { a: "b" } }))).toEqual(ROWS);
    expect(requests.map(({ url }) => url)).toEqual([
      "/api/things?a=b&cursor=start",
      "/api/things?a=b&cursor=2",
      "/api/things?a=b&cursor=3",
    ]);
  });

  test("A list requests pages by number if a node does not support cursors.", async () => {
    const { send, requests } = await serve(byPage);
    expect(await read(createList<number>(send, { path: "/things" }))).toEqual(ROWS);
    expect(requests.map(({ url }) => url)).toEqual([
      "/api/things?cursor=start",
      "/api/things?page=1",
      "/api/things?page=2",
      "/api/things?page=3",
    ]);
  });

  test("A list requests pages by number from the start if there are no cursors.", async () => {
    const { send, requests } = await serve(byPage);
    const list = createList<number>(send, { path: "/things" }, { hasNoCursors: true });
    expect(await read(list)).toEqual(ROWS);
    expect(requests).toHaveLength(3);
  });

  test("A list without cursors skips no row if the loop removes rows.", async () => {
    const rows = [...ROWS];
    const { send } = await serve(({ url }, response) => {
      const first = 2 * (Number(searchOf(url).get("page")) - 1);
      const next = first + 2 < rows.length ? "path" : null;
      response.end(JSON.stringify({ meta: { next }, data: rows.slice(first, first + 2) }));
    });
    const read: number[] = [];
    for await (const row of createList<number>(send, { path: "/things" }, { hasNoCursors: true })) {
      read.push(row);
      rows.splice(rows.indexOf(row), 1);
    }
    expect(read).toEqual(ROWS);
  });

  test("A list is not read by page numbers because of an error that may not occur again.", async () => {
    const gone = responding(409, {}, { "error-code": "BRANCH_GONE" });
    const { send, requests } = await serve(gone, { retries: 1 });
    await expect(read(createList<number>(send, { path: "/things" }))).rejects.toMatchObject({
      nodeCode: "BRANCH_GONE",
    });
    expect(requests.map(({ url }) => url)).toEqual(Array(2).fill("/api/things?cursor=start"));
  });

  test("A list throws its errors, however it is requested.", async () => {
    const { send, requests } = await serve(responding(422, { message: "why" }));
    await expect(read(createList<number>(send, { path: "/things" }))).rejects.toThrow("why (HTTP 422)");
    expect(requests).toHaveLength(2);
    const late = await serve(({ url }, response) =>
      searchOf(url).get("cursor") === "start"
        ? byCursor({ url } as never, response)
        : responding(422)({} as never, response),
    );
    await expect(read(createList<number>(late.send, { path: "/things" }))).rejects.toThrow("HTTP 422");
    expect(late.requests).toHaveLength(2);
  });

  test("A list requests no more pages than the loop needs.", async () => {
    const { send, requests } = await serve(byCursor);
    for await (const row of createList<number>(send, { path: "/things" })) if (row === 11) break;
    expect(requests).toHaveLength(1);
  });

  test("A list can be read again from its beginning.", async () => {
    const { send } = await serve(byCursor);
    const list = createList<number>(send, { path: "/things" });
    expect([await read(list), await read(list)]).toEqual([ROWS, ROWS]);
  });
});
