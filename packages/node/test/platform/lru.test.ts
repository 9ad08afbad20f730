import { expect, test } from "vitest";
import { Lru } from "../../src/platform/bounded-entries.ts";

test("A value is created once, as long as it is used more recently than others.", () => {
  const made: string[] = [];
  const cache = new Lru<string, string>(2);
  const read = (key: string) =>
    cache.get(key, () => {
      made.push(key);
      return key.toUpperCase();
    });
  expect(["a", "b", "a", "c", "a", "b"].map(read)).toEqual(["A", "B", "A", "C", "A", "B"]);
  expect(made).toEqual(["a", "b", "c", "b"]);
});

test("A value that cannot be created is not cached.", () => {
  const cache = new Lru<string, string>(1);
  const fail = () => {
    throw new Error("no value");
  };
  expect(() => cache.get("a", fail)).toThrow("no value");
  expect(cache.get("a", () => "A")).toBe("A");
  expect(cache.get("a", fail)).toBe("A");
});
