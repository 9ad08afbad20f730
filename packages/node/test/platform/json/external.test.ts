/** External JSON: bounds, syntax and form, in this order. */
import { expect, test } from "vitest";
import { parseExternal, type TextBounds } from "../../../src/platform/json/external.ts";
import { formOf } from "../../../src/platform/json/form.ts";
import { Type } from "../../../src/platform/json/schema.ts";

const BOUNDS: TextBounds = { maxCharacters: 40, maxDepth: 2, maxValues: 5 };
const FORM = formOf(Type.Object({ secrets: Type.Array(Type.String()) }));

const errorOf = (text: string): { code: string; message: string; isRetryable: boolean } => {
  try {
    parseExternal(text, FORM, BOUNDS);
  } catch (error) {
    const { code, message, isRetryable } = error as { code: string; message: string; isRetryable: boolean };
    return { code, message, isRetryable };
  }
  throw new Error("the text was accepted");
};

test("A text within the bounds and of the form is returned as value.", () => {
  expect(parseExternal('{"secrets": ["a", "b", "c"], "x": 1}', FORM, BOUNDS)).toEqual({
    secrets: ["a", "b", "c"],
    x: 1,
  });
});

test.each([
  ["a long text", `{"secrets": ["${"a".repeat(40)}"]}`, "DATA_TOO_LARGE", "it is longer than 40 characters"],
  ["nested lists", '{"secrets": [[]]}', "DATA_TOO_LARGE", "it has more than 2 nested levels"],
  ["many values", "[1,2,3,4,5,6]", "DATA_TOO_LARGE", "it has more than 5 values"],
  ["no text", " ", "DATA_NOT_JSON", "it is empty"],
  ["a text that is not JSON", "clutch captain", "DATA_NOT_JSON", "it is not JSON"],
  ["another form", "[]", "DATA_FORM", "it must be object"],
  ["a member of another form", '{"secrets": [1]}', "DATA_FORM", "/secrets/0 must be string"],
])("The error for %s has a code and the reason, without the text.", (_what, text, code, message) => {
  expect(errorOf(text)).toEqual({ code, message, isRetryable: false });
});

test("A syntax error is located, but not quoted.", () => {
  expect(errorOf('{"secrets":\n["clutch" "captain"]}').message).toMatch(
    /^it is not JSON( \(line 2 column \d+\))?$/,
  );
});
