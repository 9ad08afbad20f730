import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { jsonText, parseIndexed, parseJson, textIndexed } from "../../src/api/json.ts";

test("Integers beyond 2^53 keep all their digits when read and written.", () => {
  const text = '{"balance":9007199254740993,"debts":[-9007199254740993,-1],"fee":9007199254740991}';
  const value = parseJson(text);
  expect(value).toEqual({
    balance: 9007199254740993n,
    debts: [-9007199254740993n, -1],
    fee: 9007199254740991,
  });
  expect(jsonText(value)).toBe(text);
});

test("Digits in texts, fractions and exponents are unchanged.", () => {
  const text = '{"a":"x,9007199254740993","b":0.12345678901234567,"c":1e21,"d":":9007199254740993"}';
  expect(parseJson(text)).toEqual(JSON.parse(text));
});

test("Invalid JSON is a SyntaxError, however long its numbers are.", () => {
  for (const text of ["", "{", "[9007199254740993"]) expect(() => parseJson(text)).toThrow(SyntaxError);
});

test("Every integer survives a round trip, alone and in a list.", () => {
  fc.assert(
    fc.property(fc.bigInt(), (integer) => {
      for (const text of [`${integer}`, `[1, ${integer}]`]) {
        expect(jsonText(parseJson(text))).toBe(text.replace(" ", ""));
      }
    }),
  );
});

test("Texts survive a round trip, whatever they contain.", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'0123456789,:[ "\\') }), (text) => {
      expect(parseJson(jsonText([text, 9007199254740993n]))).toEqual([text, 9007199254740993n]);
    }),
  );
});

describe("without the digits of the runtime (Node.js 20)", () => {
  /** JSON of other writers: spaces, escapes, exponents, repeated names, names that are integers. */
  const texts = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.bigInt().map(String),
      fc.bigInt({ min: 9007199254740990n, max: 9007199254740994n }).map(String),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
      fc.constantFrom(
        "-0",
        "1E400",
        "-1.50e+2",
        "0e0",
        "10000000000000000.0",
        "true",
        "null",
        '"\\\\"',
        '"\\u0031"',
      ),
      fc.string({ unit: fc.constantFrom(...'0129-,:[]{}" \\eE.\u2028') }).map((text) => JSON.stringify(text)),
      fc.array(tie("value"), { maxLength: 4 }).map((items) => `[ ${items.join(" ,\n")} ]`),
      fc
        .array(
          fc.tuple(fc.constantFrom("1", "0", "a", "12345678901234567", "__proto__", '\\"'), tie("value")),
          {
            maxLength: 4,
          },
        )
        .map((members) => `{${members.map(([name, value]) => `"${name}":${value}`).join(",")}}`),
    ),
  })).value;

  test("Property: every text is read and written as by the runtime.", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const expected = parseJson(`[9007199254740993,${text}]`);
        expect(parseIndexed(`[9007199254740993,${text}]`)).toEqual(expected);
        expect(textIndexed(expected)).toBe(jsonText(expected));
      }),
      { numRuns: 2_000 },
    );
  });

  test("Property: invalid JSON is a SyntaxError, also if a number was cut or repeated.", () => {
    const altered = fc
      .tuple(texts, fc.nat(), fc.constantFrom("0", "-", ".", "e", '"', ""))
      .map(([text, at, put]) => {
        const place = at % (text.length + 1);
        return text.slice(0, place) + put + text.slice(place + 1);
      });
    fc.assert(
      fc.property(altered, (text) => {
        let isJson = true;
        try {
          JSON.parse(text);
        } catch {
          isJson = false;
        }
        if (isJson) parseIndexed(text);
        else expect(() => parseIndexed(text)).toThrow(SyntaxError);
      }),
      { numRuns: 2_000 },
    );
  });

  test("Values that only JavaScript has are written as usual.", () => {
    const dated = {
      at: new Date(0),
      list: [undefined, Number.NaN, new Number(2), 2n ** 70n, Infinity],
      no: undefined,
    };
    expect(textIndexed(dated)).toBe(jsonText(dated));
    for (const value of [undefined, 5n, -0, "1", null, () => 1])
      expect(textIndexed(value)).toBe(jsonText(value));
  });

  test("A string of ten million escapes is read.", () => {
    const text = `["${"\\n".repeat(10_000_000)}",9007199254740993]`;
    expect(parseIndexed(text)).toHaveProperty("1", 9007199254740993n);
  });
});
