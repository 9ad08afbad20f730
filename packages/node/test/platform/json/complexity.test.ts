import fc from "fast-check";
import { expect, test } from "vitest";
import { exceededBound } from "../../../src/platform/json/external.ts";

const ENDLESS = { maxDepth: Number.POSITIVE_INFINITY, maxValues: Number.POSITIVE_INFINITY };

/** Reference result, computed from the value. */
function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}
function valuesOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const members = Object.values(value);
  return 1 + Math.max(0, members.length - 1) + members.reduce((sum, member) => sum + valuesOf(member), 0);
}

test("The complexity check counts the elements of a value, whatever its texts look like.", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat({ max: 2 }), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      const [maxDepth, maxValues] = [depthOf(value), valuesOf(value)];
      expect(exceededBound(text, { maxDepth, maxValues })).toBeUndefined();
      if (maxDepth === 0) return;
      expect(exceededBound(text, { ...ENDLESS, maxDepth: maxDepth - 1 })).toBe("maxDepth");
      expect(exceededBound(text, { ...ENDLESS, maxValues: maxValues - 1 })).toBe("maxValues");
    }),
  );
});

test.each([
  ['["\\"]]]", [1]]', undefined],
  ['["\\\\", [1]]', undefined],
  ['["\\\\", [[1]]]', "maxDepth"],
  ['["\\\\\\", [[1]]]', undefined],
  ['"[[[[[', undefined],
  ["[[", undefined],
  ["[[[", "maxDepth"],
  ['{"[[[":{}}', undefined],
  ["]]]][[", undefined],
  ["", undefined],
])("The complexity check recognises strings and escapes: %s.", (text, exceeded) => {
  expect(exceededBound(text, { maxDepth: 2, maxValues: 100 })).toBe(exceeded);
});

test("The complexity check scans a text of many quotation marks and backslashes once.", () => {
  const bounds = { maxDepth: 2, maxValues: 100 };
  for (const part of ['"', '\\"', "\\", '\\\\"']) {
    // With a scan for each of them, it would not end.
    expect(exceededBound(`"${part.repeat(1_000_000)}`, bounds)).toBeUndefined();
  }
});
