/** Forms of the arguments of peers, compared with those of typebox. */
import fc from "fast-check";
import { Compile } from "typebox/compile";
import { test } from "vitest";
import { ARGUMENTS } from "../../../src/peers/wire/events.ts";
import { formOf } from "../../../src/platform/json/form.ts";

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
