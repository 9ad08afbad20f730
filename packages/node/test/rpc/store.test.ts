import { expect, onTestFinished, test } from "vitest";
import { openRpcStore } from "../../src/rpc/store.ts";

test("the oldest transactions are removed beyond the bound", () => {
  const store = openRpcStore(":memory:", 3);
  onTestFinished(store.close);
  for (const id of ["a", "b", "c", "b", "d"]) store.saveTransaction(id, `{"id":"${id}"}`);
  expect(["a", "b", "c", "d"].map((id) => store.findTransaction(id) !== undefined)).toEqual([
    false,
    true,
    true,
    true,
  ]);
});

test("keys are counted, and the first key of a user is kept", () => {
  const store = openRpcStore(":memory:");
  onTestFinished(store.close);
  store.saveKey("alice", "one");
  store.saveKey("alice", "two");
  store.saveKey("bob", "three");
  expect([store.keyCount(), store.findKey("alice")]).toEqual([2, "one"]);
});
