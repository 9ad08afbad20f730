/** The document, walked against a running server. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { type Document, documentOf, faultOf } from "../../test-support/http/described.ts";
import { openFixture } from "../../test-support/http/fixture.ts";
import { longer } from "../../test-support/http/longer.ts";
import { samplesOf } from "./samples.ts";

const fixture = openFixture({}, {}, longer);
const served: string[] = [];
fixture.app.addHook("onRoute", ({ method, url }) => {
  if (method !== "HEAD" && url.startsWith("/api/v2/")) served.push(`${method} ${url}`);
});
let document: Document;
beforeAll(async () => {
  await fixture.app.ready();
  document = await documentOf(fixture.app);
});
afterAll(() => fixture.close());

const operation = (method: string, path: string) =>
  present(document.paths[path]?.[method], `${method} ${path}`);

test("The document is served under both prefixes, and is OpenAPI 3.1.", async () => {
  const [one, other] = await Promise.all([
    fixture.get("/api/openapi.json"),
    fixture.get("/api/v2/openapi.json"),
  ]);
  expect(one.json()).toEqual(document);
  expect(other.body).toBe(one.body);
  expect(document.openapi).toBe("3.1.0");
});

test("The document defines all that it references, and references all that it defines.", () => {
  const text = JSON.stringify(document);
  const used = new Set([...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name));
  expect([...used].sort()).toEqual(Object.keys(document.components.schemas).sort());
});

test("The document has every route that is served.", () => {
  const documented = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map(
      (method) => `${method.toUpperCase()} /api/v2${path.replace(/\{(\w+)\}/g, ":$1")}`,
    ),
  );
  // Other possible names of tokens are not separate routes.
  const isRoute = (name: string) => !name.includes("(") && !name.endsWith("/openapi.json");
  expect(served.filter(isRoute).sort()).toEqual(documented.sort());
});

test("The document gives each operation a chapter and a sentence.", () => {
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, { tags, summary }] of Object.entries(operations)) {
      expect(tags, `${method} ${path}`).toHaveLength(1);
      expect(summary, `${method} ${path}`).toMatch(/^[A-Z].*\.$/);
    }
  }
});

test("The document shows values instead of the texts of queries.", () => {
  const { parameters = [] } = operation("get", "/blocks");
  const schemas = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]));
  expect(schemas).toMatchObject({
    page: { type: "integer", minimum: 1 },
    limit: { type: "integer", minimum: 1, maximum: 100, default: 100 },
    transform: { type: "boolean" },
    orderBy: { type: "string" },
  });
});

test("The document gives a schema for every parameter of a query.", () => {
  const unsaid = Object.entries(document.paths).flatMap(([path, { get }]) =>
    (get?.parameters ?? [])
      .filter(({ in: part, description, schema }) => part === "query" && !description && !schema.enum)
      .map(({ name }) => `${path} ${name}`),
  );
  expect(unsaid).toEqual([]);
});

test("The document describes no refusal as a success.", () => {
  const wrong = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.values(operations).flatMap(({ responses }) =>
      Object.entries(responses as Record<string, { description?: string }>)
        .filter(([status, { description }]) => !status.startsWith("2") && description === "Success.")
        .map(([status]) => `${path} ${status}`),
    ),
  );
  expect(wrong).toEqual([]);
});

test("The document has 404 if a route returns it.", () => {
  const mayMiss = (path: string) => "404" in operation("get", path).responses;
  expect(["/blocks/{id}", "/peers", "/blocks", "/wallets/{id}/uniks"].map(mayMiss)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test("The document shows one value if a number can be sent as text.", () => {
  const body = present(operation("post", "/blocks/search").requestBody, "the body of a search");
  const { version, height } = present(body.content["application/json"].schema.properties, "its members");
  expect(version).toMatchObject({ type: "integer", minimum: 0, description: expect.any(String) });
  expect(height?.properties?.from).toMatchObject({ type: "integer", minimum: 1 });
});

test("Every operation returns documented responses for every parameter and member.", async () => {
  const samples = samplesOf(document);
  expect(samples.length).toBeGreaterThan(300);
  const statuses = new Set<number>();
  for (const { method, path, url, payload } of samples) {
    const response = await fixture.app.inject({
      method: method as "GET",
      url,
      ...(payload !== undefined && { payload: payload as object }),
    });
    const { statusCode: status, body } = response;
    const routeUrl = `/api/v2${path.replace(/\{(\w+)\}/g, ":$1")}`;
    const fault = await faultOf(fixture.app, { method, url: routeUrl, status, body });
    expect(fault, `${method} ${url} ${JSON.stringify(payload)}: ${body.slice(0, 200)}`).toBeUndefined();
    // Everything documented is accepted; only a required member may be missing.
    if (path !== "/transactions" || method !== "POST") {
      expect(status, `${method} ${url} ${JSON.stringify(payload)}: ${body}`).toBe(200);
    }
    statuses.add(status);
  }
  expect(statuses).toEqual(new Set([200, 422]));
});

describe("the comparison of responses with the document", () => {
  const url = "/api/v2/blockchain";
  const body = { data: { block: { height: 1, id: "1" }, supply: 5 } };
  const check = (status: number, value: unknown) =>
    faultOf(fixture.app, { method: "GET", url, status, body: JSON.stringify(value) });

  test("The comparison finds members that are missing, wrong or unknown, and undocumented statuses.", async () => {
    expect(await check(200, body)).toBeUndefined();
    expect(await check(200, { data: { ...body.data, supply: "5" } })).toContain("must be integer");
    expect(await check(200, { data: { supply: 5 } })).toContain("must have required property 'block'");
    expect(await check(200, { ...body, more: 1 })).toContain("must NOT have additional properties");
    expect(await check(201, body)).toContain("status 201 is not described");
  });
});
