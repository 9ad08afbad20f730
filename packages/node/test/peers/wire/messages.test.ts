/** The text of messages: codec and guard (p2p.md 3.1, 6.2). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeValue, encodeValue, guardJson } from "../../../src/peers/wire/codec.ts";
import { anyJson, anyText, codeOf, survives } from "./hostile.ts";

const STRICT = { maxDepth: 8, maxValues: 50, isStrict: true };

describe("the codec", () => {
  const bytes = fc.uint8Array();
  const value = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom(null, true),
      fc.integer(),
      fc.string(),
      bytes,
      fc.array(tie("value")),
      fc.dictionary(
        fc.string().filter((name) => name !== "base64" && name !== "__proto__"),
        tie("value"),
        { noNullPrototype: true },
      ),
    ),
  })).value;

  test("The codec decodes its own output, byte strings included.", () => {
    fc.assert(
      fc.property(value, (member) => {
        expect(decodeValue(encodeValue({ member }))).toEqual({ member });
      }),
    );
  });

  test("The codec omits members that are undefined.", () => {
    expect(encodeValue({ a: undefined, b: 1 })).toBe('{"b":1}');
  });

  test("The codec writes buffers and views as byte strings.", () => {
    const view = new Uint8Array([9, 1, 2, 9]).subarray(1, 3);
    expect(encodeValue({ a: Buffer.from([1, 2]), b: view })).toBe(
      '{"a":{"base64":true,"data":"AQI="},"b":{"base64":true,"data":"AQI="}}',
    );
  });

  test("The codec reads objects as byte strings only with the exact members.", () => {
    expect(decodeValue('{"base64":1,"data":"AA=="}')).toEqual({ base64: 1, data: "AA==" });
    expect(decodeValue('{"base64":true,"data":1}')).toEqual({ base64: true, data: 1 });
    expect(decodeValue('[{"base64":true,"data":"AQ==","more":1}]')).toEqual([Uint8Array.of(1)]);
  });

  test("The codec keeps other texts.", () => {
    for (const text of ["", "#1", "12", "null", "{", "[1,", "\u00a0{}"]) expect(decodeValue(text)).toBe(text);
    expect(decodeValue(" \r\n\t[]")).toEqual([]);
  });

  test("The codec never throws.", () => {
    fc.assert(fc.property(anyText, (text) => void decodeValue(text)));
    expect(decodeValue("[".repeat(100_000))).toBe("[".repeat(100_000));
  });
});

describe("the guard", () => {
  const accepts = (text: string, rules = STRICT) => codeOf(() => guardJson(text, rules)) === undefined;

  test("The guard finds repeated and empty keys and exponents anywhere.", () => {
    expect(accepts('{"a":{"b":[{"c":1,"c":2}]}}')).toBe(false);
    expect(accepts('{"a":[1,2,{"":1}]}')).toBe(false);
    expect(accepts('{"a":[-1.5e-3]}')).toBe(false);
    expect(accepts("[1E2]")).toBe(false);
  });

  test("The guard distinguishes texts, words and nested keys.", () => {
    expect(accepts('{"a":"1e5","b":"\\"1e5","c":"\\\\","d":true,"e":false,"f":{"a":1}}')).toBe(true);
    expect(accepts('{"a":["x","x","",{"x":1}],"x":"x"}')).toBe(true);
    expect(accepts('{"__proto__":1,"constructor":2}')).toBe(true);
    expect(accepts('{"__proto__":1,"__proto__":2}')).toBe(false);
  });

  test("A guard that is not strict accepts repeated and empty keys and exponents.", () => {
    expect(accepts('{"":1,"a":1e5,"a":2}', { ...STRICT, isStrict: false })).toBe(true);
  });

  test("The guard bounds depth and number of values.", () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    expect(accepts(nested(8))).toBe(true);
    expect(codeOf(() => guardJson(nested(9), STRICT))).toBe("MESSAGE_COMPLEXITY");
    expect(codeOf(() => guardJson('{"a":'.repeat(9), STRICT))).toBe("MESSAGE_COMPLEXITY");
    const list = (length: number) => JSON.stringify(Array(length).fill(1));
    expect(accepts(list(50))).toBe(true);
    expect(codeOf(() => guardJson(list(51), STRICT))).toBe("MESSAGE_COMPLEXITY");
    expect(codeOf(() => guardJson("{},".repeat(51), STRICT))).toBe("MESSAGE_COMPLEXITY");
  });

  test("The guard accepts every JSON without exponents, empty keys and excess.", () => {
    const rules = { maxDepth: 100, maxValues: 10_000, isStrict: true };
    fc.assert(
      fc.property(anyJson, (value) => {
        const text = JSON.stringify(value);
        const hasOddity = /[0-9]e[+-]?[0-9]|"":/.test(text);
        expect(accepts(text, rules) || hasOddity).toBe(true);
      }),
    );
  });

  test("The guard never throws anything but the typed error.", () => {
    fc.assert(fc.property(anyText, (text) => void survives(() => guardJson(text, STRICT))));
  });
});
