import fc from "fast-check";
import { expect, test } from "vitest";
import { rowKeys } from "../../src/components/transactions/row-keys.ts";

const NONE = new Map<string, number>();
const known = (ids: readonly string[]) => rowKeys(NONE, ids);
const keysOf = (...given: Parameters<typeof rowKeys>) => [...rowKeys(...given).values()];

test("A row that stays keeps its key, and a new one gets that of a removed row.", () => {
  expect(keysOf(NONE, ["a", "b", "c"])).toEqual([0, 1, 2]);
  expect(keysOf(known(["a", "b", "c"]), ["d", "a", "b"])).toEqual([2, 0, 1]);
  expect(keysOf(known(["a", "b"]), ["x", "y", "z"])).toEqual([0, 1, 2]);
  expect(keysOf(known(["a", "b", "c"]), ["c"])).toEqual([2]);
});

test("No two rows have the same key.", () => {
  const ids = fc.uniqueArray(fc.constantFrom(..."abcdefghij"));
  fc.assert(
    fc.property(ids, ids, (before, after) => {
      const keys = rowKeys(known(before), after);
      expect([...keys.keys()]).toEqual(after);
      expect(new Set(keys.values()).size).toBe(after.length);
      for (const id of after) {
        if (before.includes(id)) expect(keys.get(id)).toBe(known(before).get(id));
      }
    }),
  );
});
