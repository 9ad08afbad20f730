import { expect, test } from "vitest";
import { shared } from "../../src/operations/shared-result.ts";

/** Result that the test settles, at a time that the test sets. */
function open() {
  let nowMs = 0;
  const made: PromiseWithResolvers<string>[] = [];
  const ask = shared(
    () => {
      const next = Promise.withResolvers<string>();
      made.push(next);
      return next.promise;
    },
    () => nowMs,
  );
  return { ask, made, at: (ms: number) => (nowMs = ms) };
}

test("Callers during the computation wait for its result, however long it takes.", async () => {
  const { ask, made, at } = open();
  const results = Array.from({ length: 100 }, ask);
  at(60_000);
  results.push(ask());
  expect(made).toHaveLength(1);
  made[0]?.resolve("a");
  expect(new Set(await Promise.all(results))).toEqual(new Set(["a"]));
});

test("A result is cached from when it is ready, then computed again.", async () => {
  const { ask, made, at } = open();
  const first = ask();
  at(5_000);
  made[0]?.resolve("a");
  await first;
  at(5_999);
  expect(await ask()).toBe("a");
  at(6_000);
  const second = ask();
  made[1]?.resolve("b");
  expect(await second).toBe("b");
  expect(made).toHaveLength(2);
});

test("A failure rejects all waiting callers, and is not cached.", async () => {
  const { ask, made } = open();
  const results = [ask(), ask()];
  made[0]?.reject(new Error("no"));
  for (const result of results) await expect(result).rejects.toThrow("no");
  const next = ask();
  made[1]?.resolve("a");
  expect(await next).toBe("a");
});
