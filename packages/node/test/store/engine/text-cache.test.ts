import { describe, expect, test } from "vitest";
import { TextCache } from "../../../src/store/engine/dictionary.ts";

const SLOTS = 131_072;

describe("a cache of texts", () => {
  test("A cache of texts returns the texts of numbers, of any length up to that of a slot.", () => {
    const cache = new TextCache(5);
    const texts = ["", "a", "abcde"];
    for (const [index, text] of texts.entries()) cache.set(1 + index, text);
    expect(texts.map((_, index) => cache.get(1 + index))).toEqual(texts);
    expect([cache.has(3), cache.has(4), cache.get(4)]).toEqual([true, false, undefined]);
  });

  test("A cache of texts does not add a text that is longer than a slot.", () => {
    const cache = new TextCache(5);
    cache.set(1, "abcdef");
    expect(cache.get(1)).toBeUndefined();
    cache.set(2, "abcde");
    expect([cache.get(1), cache.get(2)]).toEqual([undefined, "abcde"]);
  });

  test("A cache of texts keeps all texts while it grows.", () => {
    const cache = new TextCache(6);
    for (let number = 1; number < SLOTS; number = 2 * number + 1) {
      cache.set(number, `${number}`);
      for (let other = 1; other <= number; other = 2 * other + 1) expect(cache.get(other)).toBe(`${other}`);
    }
    expect(cache.has(2)).toBe(false);
  });

  test("A cache of texts forgets a number when another one takes its slot, however large it is.", () => {
    const cache = new TextCache(5);
    const others = [1 + SLOTS, 1 + 2 ** 32, 1 + 2 ** 32 * SLOTS];
    for (const other of others) {
      cache.set(1, "one");
      expect(cache.get(other)).toBeUndefined();
      cache.set(other, "other");
      expect([cache.get(1), cache.get(other)]).toEqual([undefined, "other"]);
    }
  });

  test("A cache of texts has no text after it was cleared.", () => {
    const cache = new TextCache(5);
    cache.set(1, "one");
    cache.clear();
    expect(cache.get(1)).toBeUndefined();
  });
});
