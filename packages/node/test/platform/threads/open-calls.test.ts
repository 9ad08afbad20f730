import { expect, test } from "vitest";
import { present } from "../../../src/platform/present.ts";
import { OpenCalls, type OpenCallsOptions } from "../../../src/platform/threads/call.ts";

const LONG_MS = 60_000;

/** Numbers of the calls as the other thread receives them. */
function open(options: OpenCallsOptions) {
  const sent: number[] = [];
  const calls = new OpenCalls<string>(options);
  const begin = (timeoutMs = LONG_MS, length = 0) =>
    calls.begin({ timeoutMs, length, send: (number) => void sent.push(number) });
  return { calls, begin, sent };
}

test("Each result goes to its call, in any order.", async () => {
  const { calls, begin, sent } = open({ maxCalls: 2 });
  const [first, second] = [begin(), begin()];
  calls.resolve(present(sent[1]), "second");
  calls.resolve(present(sent[0]), "first");
  calls.resolve(present(sent[0]), "again");
  calls.resolve(99, "of no call");
  expect([await first, await second]).toEqual(["first", "second"]);
  expect(calls.figures()).toEqual({ open: 0, timedOut: 0, refused: 0 });
});

test("A late call reports its timeout once, and keeps its slot until its result or its end.", async () => {
  let timeouts = 0;
  const { calls, begin, sent } = open({ maxCalls: 2, onTimeout: () => timeouts++ });
  await expect(begin(1)).rejects.toMatchObject({ code: "CALL_TIMEOUT", isRetryable: true });
  await expect(begin(1)).rejects.toMatchObject({ code: "CALL_TIMEOUT" });
  expect(begin()).toBeUndefined();
  expect([timeouts, calls.figures()]).toEqual([2, { open: 2, timedOut: 2, refused: 1 }]);
  calls.resolve(present(sent[0]), "late");
  const last = begin();
  const error = new Error("gone");
  calls.rejectAll(error);
  await expect(last).rejects.toBe(error);
  expect(calls.figures().open).toBe(0);
});

test("All calls end together.", async () => {
  const { calls, begin } = open({ maxCalls: 3 });
  const results = [begin(), begin(), begin()];
  const error = new Error("gone");
  calls.rejectAll(error);
  for (const result of results) await expect(result).rejects.toBe(error);
  expect(calls.figures()).toEqual({ open: 0, timedOut: 0, refused: 0 });
});

test("A call that cannot be sent ends at once.", async () => {
  const calls = new OpenCalls<string>({ maxCalls: 1 });
  const error = new Error("it cannot be copied");
  const send = () => {
    throw error;
  };
  await expect(calls.begin({ timeoutMs: LONG_MS, send })).rejects.toBe(error);
  expect(calls.figures().open).toBe(0);
});

test("Characters are counted while their call is open; one call may have any number.", async () => {
  const { calls, begin, sent } = open({ maxCalls: 10, maxLength: 100 });
  const first = begin(LONG_MS, 1_000);
  expect(begin(LONG_MS, 0)).toBeUndefined();
  calls.resolve(present(sent[0]), "result");
  await first;
  const others = [begin(LONG_MS, 60), begin(LONG_MS, 40)];
  expect(others).not.toContain(undefined);
  expect(begin(LONG_MS, 1)).toBeUndefined();
  others.push(begin(LONG_MS, 0));
  expect(others).not.toContain(undefined);
  // They would time out in a later test of this worker.
  const error = new Error("gone");
  calls.rejectAll(error);
  for (const call of others) await expect(call).rejects.toBe(error);
});
