import { type Block, createClient, type StreamedEvent } from "@uniknode/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createFeed } from "../../src/data/feed.ts";
import { createResponseCache } from "../../src/data/response-cache.ts";
import { block, blocks, EPOCH_UNIX } from "../../test-support/chain.ts";

beforeEach(() => {
  vi.useFakeTimers({ now: EPOCH_UNIX * 1_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Node whose chain the test changes, and a feed that follows it. */
function follow(chain: readonly Block[]) {
  const node = {
    chain,
    isDown: false,
    retryAfterSeconds: 0,
    now: 0,
    progress: undefined as object | undefined,
    requests: 0,
  };
  const contentOf = (path: string, query: URLSearchParams): object => {
    const [head] = node.chain;
    if (path === "/api/node/configuration") return { constants: { blocktime: 4, activeDelegates: 3 } };
    if (path === "/api/node/syncing") return { id: head?.id, height: head?.height, progress: node.progress };
    if (path === "/api/node/status") return { timestamp: node.now };
    return node.chain.slice(0, Number(query.get("limit")));
  };
  const fetch = async (url: string | URL | Request) => {
    node.requests++;
    if (node.isDown) throw new TypeError("fetch failed");
    if (node.retryAfterSeconds > 0) {
      const headers = { "retry-after": `${node.retryAfterSeconds}` };
      return Response.json({ message: "too many" }, { status: 429, headers });
    }
    const { pathname, searchParams } = new URL(`${url}`);
    return Response.json({ data: contentOf(pathname, searchParams), meta: {} });
  };
  const responses = createResponseCache();
  const feed = createFeed(createClient({ url: "http://127.0.0.1", fetch, retries: 0 }), responses);
  const end = new AbortController();
  void feed.run(end.signal);
  const pass = (timeMs: number) => vi.advanceTimersByTimeAsync(timeMs);
  return { ...feed, responses, node, pass, end: () => end.abort() };
}

test("The head follows the chain within half a block.", async () => {
  const { head, top, node, pass, end, connection } = follow(blocks(5, 1));
  await pass(0);
  expect(head.value?.height).toBe(5);
  expect(connection.value).toEqual({ state: "connected" });
  node.chain = blocks(6, 1);
  await pass(2_000);
  expect(head.value?.height).toBe(6);
  expect(top.value.map(({ height }) => height)).toEqual([6, 5, 4, 3, 2, 1]);
  end();
});

test("Without a new block, one small request is made at a time.", async () => {
  const { node, pass, end } = follow(blocks(5, 1));
  await pass(0);
  const before = node.requests;
  await pass(20_000);
  expect(node.requests - before).toBe(10);
  end();
});

test("A reorganisation is shown, and drops responses about its blocks.", async () => {
  const { reorganization, responses, node, pass, end } = follow(blocks(5, 1));
  await pass(0);
  await responses.request("block a-5", "a-5", async () => ({ id: "a-5" }));
  node.chain = [block(6, { branch: "b" }), block(5, { branch: "b" }), ...blocks(4, 1)];
  await pass(2_000);
  expect(reorganization.value?.reverted.map(({ id }) => id)).toEqual(["a-5"]);
  expect(responses.get("block a-5").value.value).toBeUndefined();
  end();
});

test("An unresponsive node is polled with increasing pauses, and detected when it is back.", async () => {
  const { connection, node, pass, head, end } = follow(blocks(5, 1));
  await pass(0);
  node.isDown = true;
  await pass(2_000);
  expect(connection.value.state).toBe("disconnected");
  const before = node.requests;
  await pass(60_000);
  expect(node.requests - before).toBeLessThan(10);
  expect(head.value?.height).toBe(5);
  node.isDown = false;
  await pass(15_000);
  expect(connection.value.state).toBe("connected");
  end();
});

test("A rate-limited feed pauses for the requested time.", async () => {
  const { connection, node, pass, end } = follow(blocks(5, 1));
  await pass(0);
  node.retryAfterSeconds = 40;
  await pass(2_000);
  expect(connection.value).toMatchObject({ state: "disconnected", error: { code: "API_RATE_LIMITED" } });
  const before = node.requests;
  await pass(39_000);
  expect(node.requests).toBe(before);
  node.retryAfterSeconds = 0;
  await pass(1_000);
  expect(connection.value.state).toBe("connected");
  end();
});

test("A refresh by the user does not wait for the next attempt.", async () => {
  const { connection, node, pass, poll, end } = follow(blocks(5, 1));
  node.isDown = true;
  await pass(30_000);
  node.isDown = false;
  poll();
  await pass(0);
  expect(connection.value.state).toBe("connected");
  end();
});

test("Progress is shown only while the node catches up.", async () => {
  const { connection, node, pass, end } = follow(blocks(5, 1));
  node.progress = { target: 100, percent: 5, blocksPerSecond: 3 };
  await pass(2_000);
  expect(connection.value).toMatchObject({ state: "connected", progress: { target: 100 } });
  node.progress = undefined;
  await pass(2_000);
  expect(connection.value).toEqual({ state: "connected" });
  end();
});

test("The clock is that of the chain.", async () => {
  const { clockOffsetMs, node, pass, end } = follow(blocks(5, 1));
  node.now = 86_400;
  await pass(0);
  expect(clockOffsetMs.value).toBe(86_400_000);
  end();
});

test("A message of the live stream causes a request at once; without the stream polling continues.", async () => {
  const { head, node, pass, listen, end } = follow(blocks(5, 1));
  await pass(0);
  let send = (_event: StreamedEvent) => {};
  async function* stream(): AsyncGenerator<StreamedEvent> {
    yield await new Promise<StreamedEvent>((resolve) => {
      send = resolve;
    });
    throw new Error("refused");
  }
  const listening = listen(stream, new AbortController().signal);
  await pass(0);
  node.chain = blocks(6, 1);
  send({ event: "block.applied", id: "", position: "" });
  await pass(0);
  expect(head.value?.height).toBe(6);
  await listening;
  node.chain = blocks(7, 1);
  await pass(15_000);
  expect(head.value?.height).toBe(7);
  end();
});
