import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Condition, compileConditions } from "../../src/subscriptions/conditions/conditions.ts";
import { Meter } from "../../src/subscriptions/conditions/cost.ts";
import { createLookup, type Entry } from "../../src/subscriptions/conditions/lookup.ts";
import { operators } from "../../src/subscriptions/conditions/operators.ts";

const eq = (key: string, value: unknown): Condition => ({ key, condition: "eq", value });
const entry = (value: string, conditions: Condition[], match: "any" | "all" = "any"): Entry<string> => ({
  value,
  conditions,
  match,
});

describe("a lookup", () => {
  test("A lookup finds by value.", () => {
    const find = createLookup([
      entry("one", [eq("height", "1")]),
      entry("two", [eq("height", 2)]),
      entry("two as text", [eq("name", "2")]),
      entry("true", [eq("name", true)]),
    ]);
    expect(find({ height: 1 })).toEqual(["one"]);
    expect(find({ height: 2, name: "2" })).toEqual(["two", "two as text"]);
    expect(find({ name: true })).toEqual(["true"]);
    expect(find([{ height: 1 }, { height: 2 }])).toEqual(["one", "two"]);
    expect(find({ height: 3 })).toEqual([]);
    expect(find(undefined)).toEqual([]);
  });

  test("A lookup finds by limits.", () => {
    const find = createLookup([
      entry("above 5", [{ key: "amount", condition: "gt", value: "5" }]),
      entry("below 5", [{ key: "amount", condition: "lt", value: "5" }]),
      entry("above 7", [{ key: "amount", condition: "gte", value: "7" }]),
      entry("from 6 to 8", [{ key: "amount", condition: "between", value: "6,8" }]),
    ]);
    expect(find({ amount: "7" })).toEqual(["above 5", "above 7", "from 6 to 8"]);
    expect(find({ amount: "-7" })).toEqual(["below 5"]);
    expect(find({ amount: "seven" })).toEqual([]);
  });

  test("A lookup for all conditions needs one member, and always returns candidates that values cannot find.", () => {
    const find = createLookup([
      entry("both", [{ key: "text", condition: "regexp", value: "a" }, eq("type", "0")], "all"),
      entry("either", [{ key: "text", condition: "regexp", value: "a" }, eq("type", "0")]),
      entry("always", []),
      entry("object", [eq("asset", '{"a":1}')]),
    ]);
    expect(find({ type: 1 })).toEqual(["either", "always", "object"]);
    expect(find({ type: 0 })).toEqual(["both", "either", "always", "object"]);
  });

  test("A lookup evaluates few of many.", () => {
    const find = createLookup(
      Array.from({ length: 10_000 }, (_, index) => entry(`${index}`, [eq("id", `${index}`)])),
    );
    expect(find({ id: "77" })).toEqual(["77"]);
  });

  test("A lookup never misses a match.", () => {
    const scalar = fc.oneof(
      fc.constantFrom("1", "01", "1.0", "-1", "0", "-0", "true", "false", "", "a", "{}", "[1]", "1e3"),
      fc.constantFrom(1, 1.5, -1, 0, 1000),
      fc.constantFrom(true, false, null),
    );
    const value = fc.oneof(scalar, fc.constantFrom<unknown>({}, [1], { a: 1 }, ["a"]));
    const condition = fc
      .record({
        key: fc.constantFrom("a", "b", "a.b"),
        condition: fc.constantFrom(...(Object.keys(operators) as (keyof typeof operators)[])),
        value,
      })
      .map((given) => (given.condition.includes("between") ? { ...given, value: "0,2" } : given))
      .map((given) => (given.condition === "regexp" ? { ...given, value: "1" } : given));
    const entries = fc.array(
      fc.record({
        conditions: fc.array(condition, { maxLength: 3 }),
        match: fc.constantFrom("any" as const, "all" as const),
      }),
      { maxLength: 8 },
    );
    const object = fc.dictionary(fc.constantFrom("a", "b"), fc.oneof(value, fc.constant({ b: 1 })));
    fc.assert(
      fc.property(entries, fc.oneof(object, fc.array(object)), (lists, content) => {
        const given = lists.map((list, index) => ({ ...list, value: index }));
        const holding = given
          .filter(({ conditions, match }) => compileConditions(conditions, match)(content, new Meter()))
          .map((entry) => entry.value);
        const found = createLookup(given)(content);
        expect(found).toEqual([...found].sort((a, b) => a - b));
        expect(found).toEqual(expect.arrayContaining(holding));
      }),
      { numRuns: 3_000 },
    );
  });
});
