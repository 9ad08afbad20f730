/** Long messages are parsed in steps, with the result of the codec (p2p.md 3.1). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeValue } from "../../../src/peers/wire/codec.ts";
import { parseGradually } from "../../../src/peers/wire/gradual-json.ts";
import { guardJson } from "../../../src/peers/wire/json-guard.ts";
import { codeOf } from "./hostile.ts";

const LENIENT = { maxDepth: 64, maxValues: 1_000_000, isStrict: false };
const STRICT = { ...LENIENT, isStrict: true };

function parse(text: string, rules = LENIENT): { value: unknown; steps: number } {
  const parsing = parseGradually(text, rules);
  for (let steps = 1; ; steps++) {
    const { done, value } = parsing.next();
    if (done) return { value, steps };
  }
}

test("The result is that of the codec for every value.", () => {
  const json = fc.oneof(
    fc.object({ withNullPrototype: false }),
    fc.array(fc.jsonValue()),
    fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue()),
  );
  fc.assert(
    fc.property(json, fc.constantFrom(undefined, 1, "\t"), (value, indent) => {
      const text = JSON.stringify(value, undefined, indent);
      expect(parse(text).value).toEqual(decodeValue(text));
    }),
  );
});

test("A text is refused if and only if the JSON parser refuses it.", () => {
  const pieces = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"a"',
    '"b":',
    "1",
    "-0",
    "1e5",
    "01",
    "-",
    ".5",
    "true",
    "nul",
    " ",
    "\n",
    '"\\u00e9"',
    '"\\x"',
    '"',
    "\\",
    "\u0000",
    '"\u0001"',
    '""',
  ];
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((some) => `[${some.join("")}]`);
  fc.assert(
    fc.property(text, (mutated) => {
      let expected: unknown;
      try {
        expected = JSON.parse(mutated);
      } catch {
        expect(codeOf(() => parse(mutated))).toBe("MESSAGE_JSON");
        return;
      }
      expect(parse(mutated).value).toEqual(expected);
    }),
    { numRuns: 3_000 },
  );
});

test("The stricter rules are those of short messages.", () => {
  const texts = [
    '{"a":1,"a":2}',
    '{"":1}',
    "[1e5]",
    '{"a":{"b":1,"\\u0062":2}}',
    '{"a":"1e5"}',
    '{"__proto__":1}',
    "[1.5]",
  ];
  for (const text of texts) {
    expect(
      codeOf(() => parse(text, STRICT)),
      text,
    ).toBe(codeOf(() => guardJson(text, STRICT)));
  }
});

test("Bytes are unwrapped at any depth, and names of inherited members have no effect.", () => {
  const text = '{"a":[{"base64":true,"data":"AQID","x":1}],"__proto__":{"polluted":true}}';
  expect(parse(text).value).toEqual(decodeValue(text));
  expect("polluted" in {}).toBe(false);
});

test("Depth and number of values are bounded as those of short messages.", () => {
  expect(codeOf(() => parse("[".repeat(65) + "]".repeat(65)))).toBe("MESSAGE_COMPLEXITY");
  const rules = { ...LENIENT, maxValues: 3 };
  for (const text of ["[1,2,3]", "[1,2,3,4]", "[[],[]]", "[[],[],[]]"]) {
    expect(
      codeOf(() => parse(text, rules)),
      text,
    ).toBe(codeOf(() => guardJson(text, rules)));
  }
});

describe("No step takes long", () => {
  const MIB = 1024 * 1024;
  test.each<[string, string]>([
    ["of a long string", `["${"a".repeat(20 * MIB)}"]`],
    ["of escapes", `["${'\\"\\u0041'.repeat(2.5 * MIB)}"]`],
    ["of backslashes", `["${"\\\\".repeat(10 * MIB)}"]`],
    ["of blanks", `[${" ".repeat(20 * MIB)}1]`],
    ["of many strings", `[${Array(990_000).fill('"aaaaaaaaaaaa"').join(",")}]`],
    ["of many objects", `[${Array(400_000).fill('{"a":1}').join(",")}]`],
  ])("%s", (_, text) => {
    const { value, steps } = parse(text);
    expect(value).toBeDefined();
    expect(steps).toBeGreaterThan(text.length / (130 * 1024));
  });

  test("of an object with many members, which is refused", () => {
    const members = (count: number) => Array.from({ length: count }, (_, index) => `"k${index}":1`);
    expect(codeOf(() => parse(`{${members(400_000)}}`))).toBe("MESSAGE_COMPLEXITY");
    expect(codeOf(() => parse(`{${members(10_000)}}`))).toBeUndefined();
  });

  test("of digits, which are refused", () => {
    expect(codeOf(() => parse(`[${"1".repeat(20 * MIB)}]`))).toBe("MESSAGE_JSON");
  });
});
