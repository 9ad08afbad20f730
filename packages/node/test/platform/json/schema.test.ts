/** Builders of schemas, compared with those of typebox. */
import { Type as Typebox } from "typebox";
import { expect, test } from "vitest";
import { Type } from "../../../src/platform/json/schema.ts";

const OPTIONS = { description: "of a member", examples: ["a"] };

/** Schema with every builder, created by one of the two. */
const everything = (T: typeof Type) =>
  T.Object(
    {
      array: T.Array(T.Integer({ minimum: 1 }), { maxItems: 3 }),
      boolean: T.Boolean({ default: true, ...OPTIONS }),
      choice: T.Enum(["a", "b"], OPTIONS),
      literals: T.Union([T.Literal("a"), T.Literal(1), T.Literal(true, OPTIONS), T.Null()], OPTIONS),
      number: T.Number(),
      record: T.Record(T.String(), T.Unknown(), { maxProperties: 2, ...OPTIONS }),
      named: T.Optional(T.Record(T.String({ pattern: "^a" }), T.Unknown(OPTIONS))),
      unsafe: T.Unsafe<string>({ type: "string", format: "ip" }),
      empty: T.Object({}),
      maybe: T.Object({ only: T.Optional(T.String()) }, { additionalProperties: false }),
    },
    { additionalProperties: false, ...OPTIONS },
  );

test("Schemas have the same text as those of typebox, in the same order.", () => {
  expect(JSON.stringify(everything(Type))).toBe(JSON.stringify(everything(Typebox)));
});
