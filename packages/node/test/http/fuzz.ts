/** Requests derived from the document: sensible, odd and hostile ones. */

import fc from "fast-check";
import { expect } from "vitest";
import type { Server } from "../../src/http/core/app.ts";
import { present } from "../../src/platform/present.ts";
import { documentOf, faultOf, type Operation, type Schema } from "../../test-support/http/described.ts";
import { filled, sampleOf } from "./samples.ts";

/** Requests per route; more by hand: `FUZZ_RUNS=5000`. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 15);

type Request = {
  readonly method: "GET";
  readonly url: string;
  readonly payload?: string;
  readonly headers: Readonly<Record<string, string>>;
};
/** Response without the body if the body does not end. */
type ApiResponse = { readonly statusCode: number; readonly body?: string };

export type FuzzOptions = {
  /** Paths of the document. */
  readonly isMeant: (path: string) => boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the parameters of a documented path by existing ids. */
  readonly fill?: (path: string) => string;
  readonly send?: (request: Request) => Promise<ApiResponse>;
};

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

/** Draws mostly values that the schema admits, so that more than the validation is reached. */
const arbitraryOf = (schema: Schema) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant(schema).map(sampleOf) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 30 }) },
    { weight: 1, arbitrary: hostile },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  );

/** Draws some of the members: valid values, or arbitrary ones. */
const membersOf = (schemas: Readonly<Record<string, Schema>>, required: readonly string[] = []) => {
  const optional = Object.keys(schemas).filter((name) => !required.includes(name));
  const sensible = fc
    .subarray(optional)
    .map((names) =>
      Object.fromEntries(
        [...required, ...names].map((name) => [name, sampleOf(present(schemas[name], name))]),
      ),
    );
  const arbitraries = Object.entries(schemas).map(([name, schema]) => [name, arbitraryOf(schema)]);
  return fc.oneof(sensible, fc.record(Object.fromEntries(arbitraries), { requiredKeys: [] }));
};

const textOf = (value: unknown) => (typeof value === "object" ? JSON.stringify(value) : String(value));

type Shot = { path: string; query: Record<string, unknown>; payload: unknown };

function shotsOf(
  path: string,
  { parameters = [], requestBody }: Operation,
  fill: (path: string) => string,
): fc.Arbitrary<Shot> {
  const queries = parameters
    .filter((one) => one.in === "query")
    .map(({ name, schema, example }) => [name, example === undefined ? schema : { examples: [example] }]);
  const body = requestBody?.content["application/json"].schema;
  return fc.record({
    path: fc.oneof(
      { weight: 3, arbitrary: fc.constant(path).map(fill) },
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
          { weight: 4, arbitrary: membersOf(body.properties ?? {}, body.required) },
          { weight: 1, arbitrary: fc.jsonValue() },
        )
      : fc.constant(undefined),
  });
}

/**
 * Sends every request to every route: none may fail, or return an undocumented response. Removals come last.
 * Returns the number of responses by status.
 */
export async function fuzz(
  app: Server,
  { isMeant, headers = {}, fill = filled, send = (request) => app.inject(request) }: FuzzOptions,
): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();

  async function shoot(method: string, path: string, { path: filledPath, query, payload }: Shot) {
    const search = Object.entries(query)
      .map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(textOf(value).toWellFormed())}`)
      .join("&");
    const url = `/api/v2${filledPath}${search && `?${search}`}`;
    const { statusCode: status, body } = await send({
      // The methods of the document are those of the server.
      method: method as "GET",
      url,
      headers: { ...headers, ...(payload !== undefined && { "content-type": "application/json" }) },
      ...(payload !== undefined && { payload: JSON.stringify(payload) }),
    });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    expect(status, `${method} ${url}: ${body?.slice(0, 300)}`).toBeLessThan(500);
    const route = `/api/v2${path.replace(/\{(\w+)\}/g, ":$1")}`;
    if (status < 300) expect(await faultOf(app, { method, url: route, status, body })).toBeUndefined();
  }

  const operations = Object.entries((await documentOf(app)).paths)
    .filter(([path]) => isMeant(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([name, operation]) => ({ method: name.toUpperCase(), path, operation })),
    );
  const isRemoval = ({ method }: { method: string }) => method === "DELETE";
  const inOrder = [...operations.filter((one) => !isRemoval(one)), ...operations.filter(isRemoval)];
  for (const { method, path, operation } of inOrder) {
    const property = fc.asyncProperty(shotsOf(path, operation, fill), (shot) => shoot(method, path, shot));
    await fc.assert(property, { numRuns: RUNS });
  }
  return statuses;
}
