/** Caches of a read model on PostgreSQL: the head for a short time, counts and usernames by head. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Head } from "../../../src/read/head.ts";
import { createHeadCache } from "../../../src/read/postgres/head-cache.ts";
import { createCounts } from "../../../src/read/postgres/pages/counts.ts";
import type { SnapshotReads } from "../../../src/read/postgres/pages/reads.ts";
import { createNameGenerators, type Unnamed } from "../../../src/read/postgres/usernames.ts";

const headAt = (height: number): Head => ({ id: `${height}`, height, timestamp: 8 * height });

test("The head is read once for concurrent callers, and again after its time.", async () => {
  let reads = 0;
  const { head } = createHeadCache(5, async () => headAt(++reads));
  const [one, other] = await Promise.all([head(), head()]);
  expect([one, other, reads]).toEqual([headAt(1), headAt(1), 1]);
  await sleep(20);
  expect(await head()).toEqual(headAt(2));
});

test("The head of a snapshot counts as read, and a failure is not kept.", async () => {
  let isBroken = true;
  const { head, note } = createHeadCache(60_000, async () => {
    if (isBroken) throw new Error("unreachable");
    return headAt(1);
  });
  await expect(head()).rejects.toThrow("unreachable");
  isBroken = false;
  expect(await head()).toEqual(headAt(1));
  note(headAt(2));
  // Without a promise.
  expect(head()).toEqual(headAt(2));
});

test("A filter is counted once for each head, together for concurrent callers.", async () => {
  const counts = createCounts();
  const filter = { sql: "sender = ?", values: ["a"] };
  let counted = 0;
  const count = async () => ++counted;
  expect(await Promise.all([counts(headAt(1), filter, count), counts(headAt(1), filter, count)])).toEqual([
    1, 1,
  ]);
  expect(await counts(headAt(1), { ...filter, values: ["b"] }, count)).toBe(2);
  expect(await counts(headAt(2), filter, count)).toBe(3);
  expect(await counts(headAt(1), filter, count)).toBe(1);
});

test("Failed counts, and those of long filters, are not kept.", async () => {
  const counts = createCounts();
  const filter = { sql: "sender = ?", values: ["a"] };
  await expect(counts(headAt(1), filter, () => Promise.reject(new Error("late")))).rejects.toThrow("late");
  expect(await counts(headAt(1), filter, async () => 7)).toBe(7);
  const long = { sql: "sender = ?", values: ["a".repeat(4_000)] };
  expect([
    await counts(headAt(1), long, async () => 1),
    await counts(headAt(1), long, async () => 2),
  ]).toEqual([1, 2]);
});

test("A username is read once for each head, also if there is none.", async () => {
  const nameGenerators = createNameGenerators();
  const asked: unknown[] = [];
  const namesAt = async (height: number, username: string, ...keys: string[]) => {
    const reads: SnapshotReads = {
      head: headAt(height),
      transactions: 0,
      counts: createCounts(),
      async query<Row>(_: unknown, values?: unknown) {
        asked.push(values);
        return [{ publicKey: "a", username }] as Row[];
      },
    };
    const blocks: Unnamed[] = keys.map((generatorPublicKey) => ({ generatorPublicKey, username: null }));
    await nameGenerators(reads, blocks);
    return blocks.map((block) => block.username);
  };
  expect(await namesAt(1, "one", "a", "b", "a")).toEqual(["one", null, "one"]);
  expect(await namesAt(1, "changed", "b", "a")).toEqual([null, "one"]);
  // A reorganisation can give the name to another delegate.
  expect(await namesAt(2, "two", "a")).toEqual(["two"]);
  expect(asked).toEqual([[["a", "b"]], [["a"]]]);
});
