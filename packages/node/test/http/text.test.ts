import { expect, test } from "vitest";
import { JsonText, responseText } from "../../src/http/core/text.ts";

test("Texts replace values, as members and in lists.", () => {
  const response = {
    data: [new JsonText('{"a":1}'), new JsonText('{"a":2}')],
    one: new JsonText("[3]"),
    plain: { b: '"' },
    absent: undefined,
    'a "name"': null,
  };
  expect(JSON.parse(responseText(response))).toEqual({
    data: [{ a: 1 }, { a: 2 }],
    one: [3],
    plain: { b: '"' },
    'a "name"': null,
  });
});

test("Values without texts are serialized as usual.", () => {
  for (const response of [{ data: [] }, {}, [1, "a"], null, "text", { data: [{ a: [] }, 2] }]) {
    expect(responseText(response)).toBe(JSON.stringify(response));
  }
});
