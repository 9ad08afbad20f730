/** Forms of untrusted values, compared with those of typebox. */
import fc from "fast-check";
import { Compile } from "typebox/compile";
import { expect, test } from "vitest";
import { formOf, refined } from "../../../src/peers/wire/form.ts";
import { ARGUMENTS } from "../../../src/peers/wire/requests/arguments.ts";
import { Type } from "../../../src/platform/json/schema.ts";

/** Schemas without a custom test. */
const schemas = Object.entries(ARGUMENTS).filter(
  ([, schema]) => !JSON.stringify(Object.keys(schema.properties)).match(/block"|transactions|body|ip/),
);

const member = fc.oneof(
  fc.integer({ min: -2, max: 500 }),
  fc.double(),
  fc.string(),
  fc.boolean(),
  fc.array(fc.stringMatching(/^[0-9a-f]{15,17}$/), { maxLength: 12 }),
  fc.anything(),
);
const names = [...new Set(schemas.flatMap(([, { properties }]) => Object.keys(properties))), "other"];
const argument = fc.oneof(
  fc.anything(),
  fc.dictionary(fc.constantFrom(...names), member, { maxKeys: 3 }),
  fc.record({ lastBlockHeight: fc.integer(), blockLimit: fc.integer() }, { requiredKeys: [] }),
);

test.each(schemas)("The argument of %s has the form that typebox finds.", (_, schema) => {
  const [form, judge] = [formOf(schema).is, Compile(schema)];
  fc.assert(fc.property(argument, (value) => form(value) === judge.Check(value)));
});

test("A custom test receives only values of the right type.", () => {
  const requested: unknown[] = [];
  const form = formOf(
    Type.Object({
      text: refined(Type.String(), (text) => {
        requested.push(text);
        return text === "good";
      }),
    }),
  );
  expect([{ text: "good" }, { text: "bad" }, { text: 1 }, {}, null].map(form.is)).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
  expect(requested).toEqual(["good", "bad"]);
});

test("The first violation names the member, and not the keyword of a test.", () => {
  const form = formOf(Type.Object({ text: refined(Type.String(), (text) => text === "good") }));
  expect([{ text: "bad" }, { text: 1 }, {}, null].map(form.violation)).toEqual([
    "/text is invalid",
    "/text must be string",
    "it must have required property 'text'",
    "it must be object",
  ]);
});
