import { describe, expect, test } from "vitest";
import { parseJson } from "../../src/platform/json/lossless.ts";
import { type Condition, compileConditions } from "../../src/subscriptions/conditions/conditions.ts";
import { Meter } from "../../src/subscriptions/conditions/cost.ts";
import { type OperatorName, operators } from "../../src/subscriptions/conditions/operators.ts";
import { OperandError } from "../../src/subscriptions/subscription-error.ts";

/** Returns true if `a` passes the operator with the operand in this JSON text. */
const passes = (operator: OperatorName, a: unknown, operand?: string) =>
  operators[operator](operand === undefined ? undefined : parseJson(operand))(a, new Meter());

const missing = undefined;

/** Operator, operand as JSON text, values that pass, values that do not. */
const TABLE: [OperatorName, string | undefined, unknown[], unknown[]][] = [
  // The table of webhooks.md 6.3, A = 101.
  ["between", '{"min":100,"max":102}', [101], [100, 102, 99, 103]],
  ["between", '{"min":101,"max":102}', ["101.5"], [101, 102]],
  ["between", '{"min":"100","max":"102"}', [101, "101"], ["100"]],
  ["not-between", '{"min":1,"max":2}', [101, 1, 2, "0"], ["1.5", missing, "x", true, null]],
  ["not-between", '{"min":100,"max":102}', [100, 102], [101]],
  ["eq", '"101"', [101, "101"], ["0101", 102, missing, null, "101.0"]],
  ["eq", "101", [101, "101", "0101", "101.0"], [102, missing, "1e2", " 101", ""]],
  ["eq", '"0101"', [101, "0101"], ["101"]],
  ["gt", '"100"', [101, "101", "100.5"], [100, 99, missing, "x", "", true, null, {}, ["101"]]],
  ["gte", '"101"', [101, 102], [100, missing]],
  ["lt", '"101"', [100, "-5", -5], [101, missing]],
  ["lte", '"101"', [101, 100], [102, missing]],
  ["truthy", undefined, [true, "true", " TRUE "], [101, 1, false, "1", missing, null, {}, [true]]],
  ["falsy", undefined, [101, 0, false, "", "no", null, {}], [true, "True", missing]],
  ["ne", '"1"', [missing, 2, "2", null], [1, "1"]],
  ["eq", '"1"', [1], [missing]],
  // Numbers of any size.
  ["eq", "9007199254740993", ["9007199254740993"], ["9007199254740992", 9007199254740992]],
  ["eq", "1.50", [1.5, "1.5"], ["1.51"]],
  ["eq", "1e3", [1000, "1000"], [100]],
  ["gt", '"9007199254740992"', ["9007199254740993"], ["9007199254740992"]],
  ["gt", `"${"9".repeat(300)}"`, [`1${"0".repeat(300)}`], ["9".repeat(300)]],
  ["lt", '"0.1"', ["0.09999999999999999999", 1e-7], ["0.10", "0.1"]],
  ["lt", '"-1"', ["-1.5", "-2"], ["-1", "-0.5", "0"]],
  ["gte", '"-0"', ["0", "-0", 0], ["-0.1"]],
  ["gt", "1e300", [1e301], [1e299]],
  ["gt", "1e999999999", [], [1e308, "5"]],
  ["gt", '"abc"', [], [1, "abc", missing]],
  ["gt", "true", [], [5]],
  ["gt", '""', [], [5, "5"]],
  ["gt", '"1e2"', [], [5000]],
  ["gt", '"+1"', [], [5000]],
  // eq on the other kinds.
  ["eq", '"abc"', ["abc"], ["ABC", "abcd"]],
  ["eq", "true", [true], [false, "true", 1]],
  ["eq", '"true"', [true, "true"], [false, "TRUE"]],
  ["eq", '"false"', [false], [true, missing]],
  ["eq", "null", [null], [missing, "null", 0]],
  ["eq", '{"b":[1,{"c":"x"}],"a":null}', [{ a: null, b: [1, { c: "x" }] }], [{ a: null, b: [1] }, {}]],
  ["eq", '"{\\"a\\":1.0}"', [{ a: 1 }], [{ a: "1" }, { a: 1, b: 2 }, { a: 2 }]],
  ["eq", '"[1,\\"2\\"]"', [[1, "2"]], [[1, 2], [1], { 0: 1, 1: "2" }]],
  ["eq", '"[1,"', ["[1,"], [[1]]],
  ["eq", '{"a":9007199254740993}', [], [{ a: 9007199254740992 }, { b: 1 }]],
  ["ne", '{"a":1}', [{ a: 2 }, missing], [{ a: 1 }]],
  // contains
  ["contains", '"ell"', ["hello", ["x", "ell"], { ell: 1 }], ["help", [], {}, missing, 5, null]],
  ["contains", "12", ["4127", [12], ["12"], { 12: 0 }], [12, "1"]],
  ["contains", '"101"', [[101]], [["x101"]]],
  ["contains", '{"a":1}', [[{ a: 1 }]], ['{"a":1}', { a: 1 }]],
  ["contains", '"toString"', [], [{}]],
  // regexp
  ["regexp", '"^03[0-9a-f]{64}$"', [`03${"a".repeat(64)}`], [`02${"a".repeat(64)}`, missing, null, {}]],
  ["regexp", '"b+"', ["abbc"], ["ac"]],
  ["regexp", '"undefined"', [], [missing]],
  ["regexp", '"^10"', [101], [110]],
  ["regexp", '"tr"', [true], [false]],
  ["regexp", '"\\\\u0041\\\\/x"', ["A/x"], ["B"]],
  ["regexp", '"a"', ["a".repeat(4096)], ["a".repeat(4097)]],
  // Forms of an interval.
  ["between", '"{\\"min\\":1,\\"max\\":\\"3\\"}"', [2], [1]],
  ["between", "[1,3]", [2], [3]],
  ["between", '"[1,3]"', [2], [3]],
  ["between", '"1,3"', [2], [3]],
  ["between", '" -1.5 .. 3 "', [-1, 2.5], [-1.5]],
  ["between", '"1..3"', [2], [3]],
  ["between", '{"min":3,"max":1}', [], [2]],
  ["not-between", '{"min":3,"max":1}', [2], []],
  ["between", "[9007199254740992,9007199254740994]", ["9007199254740993"], ["9007199254740994"]],
];

