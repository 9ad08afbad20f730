import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonText, parseJson } from "../../src/api/json.ts";

test("integers beyond 2^53 are read with all their digits, and written so", () => {
  const text = '{"balance":9007199254740993,"debts":[-9007199254740993,-1],"fee":9007199254740991}';
  const value = parseJson(text);
  expect(value).toEqual({
    balance: 9007199254740993n,
    debts: [-9007199254740993n, -1],
    fee: 9007199254740991,
  });
  expect(jsonText(value)).toBe(text);
});

test("digits in texts, fractions and exponents stay what they are", () => {
  const text = '{"a":"x,9007199254740993","b":0.12345678901234567,"c":1e21,"d":":9007199254740993"}';
  expect(parseJson(text)).toEqual(JSON.parse(text));
});

test("what is no JSON is a SyntaxError, however long its numbers are", () => {
  for (const text of ["", "{", "[9007199254740993"]) expect(() => parseJson(text)).toThrow(SyntaxError);
});

test("every integer comes back, alone and in a list", () => {
  fc.assert(
    fc.property(fc.bigInt(), (integer) => {
      for (const text of [`${integer}`, `[1, ${integer}]`]) {
        expect(jsonText(parseJson(text))).toBe(text.replace(" ", ""));
      }
    }),
  );
});

test("texts come back, whatever they look like", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'0123456789,:[ "\\') }), (text) => {
      expect(parseJson(jsonText([text, 9007199254740993n]))).toEqual([text, 9007199254740993n]);
    }),
  );
});
