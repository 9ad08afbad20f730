/** Long messages are parsed in steps, with the result of the codec (p2p.md 3.1). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeValue, guardJson } from "../../../src/peers/wire/codec.ts";
import { parseGradually } from "../../../src/peers/wire/gradual-json.ts";
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

const MIB = 1024 * 1024;
/** Characters that a step may read: those of the step, and of the string in which it ends. */
const STEP = 130 * 1024;

describe("Every step is bounded by characters", () => {
  test.each<[string, string]>([
    ["of a long string", `["${"a".repeat(20 * MIB)}"]`],
    [
      "of a long string whose characters contain the byte of a quotation mark",
      `["${"\u2222".repeat(7 * MIB)}"]`,
    ],
    ["of blanks", `[${" ".repeat(20 * MIB)}1]`],
    ["of blanks between brackets", "[".repeat(60) + `${" ".repeat(60_000)}]`.repeat(60)],
    ["of many strings", `[${Array(990_000).fill('"aaaaaaaaaaaa"').join(",")}]`],
    ["of many strings with escapes", `[${Array(990_000).fill('"\\n\\u0041aaa"').join(",")}]`],
    [
      "of long strings with escapes",
      `[${Array(100)
        .fill(`"${"\\nA".repeat(21_000)}"`)
        .join(",")}]`,
    ],
    ["of many objects", `[${Array(400_000).fill('{"a":1}').join(",")}]`],
  ])("%s", (_, text) => {
    const { value, steps } = parse(text);
    expect(value).toBeDefined();
    expect(steps).toBeGreaterThan(text.length / STEP);
  });

  test("Bytes are decoded in bounded steps after the text is read.", () => {
    const bytes = Buffer.alloc(15 * MIB, "abc").fill("x", 100_000, 200_000);
    for (const length of [bytes.length, bytes.length - 1, bytes.length - 2]) {
      const text = JSON.stringify({ base64: true, data: bytes.subarray(0, length).toString("base64") });
      const { value, steps } = parse(text);
      expect(Buffer.compare(value as Uint8Array, bytes.subarray(0, length))).toBe(0);
      expect(steps).toBeGreaterThan((2 * text.length) / STEP);
    }
  });
});

describe("What would make a step long is refused", () => {
  test.each<[string, string]>([
    ["a long string of escapes", `["${'\\"\\u0041'.repeat(2.5 * MIB)}"]`],
    ["a long string of backslashes", `["${"\\\\".repeat(10 * MIB)}"]`],
    ["a long string in which escapes alternate with text", `["${"\\nA".repeat(7 * MIB)}"]`],
    ["a long string that ends with an escape", `["${"A".repeat(100_000)}\\n"]`],
    ["a long key", `{"${"a".repeat(2_000)}":1}`],
    ["an object with many members", `{${Array.from({ length: 1_001 }, (_, index) => `"k${index}":1`)}}`],
  ])("%s", (_, text) => {
    expect(codeOf(() => parse(text))).toBe("MESSAGE_COMPLEXITY");
  });

  test.each<[string, string]>([
    ["a number of many digits", `[${"1".repeat(20 * MIB)}]`],
    ["a long string of escapes without end", `["${"\\n".repeat(20_000)}`],
    ["long bytes that are not in base64", `{"base64":true,"data":"${"AAAA".repeat(100_000)}!"}`],
    ["long bytes with padding inside", `{"base64":true,"data":"AA==${"AAAA".repeat(100_000)}"}`],
  ])("%s", (_, text) => {
    expect(codeOf(() => parse(text))).toBe("MESSAGE_JSON");
  });

  test("Long texts and large objects are accepted at the bounds.", () => {
    const escaped = "\\nA".repeat(21_845);
    const members = Array.from({ length: 1_000 }, (_, index) => `"k${index}":1`);
    expect(parse(`["${escaped}"]`).value).toEqual(["\nA".repeat(21_845)]);
    expect(Object.keys(parse(`{${members}}`).value as object)).toHaveLength(1_000);
    expect(parse(`{"${"a".repeat(1_023)}":1}`).value).toEqual({ ["a".repeat(1_023)]: 1 });
  });
});
