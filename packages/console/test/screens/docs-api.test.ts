import { describe, expect, test } from "vitest";
import { apiOf, filterGroups, type Operation } from "../../src/screens/docs/api/openapi.ts";
import { curlOf, faultsOf, jsonOf, send, urlOf } from "../../src/screens/docs/api/request.ts";
import { exampleOf, shapeOf } from "../../src/screens/docs/api/shape.ts";

const content = (schema: object) => ({ "application/json": { schema } });
const api = apiOf({
  tags: [{ name: "Blocks", description: "Forged blocks." }, { name: "Empty" }, { name: "Webhooks" }],
  components: {
    schemas: {
      Block: {
        type: "object",
        required: ["id"],
        properties: {
          id: { type: "string", description: "Its digest." },
          next: { $ref: "#/components/schemas/Block" },
        },
      },
    },
    responses: { Other: { description: "No such method." } },
  },
  paths: {
    "/blocks/{id}": {
      get: {
        operationId: "getBlock",
        summary: "One block.",
        tags: ["Blocks"],
        parameters: [
          { name: "id", in: "path", required: true, schema: { type: "string" } },
          { name: "transform", in: "query", schema: { type: "boolean" } },
        ],
        responses: {
          200: { description: "Success.", content: content({ $ref: "#/components/schemas/Block" }) },
          405: { $ref: "#/components/responses/Other" },
        },
      },
    },
    "/webhooks": {
      post: {
        operationId: "createWebhook",
        summary: "Registers a webhook.",
        tags: ["Webhooks"],
        security: [{ token: [] }],
        requestBody: { content: content({ type: "object", properties: {} }) },
        responses: { 201: { description: "Success." } },
      },
    },
    "/blocks/search": { post: { summary: "Search.", tags: ["Blocks"], responses: {} } },
  },
});
const [getBlock, search, createWebhook] = api.groups.flatMap(({ operations }) => operations) as [
  Operation,
  Operation,
  Operation,
];

describe("The operations", () => {
  test("The operations are grouped in the order of the document, without empty groups.", () => {
    expect(api.groups.map(({ name }) => name)).toEqual(["Blocks", "Webhooks"]);
  });

  test("The operations know their requirements, and whether they change something.", () => {
    expect(
      [getBlock, search, createWebhook].map(({ id, needsToken, isReading }) => [id, needsToken, isReading]),
    ).toEqual([
      ["getBlock", false, true],
      ["POST /blocks/search", false, true],
      ["createWebhook", true, false],
    ]);
  });

  test("The operations have the common responses of the document.", () => {
    expect(getBlock.responses.map(({ status, description }) => [status, description])).toEqual([
      ["200", "Success."],
      ["405", "No such method."],
    ]);
  });

  test.each([
    ["", ["getBlock", "POST /blocks/search", "createWebhook"]],
    ["POST", ["POST /blocks/search", "createWebhook"]],
    ["block one", ["getBlock"]],
    ["nothing", []],
  ])("The operations that “%s” finds are %j.", (filter, ids) => {
    expect(
      filterGroups(api.groups, filter).flatMap(({ operations }) => operations.map(({ id }) => id)),
    ).toEqual(ids);
  });
});

describe("A schema", () => {
  test("A schema is shown with its members, and ends at a recursion.", () => {
    const text = shapeOf({ type: "array", items: { $ref: "#/components/schemas/Block" } }, api.schemas);
    expect(text).toMatch(/^\{\n {2}id: string {2}\/\/ Its digest\.\n {2}next\?: \{/);
    expect(text).toContain("next?: …");
    expect(text).toMatch(/\}\[\]$/);
  });

  test.each([
    [{ enum: ["any", "all"] }, '"any" | "all"'],
    [{ type: ["string", "null"] }, "string | null"],
    [{ anyOf: [{ type: "string" }, { type: "string" }, { type: "integer" }] }, "string | integer"],
    [{ type: "array", items: { enum: [1, 2] } }, "(1 | 2)[]"],
    [{}, "any"],
  ])("%j is %s.", (schema, text) => {
    expect(shapeOf(schema, {})).toBe(text);
  });

  test("A schema has an example of the required members.", () => {
    const schema = {
      type: "object",
      required: ["a", "b", "c", "d"],
      properties: {
        a: { type: "string", examples: ["x"] },
        b: { type: "integer", minimum: 5 },
        c: { type: "array", items: {} },
        d: { type: "boolean" },
        e: { type: "string" },
        f: { enum: ["g"], examples: ["g"] },
      },
    };
    expect(exampleOf(schema, {})).toEqual({ a: "x", b: 5, c: [], d: true, f: "g" });
  });
});

describe("A request", () => {
  const filled = { values: { id: " a/b ", transform: "false", other: "x" }, body: "" };

  test("A request has its parameters in path and query.", () => {
    expect(urlOf(getBlock, filled)).toBe("/api/v2/blocks/a%2Fb?transform=false");
  });

  test("A request is not sent without required parameters.", () => {
    expect(faultsOf(getBlock, { values: { id: " " }, body: "" })).toEqual({
      id: "Fill in this field.",
    });
    expect(faultsOf(createWebhook, { values: {}, body: "{" })).toHaveProperty("body");
    expect(faultsOf(createWebhook, { values: {}, body: "{}" })).toEqual({});
  });

  test("A request is the same in a shell, whatever the body contains.", () => {
    expect(curlOf(getBlock, filled, "http://n")).toBe("curl 'http://n/api/v2/blocks/a%2Fb?transform=false'");
    expect(curlOf(createWebhook, { values: {}, body: '{"a":"\'"}' }, "http://n")).toBe(
      `curl -X POST \\\n  -H "Authorization: $TOKEN" \\\n  -H "Content-Type: application/json" \\\n  -d '{"a":"'\\''"}' \\\n  'http://n/api/v2/webhooks'`,
    );
  });

  test("A request that requires the token uses the path that accepts the session.", async () => {
    const urls: string[] = [];
    const respond: typeof fetch = async (url, init) => {
      urls.push(`${init?.method} ${url}`);
      return Response.json({ data: 1 }, { status: 201 });
    };
    const outcome = await send(respond, createWebhook, { values: {}, body: "{}" });
    await send(respond, search, filled);
    expect(urls).toEqual(["POST /console/operations/api/v2/webhooks", "POST /api/v2/blocks/search"]);
    expect(outcome).toMatchObject({ status: 201, text: '{"data":1}', isCut: false });
  });

  test("A request of a stream ends after its time, with the received events.", async () => {
    const stream: typeof fetch = async (_url, init) =>
      new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode("event: a"));
            init?.signal?.addEventListener("abort", () => controller.error(new Error("aborted")));
          },
        }),
      );
    expect(await send(stream, getBlock, filled, 20)).toMatchObject({ text: "event: a", isCut: true });
  });

  test("A request with a large response keeps its beginning.", async () => {
    const outcome = await send(async () => new Response("x".repeat(1_000_000)), getBlock, filled);
    expect(outcome.isCut).toBe(true);
    expect(outcome.text).toHaveLength(300_000);
  });

  test("A request without a response reports it.", async () => {
    const refused: typeof fetch = () => Promise.reject(new TypeError("x"));
    await expect(send(refused, getBlock, filled)).rejects.toThrow("The node does not respond");
  });
});

test("Integers of a response keep their digits.", () => {
  expect(jsonOf('{"a":9007199254740993,"b":1.5,"c":2}')).toEqual({ a: 9_007_199_254_740_993n, b: 1.5, c: 2 });
  expect(jsonOf("<html>")).toBeUndefined();
});
