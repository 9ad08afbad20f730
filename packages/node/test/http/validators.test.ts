/** Schemas of parameters and bodies, each of which is compiled by the first request that it validates. */
import type { FastifyRouteSchemaDef } from "fastify/types/schema.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createValidatorCompiler } from "../../src/http/requests/parameters.ts";
import { openFixture } from "../../test-support/http/fixture.ts";

const fixture = openFixture();
const schemas: object[] = [];
fixture.app.addHook("onRoute", ({ schema }) => {
  for (const part of [schema?.params, schema?.querystring, schema?.body]) if (part) schemas.push(part);
});
beforeAll(async () => void (await fixture.app.ready()));
afterAll(() => fixture.close());

const compile = createValidatorCompiler();
const validatorOf = (schema: object) => compile({ schema } as FastifyRouteSchemaDef<object>);

test("Every schema of the API can be compiled.", () => {
  expect(schemas.length).toBeGreaterThan(50);
  for (const schema of schemas) expect(validatorOf(schema)({})).toBeTypeOf("boolean");
});

test("A validator reports errors, and does not keep them.", () => {
  const validator = validatorOf({
    type: "object",
    properties: { height: { type: "string", format: "uint" } },
  });
  expect(validator({ height: "a" })).toBe(false);
  expect(validator.errors).toMatchObject([{ instancePath: "/height", keyword: "format" }]);
  expect(validator({ height: "1" })).toBe(true);
  expect(validator.errors).toBeNull();
});

test("A schema that cannot be compiled fails its requests.", () => {
  const validator = validatorOf({
    type: "object",
    properties: { height: { type: "string", format: "none" } },
  });
  expect(() => validator({ height: "1" })).toThrow("none");
});
