/** The document of a complete node, validated against the published schema of OpenAPI. */

import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OPERATION_IDS } from "../../src/http/documentation/operation-ids.ts";
import { present } from "../../src/platform/present.ts";
import { serveEverything } from "../../test-support/clients/chain.ts";
import type { Document, Operation } from "../../test-support/http/described.ts";
import { until } from "../../test-support/process/until.ts";

let node: Awaited<ReturnType<typeof serveEverything>>;
let document: Document;
beforeAll(async () => {
  node = await serveEverything();
  // On a busy machine, building it can exceed the time limit of a response.
  document = await until("the document is served", async () => {
    const response = await fetch(`${node.url}/api/openapi.json`);
    return response.ok && ((await response.json()) as Document);
  });
});
afterAll(() => node.stop());

const operations = (): [name: string, operation: Operation][] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method} ${path}`,
      operation,
    ]),
  );

test("The document is valid OpenAPI 3.1, with every chapter of the node.", async () => {
  const validator = new Validator();
  expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
  expect(validator.version).toBe("3.1");
  const tags = new Set(operations().flatMap(([, { tags }]) => tags));
  expect([...tags]).toEqual(expect.arrayContaining(["Blocks", "Events", "Webhooks", "Dev"]));
});

test("The document is found invalid after a change.", async () => {
  const { info: _, ...broken } = structuredClone(document) as Document & { info: unknown };
  expect(await new Validator().validate(broken)).toMatchObject({ valid: false });
});

test("The document names each operation once, for the functions of generated clients.", () => {
  const ids = operations().map(([name, { operationId }]) => {
    expect(operationId, name).toMatch(/^[a-z]+([A-Z][a-z]+)+$/);
    return operationId;
  });
  expect(new Set(ids).size).toBe(ids.length);
  expect(document.paths["/blocks"]?.get?.operationId).toBe("listBlocks");
  expect(document.paths["/blocks/{id}"]?.get?.operationId).toBe("getBlock");
  expect(Object.values(OPERATION_IDS).sort()).toEqual(ids.sort());
});

test("The document names the operations that require the token, the license, and the statuses of unreadable requests.", () => {
  expect(document.security).toEqual([]);
  expect(document.info.license).toMatchObject({ name: expect.any(String) });
  for (const [name, { security, responses }] of operations()) {
    const isOfOperator = /^\w+ \/(webhooks|events|operations|dev)/.test(name);
    expect(security, name).toEqual(isOfOperator ? [{ token: [] }] : undefined);
    expect(responses, name).toHaveProperty("400");
    const asksForType = /^(post|put) \/(webhooks|dev)/.test(name);
    expect("415" in responses, name).toBe(asksForType);
  }
});

test("The node returns 400 and 415 as documented.", async () => {
  const send = (path: string, init: RequestInit = {}) => fetch(`${node.url}/api/v2${path}`, init);
  expect((await send("/blocks/%zz")).status).toBe(400);
  const headers = { authorization: node.webhookToken, "content-type": "text/plain" };
  expect((await send("/webhooks", { method: "POST", headers, body: "{}" })).status).toBe(415);
  expect((await send("/webhooks/1", { method: "PUT", headers, body: "{}" })).status).toBe(415);
  expect((await send("/dev/mine", { method: "POST", headers, body: "{}" })).status).toBe(415);
});

test("The document describes 405 once, for the paths that return it, with the methods of such a path.", async () => {
  const reference = "#/components/responses/MethodNotAllowed";
  const shared = present(document.components.responses.MethodNotAllowed, "the response to other methods");
  expect(shared.headers).toHaveProperty("Allow");
  const ajv = new Ajv2020({ strict: false });
  const schema = shared.content["application/json"].schema;
  const isError = ajv.compile({ ...schema, components: document.components });
  for (const [path, methods] of Object.entries(document.paths)) {
    const response = await fetch(`${node.url}/api/v2${path.replaceAll(/\{\w+\}/g, "1")}`, {
      method: "PATCH",
    });
    const refused = Object.values(methods).map(({ responses }) => responses[405]);
    const isOwn = /^\/(webhooks|events|facts|operations|dev)/.test(path);
    expect(refused, path).toEqual(Object.keys(methods).map(() => (isOwn ? { $ref: reference } : undefined)));
    expect(response.status, path).toBe(isOwn ? 405 : 404);
    const allowed = present(response.headers.get("allow"), `Allow of ${path}`).split(", ");
    const named = allowed.filter((method) => method !== "HEAD" && method !== "OPTIONS");
    expect(named.sort(), path).toEqual(expect.arrayContaining(Object.keys(methods).map(upper)));
    expect(isError(await response.json()), path).toBe(true);
  }
});

/** Values of path parameters that pass validation; a route that would not find them refuses the query before. */
const IDS: Readonly<Record<string, string>> = {
  ...{ blocks: "1", rounds: "1", webhooks: "1", facts: "1", blockchain: "0123" },
  ...{ delegates: "name", wallets: "name", peers: "192.0.2.1" },
};

/** Returns the routes that read, each with a function that adds a parameter to the required ones. */
const getsOf = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, { get }]) => {
    if (!get) return [];
    const id = IDS[path.split("/")[1] ?? ""] ?? "a".repeat(64);
    const url = path.replace("{key}", "type").replaceAll(/\{\w+\}/g, id);
    const parameters = get.parameters?.filter(({ in: part }) => part === "query") ?? [];
    const required = parameters.filter(({ required }) => required).map(({ name }) => `${name}=1&`);
    const names = parameters.map(({ name }) => name);
    return [{ path, names, urlWith: (given: string) => `${url}?${required.join("")}${given}` }];
  });

test("The document documents or refuses `at` on every route that reads: no route responds with the present state.", async () => {
  const allowed: string[] = [];
  for (const { path, urlWith, names } of getsOf(document)) {
    if (names.includes("at")) allowed.push(path);
    else
      expect(await refusalOf(urlWith("at=1")), path).toMatch(
        /^UNKNOWN_MEMBER 4(00|22) .*"at" is not allowed/,
      );
  }
  expect(allowed).toEqual([
    ...["/delegates/{id}", "/uniks/{id}", "/uniks/{id}/properties", "/uniks/{id}/properties/{key}"],
    ...["/nfts/{id}", "/nfts/{id}/properties", "/nfts/{id}/properties/{key}", "/wallets/{id}"],
  ]);
});

test("The node refuses unknown parameters on routes that the old node did not have.", async () => {
  const own =
    /^\/(facts|operations|blockchain\/|uniks\/\{id\}\/resolve|webhooks\/\{id\}\/deliveries(\/summary)?$|events)/;
  const checked = getsOf(document).filter(({ path }) => own.test(path));
  expect(checked.length).toBeGreaterThan(10);
  for (const { path, urlWith } of checked)
    expect(await refusalOf(urlWith("other=1")), path).toMatch(/^UNKNOWN_MEMBER 4(00|22) .*"other" is not/);
});

/** Returns code, status and message. */
async function refusalOf(url: string): Promise<string> {
  const response = await fetch(`${node.url}/api/v2${url}`, { headers: { authorization: node.webhookToken } });
  if (response.ok) {
    await response.body?.cancel();
    return `${response.status}`;
  }
  const { message } = (await response.json()) as { message: string };
  return `${response.headers.get("error-code")} ${response.status} ${message}`;
}

const upper = (text: string): string => text.toUpperCase();

test("The document lists no value both as a number and as a text: generated names would be equal.", () => {
  const enumsIn = (value: unknown): unknown[][] => {
    if (typeof value !== "object" || value === null) return [];
    const own = (value as { enum?: unknown }).enum;
    return [...(Array.isArray(own) ? [own] : []), ...Object.values(value).flatMap(enumsIn)];
  };
  const enums = enumsIn(document);
  expect(enums.length).toBeGreaterThan(5);
  for (const choices of enums) expect(new Set(choices.map(String)).size).toBe(choices.length);
  expect(enums).toContainEqual([1, 2]);
});

test("The document has only valid schemas.", () => {
  const ajv = new Ajv2020({ strict: false });
  const schemasIn = (value: unknown): unknown[] => {
    if (typeof value !== "object" || value === null) return [];
    return Object.entries(value).flatMap(([name, member]) =>
      name === "schema" ? [member] : schemasIn(member),
    );
  };
  const schemas = [...schemasIn(document.paths), ...Object.values(document.components.schemas)];
  expect(schemas.length).toBeGreaterThan(300);
  for (const schema of schemas)
    expect(ajv.validateSchema(schema as object), JSON.stringify(schema)).toBe(true);
});

test("The document declares exactly the parameters of its paths, each once.", () => {
  for (const [name, { parameters = [] }] of operations()) {
    const inPath = parameters.filter((parameter) => parameter.in === "path");
    const written = Array.from(name.matchAll(/\{(\w+)\}/g), ([, parameter]) => parameter);
    expect(inPath.map((parameter) => parameter.name).sort(), name).toEqual(written.sort());
    expect(
      inPath.every(({ required }) => required),
      name,
    ).toBe(true);
    const places = parameters.map((parameter) => `${parameter.in} ${parameter.name}`);
    expect(new Set(places).size, name).toBe(places.length);
  }
});
