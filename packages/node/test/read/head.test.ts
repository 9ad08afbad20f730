import { expect, test } from "vitest";
import { type Head, perHead, perSnapshot } from "../../src/read/port.ts";

const head = (id: string) => ({ id, height: 1, timestamp: 0 });

test("A value that depends on the head is computed once for each head.", () => {
  let count = 0;
  const counted = perHead(() => ++count);
  expect([counted(head("a")), counted(head("a")), counted(head("b")), counted(head("a"))]).toEqual([
    1, 1, 2, 3,
  ]);
});

test("Concurrent reads of a snapshot are executed once for each head.", async () => {
  let count = 0;
  const counted = perSnapshot(async () => ++count);
  const requested = ["a", "a", "b", "b"].map((id) => counted({ head: head(id) }));
  expect(await Promise.all(requested)).toEqual([1, 1, 2, 2]);
});

test("A failed read is repeated.", async () => {
  let count = 0;
  const counted = perSnapshot(async () => {
    if (++count === 1) throw new Error("no");
    return count;
  });
  await expect(counted({ head: head("a") })).rejects.toThrow("no");
  expect(await counted({ head: head("a") })).toBe(2);
});

test("A read that waited for a failed one of another snapshot is repeated in its own.", async () => {
  let count = 0;
  const counted = perSnapshot(async ({ isQuick }: { head: Head; isQuick: boolean }) => {
    count++;
    if (isQuick) throw new Error("no");
    return count;
  });
  const quick = counted({ head: head("a"), isQuick: true });
  const slow = [0, 1].map(() => counted({ head: head("a"), isQuick: false }));
  await expect(quick).rejects.toThrow("no");
  expect(await Promise.all(slow)).toEqual([2, 2]);
});
