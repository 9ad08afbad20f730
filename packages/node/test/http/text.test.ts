import { expect, test } from "vitest";
import { responseText, written } from "../../src/http/responses/text.ts";

test("texts stand for values, as members and in lists", () => {
  const answer = {
    data: [written('{"a":1}'), written('{"a":2}')],
    one: written("[3]"),
    plain: { b: '"' },
    absent: undefined,
    'a "name"': null,
  };
  expect(JSON.parse(responseText(answer))).toEqual({
    data: [{ a: 1 }, { a: 2 }],
    one: [3],
    plain: { b: '"' },
    'a "name"': null,
  });
});

test("what has no texts is written as ever", () => {
  for (const answer of [{ data: [] }, {}, [1, "a"], null, "text", { data: [{ a: [] }, 2] }]) {
    expect(responseText(answer)).toBe(JSON.stringify(answer));
  }
});
