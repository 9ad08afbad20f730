/** Caches of a read model on PostgreSQL: the head for a short time, counts and usernames by head. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Head } from "../../../src/read/port.ts";
import { GeneratorNames, type Unnamed } from "../../../src/read/postgres/blocks.ts";
import { CountCache, OffsetCache, type SnapshotReads } from "../../../src/read/postgres/lists/reads.ts";
import { HeadCache } from "../../../src/read/postgres/read-model.ts";
import { BlockIds } from "../../../src/read/postgres/transactions.ts";

const headAt = (height: number): Head => ({ id: `${height}`, height, timestamp: 8 * height });

test("The head is read once for concurrent callers, and again after its time.", async () => {
  let reads = 0;
  const heads = new HeadCache(5, async () => headAt(++reads));
  const [one, other] = await Promise.all([heads.head(), heads.head()]);
  expect([one, other, reads]).toEqual([headAt(1), headAt(1), 1]);
  await sleep(20);
  expect(await heads.head()).toEqual(headAt(2));
});

test("The head of a snapshot counts as read, and a failure is not kept.", async () => {
  let isBroken = true;
  const heads = new HeadCache(60_000, async () => {
    if (isBroken) throw new Error("unreachable");
    return headAt(1);
  });
  await expect(heads.head()).rejects.toThrow("unreachable");
  isBroken = false;
  expect(await heads.head()).toEqual(headAt(1));
  heads.note(headAt(2));
  // Without a promise.
  expect(heads.head()).toEqual(headAt(2));
});

test("A filter is counted once for each head, together for concurrent callers.", async () => {
  const counts = new CountCache();
  const filter = { sql: "sender = ?", values: ["a"] };
  let counted = 0;
  const count = async () => ++counted;
  expect(
    await Promise.all([counts.read(headAt(1), filter, count), counts.read(headAt(1), filter, count)]),
  ).toEqual([1, 1]);
  expect(await counts.read(headAt(1), { ...filter, values: ["b"] }, count)).toBe(2);
  expect(await counts.read(headAt(2), filter, count)).toBe(3);
  expect(await counts.read(headAt(1), filter, count)).toBe(1);
});

test("Failed counts, and those of long filters, are not kept.", async () => {
  const counts = new CountCache();
  const filter = { sql: "sender = ?", values: ["a"] };
  await expect(counts.read(headAt(1), filter, () => Promise.reject(new Error("late")))).rejects.toThrow(
    "late",
  );
  expect(await counts.read(headAt(1), filter, async () => 7)).toBe(7);
  const long = { sql: "sender = ?", values: ["a".repeat(4_000)] };
  expect([
    await counts.read(headAt(1), long, async () => 1),
    await counts.read(headAt(1), long, async () => 2),
  ]).toEqual([1, 2]);
});

/** A list of numbers, whose entries are the numbers themselves. */
function numbersUpTo(last: number) {
  const reads: string[] = [];
  const read = async (cursor: string | undefined, count: number) => {
    reads.push(`${count} after ${cursor ?? "the beginning"}`);
    const from = Number(cursor ?? 0);
    return Array.from({ length: count }, (_, index) => from + 10 * (index + 1))
      .filter((number) => number <= last)
      .map(String);
  };
  return { reads, read };
}
const LIST = { sql: "type = ?", values: [0] };

test("A page starts at the last entry of the offset cache before it; entries are read once for each head, as far as needed.", async () => {
  const offsets = new OffsetCache(10);
  const { read, reads } = numbersUpTo(1_000);
  const before = (height: number, offset: number) => offsets.before(headAt(height), LIST, offset, read);
  expect(await before(1, 9)).toEqual({ rest: 9 });
  expect(await Promise.all([before(1, 35), before(1, 30)])).toEqual([
    { cursor: "30", rest: 5 },
    { cursor: "30", rest: 0 },
  ]);
  expect(await Promise.all([before(1, 57), before(1, 42)])).toEqual([
    { cursor: "50", rest: 7 },
    { cursor: "40", rest: 2 },
  ]);
  expect(reads).toEqual(["3 after the beginning", "2 after 30"]);
  await before(2, 20);
  expect(reads.at(-1)).toBe("2 after the beginning");
});

