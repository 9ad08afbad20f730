import { expect, test, vi } from "vitest";
import { createAnswers } from "../../src/data/answers.ts";

/** A request whose answer the test gives. */
function pending<Value>() {
  let [resolve, reject]: [(value: Value) => void, (error: unknown) => void] = [() => {}, () => {}];
  const promise = new Promise<Value>((...given) => {
    [resolve, reject] = given;
  });
  return { ask: vi.fn(() => promise), resolve, reject };
}

test("An answer is asked for once for a version, however many components need it.", async () => {
  const { request, answerOf } = createAnswers();
  const { ask, resolve } = pending<string>();
  const requests = [request("block", "1", ask), request("block", "1", ask)];
  expect(answerOf("block").value).toEqual({ isLoading: true });
  resolve("b");
  await Promise.all(requests);
  expect(ask).toHaveBeenCalledOnce();
  expect(answerOf("block").value).toEqual({ value: "b", isLoading: false });
});

test("While the answer of a new head is on its way, that of the old one stays.", async () => {
  const { request, answerOf } = createAnswers();
  await request("block", "1", async () => "old");
  const { ask, resolve } = pending<string>();
  const done = request("block", "2", ask);
  expect(answerOf("block").value).toEqual({ value: "old", isLoading: false });
  resolve("new");
  await done;
  expect(answerOf("block").value.value).toBe("new");
});

test("An answer that comes after a newer one is dropped.", async () => {
  const { request, answerOf } = createAnswers();
  const slow = pending<string>();
  const done = request("block", "1", slow.ask);
  await request("block", "2", async () => "new");
  slow.resolve("old");
  await done;
  expect(answerOf("block").value.value).toBe("new");
});

test("A failure keeps the answer of before, and the next answer ends it.", async () => {
  const { request, answerOf } = createAnswers();
  await request("block", "1", async () => "old");
  const error = new Error("no");
  await request("block", "2", () => Promise.reject(error));
  expect(answerOf("block").value).toEqual({ value: "old", error, isLoading: false });
  await request("block", "3", async () => "new");
  expect(answerOf("block").value).toEqual({ value: "new", isLoading: false });
});

test("A reorganization drops answers that name a reverted block, and no others.", async () => {
  const { request, answerOf, forget } = createAnswers();
  await request("transaction", "1", async () => ({ data: { blockId: "reverted" } }));
  await request("delegate", "1", async () => ({ data: { votes: 2n ** 60n } }));
  forget(["reverted"]);
  expect(answerOf("transaction").value.value).toBeUndefined();
  expect(answerOf("delegate").value.value).toBeDefined();
});

test("An answer that was on its way during a reorganization is not shown.", async () => {
  const { request, answerOf, forget } = createAnswers();
  const { ask, resolve } = pending<string>();
  const done = request("transaction", "1", ask);
  forget(["reverted"]);
  resolve("in the block reverted");
  await done;
  expect(answerOf("transaction").value.value).toBeUndefined();
});

test("A refresh asks again for the answers that it names, and shows what is there meanwhile.", async () => {
  const { request, answerOf, refresh, revision } = createAnswers();
  await request("webhooks 1", "1", async () => "old");
  const before = revision.value;
  refresh("webhooks");
  expect(revision.value).toBeGreaterThan(before);
  await request("webhooks 1", "1", async () => "new");
  expect(answerOf("webhooks 1").value.value).toBe("new");
});

test("The answer that was used least recently is dropped when there are too many.", async () => {
  const { request, answerOf } = createAnswers(2);
  await request("a", "1", async () => "a");
  await request("b", "1", async () => "b");
  answerOf("a");
  await request("c", "1", async () => "c");
  expect(answerOf("a").value.value).toBe("a");
  expect(answerOf("b").value.value).toBeUndefined();
});

test("What failed is requested again; what is there is not.", async () => {
  const answers = createAnswers();
  await answers.request("a", "1", async () => 1);
  await answers.request("b", "1", async () => Promise.reject(new Error("no node")));
  const before = answers.revision.value;
  answers.retry();
  expect(answers.revision.value).toBe(before + 1);
  await answers.request("a", "1", async () => 2);
  await answers.request("b", "1", async () => 2);
  expect(answers.answerOf("a").value.value).toBe(1);
  expect(answers.answerOf("b").value).toEqual({ value: 2, isLoading: false });
});
