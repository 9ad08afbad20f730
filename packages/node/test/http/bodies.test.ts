import { gunzipSync, gzipSync, inflateSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { encodingFor } from "../../src/http/core/headers.ts";
import { openFixture } from "../../test-support/http/fixture.ts";

const fixture = openFixture();
afterAll(() => fixture.close());

describe("bodies", () => {
  const search = (payload: string, contentType?: string) =>
    fixture.app.inject({
      method: "POST",
      url: "/api/uniks/search",
      payload,
      headers: contentType === undefined ? {} : { "content-type": contentType },
    });

  test.each([
    undefined,
    "application/json",
    "application/json; charset=utf-8",
    "text/plain",
    "text/html; charset=utf-8",
    "application/vnd.api+json",
  ])("Bodies are parsed as JSON if sent as %s.", async (contentType) => {
    expect((await search('{"id":[]}', contentType)).json().validation.keys).toEqual(["id", "id"]);
    expect((await search("{}", contentType)).statusCode).toBe(200);
  });

  test("Bodies are parsed as a form if sent as one.", async () => {
    const response = await search("foo=5", "application/x-www-form-urlencoded");
    expect(response.json().validation.keys).toEqual(["foo"]);
  });

  test.each([
    ["{", "application/json", "Invalid request payload JSON format: Expected property name"],
    ['{"__proto__":{}}', "application/json", 'Invalid request payload JSON format: the members "__proto__"'],
    ["<a/>", "text/xml", "Invalid request payload JSON format"],
    ["<a/>", "application/xml", "Unsupported Media Type application/xml: send the body as application/json"],
    ["{}", "no media type", "Unsupported Media Type: send the body as application/json"],
    [
      `{"id":"${"1".repeat(1_048_576)}"}`,
      "application/json",
      "Payload content length greater than maximum allowed: 1048576",
    ],
  ])("Bodies return 422 if they cannot be parsed: %.20s as %s.", async (payload, contentType, message) => {
    const response = await search(payload, contentType);
    expect(response.json()).toEqual({
      statusCode: 422,
      error: "Unprocessable Entity",
      message: expect.stringContaining(message),
    });
  });

  const listOf = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  const tooDeep = "The body is nested deeper than 64 levels";
  const tooMany = "The body has more than 50000 members and items";
  const FORM = "application/x-www-form-urlencoded";

  test.each([
    ["lists", listOf(65), "application/json", tooDeep],
    ["objects", `${'{"a":'.repeat(65)}1${"}".repeat(65)}`, "application/json", tooDeep],
    ["lists that fill the body", listOf(500_000), "application/json", tooDeep],
    ["endless lists", "[".repeat(1_000_000), "application/json", tooDeep],
    ["lists after a text that looks like their end", `["]]]]\\"",${listOf(64)}]`, "text/plain", tooDeep],
    ["empty objects", `[${"{},".repeat(340_000)}{}]`, "application/json", tooMany],
    ["numbers", `{"id":[${"0,".repeat(50_000)}0]}`, "application/json", tooMany],
    ["members", `{${'"a":0,'.repeat(50_000)}"a":0}`, "application/json", tooMany],
    ["fields of a form", "a&".repeat(50_000), FORM, tooMany],
  ])("Bodies return 422 if they are too complex: %s.", async (_, payload, contentType, message) => {
    const response = await search(payload, contentType);
    expect(response.json()).toEqual({ statusCode: 422, error: "Unprocessable Entity", message });
  });

  test("Bodies are parsed up to the bounds of complexity.", async () => {
    const deepest = await search(`{"id":${listOf(63)}}`);
    expect(deepest.json().validation.keys).toContain("id");
    const most = await search(`{"id":[${"0,".repeat(49_997)}0]}`);
    expect(most.json().validation.keys).toContain("id");
    const text = await search(JSON.stringify({ id: '[{,"'.repeat(100_000) }));
    expect(text.json().validation.keys).toContain("id");
    const fields = await search("a&".repeat(49_999), FORM);
    expect(fields.json().validation.keys).toEqual(["a"]);
  });

  test("Bodies are not decompressed: a compressed one is not JSON.", async () => {
    const response = await fixture.app.inject({
      method: "POST",
      url: "/api/uniks/search",
      payload: gzipSync(JSON.stringify({ id: "0".repeat(10_000_000) })),
      headers: { "content-type": "application/json", "content-encoding": "gzip" },
    });
    expect(response.json()).toMatchObject({
      statusCode: 422,
      message: expect.stringContaining("Invalid request payload JSON format"),
    });
  });

  test.each([
    ["/api/transactions", {}, '"transactions" is required'],
    ["/api/locks/search", { expirationType: 3 }, '"expirationType" must be one of 1, 2'],
  ])("Bodies cause an error that names the wrong member: POST %s with %j.", async (url, payload, message) => {
    const response = await fixture.app.inject({ method: "POST", url, payload });
    expect(response.json()).toEqual({ statusCode: 422, error: "Unprocessable Entity", message });
  });

  test.each(["", "null", "[]", '"x"', "5"])("Bodies must be objects, unlike %j.", async (payload) => {
    const response = await fixture.app.inject({
      method: "POST",
      url: "/api/transactions",
      payload,
      headers: { "content-type": "application/json" },
    });
    expect(response.statusCode).toBe(422);
  });
});

describe("compression", () => {
  test("Compression is used for large responses on request.", async () => {
    const url = "/api/transactions";
    const plain = await fixture.get(url);
    expect(plain.headers).toMatchObject({ vary: "accept-encoding", "accept-ranges": "bytes" });
    for (const [encoding, decode] of [
      ["gzip", gunzipSync],
      ["deflate", inflateSync],
    ] as const) {
      const response = await fixture.get(url, { "accept-encoding": encoding });
      expect(response.headers["content-encoding"]).toBe(encoding);
      expect(response.headers).not.toHaveProperty("accept-ranges");
      expect(decode(response.rawPayload).toString()).toBe(plain.body);
    }
  });

  test("Compression is not used for small responses.", async () => {
    const { headers } = await fixture.get("/api/blockchain", { "accept-encoding": "gzip" });
    expect(headers).not.toHaveProperty("content-encoding");
    expect(headers).not.toHaveProperty("vary");
    expect(headers["accept-ranges"]).toBe("bytes");
  });

  test.each([
    ["deflate, gzip;q=1.0, *;q=0.5", "gzip"],
    ["gzip;q=0, deflate", "deflate"],
    ["gzip;q=0.5, deflate;q=0.8", "deflate"],
    ["gzip; q=0.5, deflate;Q=0.500", "gzip"],
    ["gzip;q=0.5, identity", undefined],
    ["gzip, identity", "gzip"],
    ["gzip;q=x", undefined],
    ["GZIP", "gzip"],
    ["identity", undefined],
    ["br", undefined],
    [undefined, undefined],
  ])("Compression is chosen from %s.", (header, encoding) => {
    expect(encodingFor(header, ["gzip", "deflate"])).toBe(encoding);
  });
});
