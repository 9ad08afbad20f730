/** JSON texts whose numbers keep their values. */
import { expect, test } from "vitest";
import { exactText } from "../../../src/platform/json/lossless.ts";

test.each([
  "-0",
  "0",
  "1e999",
  "-1e999",
  "1e21",
  "9007199254740993",
  '{"a":[-0,{"b":1e999}],"c":null}',
  '"\\ud800"',
])("The text of a parsed value has the same value: %s.", (text) => {
  const value: unknown = JSON.parse(text);
  expect(JSON.parse(exactText(value))).toStrictEqual(value);
});

test("Other values have the text of JSON.stringify.", () => {
  const value = { text: "a\u2028\n", list: [1.5, true, null], nested: { empty: {} } };
  expect(exactText(value)).toBe(JSON.stringify(value));
});
