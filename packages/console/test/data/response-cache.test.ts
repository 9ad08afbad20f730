import { expect, test, vi } from "vitest";
import { createResponseCache } from "../../src/data/response-cache.ts";

/** Request whose response comes from the test. */
function pending<Value>() {
  let [resolve, reject]: [(value: Value) => void, (error: unknown) => void] = [() => {}, () => {}];
  const promise = new Promise<Value>((...given) => {
    [resolve, reject] = given;
  });
  return { ask: vi.fn(() => promise), resolve, reject };
}

test("A response is requested once for a version, however many components need it.", async () => {
  const { request, get } = createResponseCache();
  const { ask, resolve } = pending<string>();
  const requests = [request("block", "1", ask), request("block", "1", ask)];
  expect(get("block").value).toEqual({ isLoading: true });
  resolve("b");
  await Promise.all(requests);
  expect(ask).toHaveBeenCalledOnce();
  expect(get("block").value).toEqual({ value: "b", isLoading: false });
});

test("While the response of a new head is in flight, that of the old one stays.", async () => {
  const { request, get } = createResponseCache();
  await request("block", "1", async () => "old");
  const { ask, resolve } = pending<string>();
  const done = request("block", "2", ask);
  expect(get("block").value).toEqual({ value: "old", isLoading: false });
  resolve("new");
  await done;
  expect(get("block").value.value).toBe("new");
});

test("A response that arrives after a newer one is dropped.", async () => {
  const { request, get } = createResponseCache();
  const slow = pending<string>();
  const done = request("block", "1", slow.ask);
  await request("block", "2", async () => "new");
  slow.resolve("old");
  await done;
  expect(get("block").value.value).toBe("new");
});

test("A failure keeps the previous response, and the next response ends it.", async () => {
  const { request, get } = createResponseCache();
  await request("block", "1", async () => "old");
  const error = new Error("no");
  await request("block", "2", () => Promise.reject(error));
  expect(get("block").value).toEqual({ value: "old", error, isLoading: false });
  await request("block", "3", async () => "new");
  expect(get("block").value).toEqual({ value: "new", isLoading: false });
});

test("A reorganization drops responses that name a reverted block, and no others.", async () => {
  const { request, get, forget } = createResponseCache();
  await request("transaction", "1", async () => ({ data: { blockId: "reverted" } }));
  await request("delegate", "1", async () => ({ data: { votes: 2n ** 60n } }));
  forget(["reverted"]);
  expect(get("transaction").value.value).toBeUndefined();
  expect(get("delegate").value.value).toBeDefined();
});

test("A response that was in flight during a reorganisation is not shown.", async () => {
  const { request, get, forget } = createResponseCache();
  const { ask, resolve } = pending<string>();
  const done = request("transaction", "1", ask);
  forget(["reverted"]);
  resolve("in the block reverted");
  await done;
  expect(get("transaction").value.value).toBeUndefined();
});

test("A refresh repeats the named requests, and shows cached responses meanwhile.", async () => {
  const { request, get, refresh, revision } = createResponseCache();
  await request("webhooks 1", "1", async () => "old");
  const before = revision.value;
  refresh("webhooks");
  expect(revision.value).toBeGreaterThan(before);
  await request("webhooks 1", "1", async () => "new");
  expect(get("webhooks 1").value.value).toBe("new");
});

test("The least recently used response is dropped beyond the bound.", async () => {
  const { request, get } = createResponseCache(2);
  await request("a", "1", async () => "a");
  await request("b", "1", async () => "b");
  get("a");
  await request("c", "1", async () => "c");
  expect(get("a").value.value).toBe("a");
  expect(get("b").value.value).toBeUndefined();
});

test("Failed requests are repeated; cached responses are not.", async () => {
  const responses = createResponseCache();
  await responses.request("a", "1", async () => 1);
  await responses.request("b", "1", async () => Promise.reject(new Error("no node")));
  const before = responses.revision.value;
  responses.retry();
  expect(responses.revision.value).toBe(before + 1);
  await responses.request("a", "1", async () => 2);
  await responses.request("b", "1", async () => 2);
  expect(responses.get("a").value.value).toBe(1);
  expect(responses.get("b").value).toEqual({ value: 2, isLoading: false });
});
