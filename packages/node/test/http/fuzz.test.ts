/** Requests of every route, made from the document: sensible, odd and hostile ones. Whatever comes, the answer is one. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { documentOf, faultOf, type Operation, type Schema } from "./described.ts";
import { openFixture } from "./fixture.ts";
import { longer } from "./longer.ts";
import { filled, sampleOf } from "./samples.ts";

/** One of them for each route; more by hand: `FUZZ_RUNS=5000`. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 40);

const fixture = openFixture({}, {}, longer);
beforeAll(() => fixture.app.ready());
afterAll(() => fixture.close());

const hostile = fc.oneof(
  fc.string({ maxLength: 80 }),
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc.constantFrom(
    "",
    "undefined",
    "null",
    "NaN",
    "1e3",
    "-0",
    "0x10",
    "%00",
    "'; DROP TABLE blocks; --",
    "../..",
    "a".repeat(5_000),
  ),
);

/** Mostly what the schema admits, so that more than the validation is reached. */
const arbitraryOf = (schema: Schema) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant(schema).map(sampleOf) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 30 }) },
    { weight: 1, arbitrary: hostile },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  );

const membersOf = (schemas: Readonly<Record<string, Schema>>) =>
  fc.record(
    Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, arbitraryOf(schema)])),
    {
      requiredKeys: [],
    },
  );

const textOf = (value: unknown) => (typeof value === "object" ? JSON.stringify(value) : String(value));

type Shot = { path: string; query: Record<string, unknown>; payload: unknown };

function shotsOf(path: string, { parameters = [], requestBody }: Operation): fc.Arbitrary<Shot> {
  const queries = parameters.filter((one) => one.in === "query").map(({ name, schema }) => [name, schema]);
  const body = requestBody?.content["application/json"].schema;
  return fc.record({
    path: fc.oneof(
      { weight: 3, arbitrary: fc.constant(filled(path)) },
      {
        weight: 1,
        arbitrary: hostile.map((text) =>
          path.replace(/\{\w+\}/g, () => encodeURIComponent(text.toWellFormed())),
        ),
      },
    ),
    query: membersOf(Object.fromEntries(queries)),
    payload: body
      ? fc.oneof(
          { weight: 4, arbitrary: membersOf(body.properties ?? {}) },
          { weight: 1, arbitrary: fc.jsonValue() },
        )
      : fc.constant(undefined),
  });
}

test("no request of any route is a failure of the node, or answered by something else than is told", async () => {
  const statuses = new Map<number, number>();
  for (const [path, operations] of Object.entries(documentOf(fixture.app).paths)) {
    for (const [name, operation] of Object.entries(operations)) {
      const method = name.toUpperCase();
      const property = fc.asyncProperty(
        shotsOf(path, operation),
        async ({ path: filledPath, query, payload }) => {
          const search = Object.entries(query)
            .map(
              ([key, value]) =>
                `${encodeURIComponent(key)}=${encodeURIComponent(textOf(value).toWellFormed())}`,
            )
            .join("&");
          const url = `/api/v2${filledPath}${search && `?${search}`}`;
          const answer = await fixture.app.inject({
            method: method as "GET",
            url,
            ...(payload !== undefined && {
              payload: JSON.stringify(payload),
              headers: { "content-type": "application/json" },
            }),
          });
          statuses.set(answer.statusCode, (statuses.get(answer.statusCode) ?? 0) + 1);
          expect(answer.statusCode, `${method} ${url}: ${answer.body.slice(0, 300)}`).toBeLessThan(500);
          const route = `/api/v2${path.replace(/\{(\w+)\}/g, ":$1")}`;
          const { statusCode: status, body } = answer;
          if (status === 200)
            expect(faultOf(fixture.app, { method, url: route, status, body })).toBeUndefined();
        },
      );
      await fc.assert(property, { numRuns: RUNS });
    }
  }
  // Both sides of the validation are reached.
  expect(statuses.get(200)).toBeGreaterThan(200);
  expect((statuses.get(422) ?? 0) + (statuses.get(400) ?? 0)).toBeGreaterThan(200);
}, 120_000);
