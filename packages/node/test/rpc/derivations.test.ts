import { expect, test } from "vitest";
import { Derivations } from "../../src/rpc/derivations.ts";
import { RpcError } from "../../src/rpc/rpc-error.ts";

const until = (): { work: () => Promise<string>; end: () => void } => {
  const { promise, resolve } = Promise.withResolvers<string>();
  return { work: () => promise, end: () => resolve("done") };
};

test("Two derivations run at once, 32 are queued, and one more is refused with the reason.", async () => {
  const { run } = new Derivations({ perMinute: 0, nowMs: () => 0 });
  const { work, end } = until();
  let running = 0;
  let most = 0;
  const counted = async () => {
    running += 1;
    most = Math.max(most, running);
    const response = await work();
    running -= 1;
    return response;
  };
  const accepted = Array.from({ length: 34 }, () => run(counted));
  await expect(run(counted)).rejects.toMatchObject({
    number: 429,
    data: expect.stringMatching(/32 calls are already waiting/),
  });
  end();
  expect(new Set(await Promise.all(accepted))).toEqual(new Set(["done"]));
  expect([most, running]).toEqual([2, 0]);
  expect(await run(counted)).toBe("done");
});

test("A derivation that fails frees its slot for the next.", async () => {
  const { run } = new Derivations({ perMinute: 0, nowMs: () => 0 });
  const fail = () => Promise.reject(new Error("wrong"));
  const responses = await Promise.allSettled([run(fail), run(fail), run(fail), run(async () => 1)]);
  expect(responses.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected", "fulfilled"]);
});

test("A limited number of derivations per minute runs, and further ones are refused with the time to wait.", async () => {
  let now = 5_000;
  const { run } = new Derivations({ perMinute: 2, nowMs: () => now });
  const ask = () => run(async () => "done");
  expect([await ask(), await ask()]).toEqual(["done", "done"]);
  now += 10_500;
  await expect(ask()).rejects.toThrow(RpcError);
  await expect(ask()).rejects.toMatchObject({ number: 429, data: expect.stringMatching(/retry in 50 s/) });
  now += 49_500;
  expect(await ask()).toBe("done");
  expect(await ask()).toBe("done");
  // A clock that is set back does not lengthen the minute.
  now = 0;
  expect(await ask()).toBe("done");
});

test("A derivation whose caller has left leaves the queue.", async () => {
  const { run } = new Derivations({ perMinute: 0, nowMs: () => 0 });
  const { work, end } = until();
  const running = [run(work), run(work)];
  const ending = new AbortController();
  let begun = 0;
  const left = run(async () => void begun++, ending.signal);
  ending.abort(new Error("late"));
  await expect(left).rejects.toThrow("late");
  const next = run(async () => "next");
  end();
  expect([...(await Promise.all(running)), await next, begun]).toEqual(["done", "done", "next", 0]);
});