test("The entries of a list end with it.", async () => {
  const offsets = new OffsetCache(10);
  const { read, reads } = numbersUpTo(25);
  const before = (offset: number) => offsets.before(headAt(1), LIST, offset, read);
  expect(await before(1_000)).toEqual({ cursor: "20", rest: 980 });
  expect(await before(2_000)).toEqual({ cursor: "20", rest: 1_980 });
  expect(await before(22)).toEqual({ cursor: "20", rest: 2 });
  expect(reads).toHaveLength(1);
});

test("Entries whose read failed are read again, by those who waited for it, too.", async () => {
  const offsets = new OffsetCache(10);
  const { read } = numbersUpTo(1_000);
  const late = () => Promise.reject(new Error("late"));
  const results = await Promise.allSettled([
    offsets.before(headAt(1), LIST, 30, late),
    offsets.before(headAt(1), LIST, 20, read),
    offsets.before(headAt(1), LIST, 50, read),
  ]);
  expect(results[0]).toMatchObject({ status: "rejected", reason: { message: "late" } });
  expect(results.slice(1)).toMatchObject([{ value: { cursor: "20" } }, { value: { cursor: "50" } }]);
});

test("A page beyond the last entry of a list skips the rows after it; lists with long filters have no entries.", async () => {
  const offsets = new OffsetCache(10);
  const { read, reads } = numbersUpTo(10_000_000);
  const long = { sql: "sender = ?", values: ["a".repeat(4_000)] };
  for (let time = 0; time < 2; time++) {
    expect(await offsets.before(headAt(1), LIST, 1_000_000, read)).toEqual({
      cursor: "20000",
      rest: 980_000,
    });
    expect(await offsets.before(headAt(1), long, 50, read)).toEqual({ rest: 50 });
  }
  expect(reads).toEqual(["2000 after the beginning"]);
});

test("The id of a block is read once for each head.", async () => {
  const blockIds = new BlockIds(3);
  const asked: unknown[] = [];
  const idsAt = async (head: number, ...heights: number[]) => {
    const reads: SnapshotReads = {
      ...{ head: headAt(head), transactions: 0, counts: new CountCache(), offsets: new OffsetCache() },
      async query<Row>(_: unknown, [missing]: readonly unknown[] = []) {
        asked.push(missing);
        return (missing as number[]).map((height) => ({ height, id: `${height} at ${head}` })) as Row[];
      },
    };
    const rows = heights.map((height) => ({ height, blockId: "" }));
    await blockIds.set(reads, rows);
    return rows.map(({ blockId }) => blockId);
  };
  expect(await idsAt(9, 5, 5, 6)).toEqual(["5 at 9", "5 at 9", "6 at 9"]);
  expect(await idsAt(9, 7, 5)).toEqual(["7 at 9", "5 at 9"]);
  // The cache has three ids: reading others removes that of block 5, which the page needs, too.
  expect(await idsAt(9, 5, 1, 2, 3)).toEqual(["5 at 9", "1 at 9", "2 at 9", "3 at 9"]);
  // A reorganisation can replace the block.
  expect(await idsAt(10, 5)).toEqual(["5 at 10"]);
  expect(await idsAt(10)).toEqual([]);
  expect(asked).toEqual([[5, 6], [7], [1, 2, 3], [5]]);
});

test("A username is read once for each head, also if there is none.", async () => {
  const generatorNames = new GeneratorNames();
  const asked: unknown[] = [];
  const namesAt = async (height: number, username: string, ...keys: string[]) => {
    const reads: SnapshotReads = {
      head: headAt(height),
      transactions: 0,
      counts: new CountCache(),
      offsets: new OffsetCache(),
      async query<Row>(_: unknown, values?: unknown) {
        asked.push(values);
        return [{ publicKey: "a", username }] as Row[];
      },
    };
    const blocks: Unnamed[] = keys.map((generatorPublicKey) => ({ generatorPublicKey, username: null }));
    await generatorNames.set(reads, blocks);
    return blocks.map((block) => block.username);
  };
  expect(await namesAt(1, "one", "a", "b", "a")).toEqual(["one", null, "one"]);
  expect(await namesAt(1, "changed", "b", "a")).toEqual([null, "one"]);
  // A reorganisation can give the name to another delegate.
  expect(await namesAt(2, "two", "a")).toEqual(["two"]);
  expect(asked).toEqual([[["a", "b"]], [["a"]]]);
});
