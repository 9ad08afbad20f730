/** Items are read ahead up to a bound, in order, and none is lost before an error. */
import { setImmediate as nextTick } from "node:timers/promises";
import { expect, test } from "vitest";
import { readAhead } from "../../src/mirror/feed-client.ts";

const ONE = { maxItems: 10, maxSize: Number.POSITIVE_INFINITY, sizeOf: () => 1 };

/** A source of numbers that counts what was read of it. */
function createSource(count: number, error?: Error) {
  const state = { read: 0, isReturned: false };
  async function* numbers(): AsyncIterable<number> {
    try {
      while (state.read < count) yield ++state.read;
      if (error) throw error;
    } finally {
      state.isReturned = true;
    }
  }
  return { state, numbers: numbers() };
}

/** Waits until the source can have been read as far as possible. */
async function settled(): Promise<void> {
  for (let tick = 0; tick < 5; tick++) await nextTick();
}

test("A consumer that works gets all that has arrived meanwhile, in order.", async () => {
  const { numbers } = createSource(25);
  const batches: number[][] = [];
  for await (const batch of readAhead(numbers, ONE)) {
    batches.push(batch);
    await settled();
  }
  expect(batches.flat()).toEqual(Array.from({ length: 25 }, (_, index) => index + 1));
  expect(batches.slice(1).map(({ length }) => length)).toEqual([10, 10, expect.any(Number)]);
});

test.each([
  ["items", ONE, 10],
  ["size", { ...ONE, sizeOf: (item: number) => item, maxSize: 20 }, 6],
])("Nothing is read beyond the bound on %s.", async (_, options, bound) => {
  const { state, numbers } = createSource(1_000);
  const batches = readAhead(numbers, options)[Symbol.asyncIterator]();
  const first = await batches.next();
  await settled();
  // The source has been asked for nothing else.
  expect(state.read - first.value.length).toBeLessThanOrEqual(bound);
  const second = await batches.next();
  expect(second.value.length).toBeLessThanOrEqual(bound);
  await batches.return?.();
});

test("An error of the source follows the items before it.", async () => {
  const { numbers } = createSource(3, new Error("damaged"));
  const found: number[] = [];
  await expect(async () => {
    for await (const batch of readAhead(numbers, ONE)) {
      found.push(...batch);
      await settled();
    }
  }).rejects.toThrow("damaged");
  expect(found).toEqual([1, 2, 3]);
});

test("A consumer that ends early ends the source.", async () => {
  const { state, numbers } = createSource(1_000);
  for await (const _ of readAhead(numbers, ONE)) break;
  await settled();
  expect(state.isReturned).toBe(true);
  expect(state.read).toBeLessThanOrEqual(21);
});