describe("operators", () => {
  test.each(TABLE)("%s %s", (operator, operand, trueValues, falseValues) => {
    for (const value of trueValues) expect([value, passes(operator, value, operand)]).toEqual([value, true]);
    for (const value of falseValues)
      expect([value, passes(operator, value, operand)]).toEqual([value, false]);
  });

  test.each([
    ["between", '"1"'],
    ["between", "1"],
    ["between", "null"],
    ["between", '{"min":1}'],
    ["between", '{"min":1,"max":"x"}'],
    ["between", "[1]"],
    ["between", "[1,2,3]"],
    ["between", '"1,2,3"'],
    ["between", '"\\"1,2\\""'],
    ["not-between", '"a..b"'],
    ["regexp", '"["'],
    ["regexp", "5"],
  ] as [OperatorName, string][])("%s refuses %s", (operator, operand) => {
    expect(() => operators[operator](parseJson(operand))).toThrow(OperandError);
  });

  test("A pattern with catastrophic backtracking ends at once.", () => {
    expect(passes("regexp", `${"a".repeat(4000)}b`, '"^(a+)+$"')).toBe(false);
  });
});

describe("conditions", () => {
  const fires = (content: unknown, ...conditions: Condition[]) =>
    compileConditions(conditions)(content, new Meter());
  const eq = (key: string, value: unknown): Condition => ({ key, condition: "eq", value });

  test("One true condition is enough, and one that cannot be evaluated affects no other.", () => {
    const content = { height: 101 };
    const no: Condition = { key: "nothing", condition: "contains", value: "x" };
    const yes: Condition = { key: "height", condition: "gt", value: "100" };
    const notBetween: Condition = { key: "height", condition: "not-between", value: "100..102" };
    expect(fires(content, no, yes)).toBe(true);
    expect(fires(content, notBetween, yes)).toBe(true);
    expect(fires(content, no, notBetween)).toBe(false);
  });

  test("Own members take precedence over paths.", () => {
    const content = { "a.b": 1, a: { b: 2, "c.d": 3 }, list: [{ id: "x" }] };
    expect(fires(content, eq("a.b", 1))).toBe(true);
    expect(fires(content, eq("a.b", 2))).toBe(false);
    expect(fires(content, eq("a.c.d", 3))).toBe(true);
    expect(fires(content, eq("list.0.id", "x"))).toBe(true);
    expect(fires(content, eq("list.1.id", "x"))).toBe(false);
    expect(fires(content, eq("list.length", 1))).toBe(true);
    expect(fires(content, eq("a.", 2))).toBe(false);
    expect(fires(content, eq("a.b.c", 2))).toBe(false);
    expect(fires({ constructor: 1 }, eq("constructor.name", "Number"))).toBe(false);
    expect(fires({}, { key: "toString", condition: "falsy" })).toBe(false);
  });

  test("An array passes when one of its elements does.", () => {
    const content = [{ id: "a", fee: "5" }, { id: "b" }];
    expect(fires(content, eq("id", "b"))).toBe(true);
    expect(fires(content, eq("id", "c"))).toBe(false);
    expect(fires(content, eq("1.id", "b"))).toBe(true);
    expect(fires(content, eq("1.id", "a"))).toBe(false);
    expect(fires(content, eq("length", "2"))).toBe(true);
    expect(fires(content, { key: "fee", condition: "ne", value: "5" })).toBe(true);
    expect(fires([content[0]], { key: "fee", condition: "ne", value: "5" })).toBe(false);
    expect(fires([], { key: "fee", condition: "ne", value: "5" })).toBe(false);
  });

  test("Events without members still match ne.", () => {
    const always: Condition = { key: "id", condition: "ne", value: "" };
    for (const content of [undefined, true, null, {}, { id: "x" }, "text"]) {
      expect([content, fires(content, always)]).toEqual([content, true]);
    }
    expect(fires(undefined, eq("id", ""))).toBe(false);
  });

  test("An empty list of conditions always matches.", () => {
    expect(fires({})).toBe(true);
  });
});

test("Numbers keep their text.", () => {
  const text = '{"a":9007199254740993,"b":1.50,"c":[1e3,-0,7],"d":"1.50"}';
  expect(JSON.stringify(parseJson(text))).toBe(text);
  expect(() => parseJson("[".repeat(200_000))).toThrow();
});
