import { gunzipSync, inflateSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { encodingFor } from "../../src/http/transport/compression.ts";
import { openFixture } from "./fixture.ts";

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
  ])("are read as JSON when sent as %s", async (contentType) => {
    expect((await search('{"id":[]}', contentType)).json().validation.keys).toEqual(["id", "id"]);
    expect((await search("{}", contentType)).statusCode).toBe(200);
  });

  test("are read as a form when sent as one", async () => {
    const answer = await search("foo=5", "application/x-www-form-urlencoded");
    expect(answer.json().validation.keys).toEqual(["foo"]);
  });

  test.each([
    ["{", "application/json", "Invalid request payload JSON format"],
    ['{"__proto__":{}}', "application/json", "Invalid request payload JSON format"],
    ["<a/>", "text/xml", "Invalid request payload JSON format"],
    ["<a/>", "application/xml", "Unsupported Media Type"],
    ["{}", "no media type", "Unsupported Media Type"],
    [
      `{"id":"${"1".repeat(1_048_576)}"}`,
      "application/json",
      "Payload content length greater than maximum allowed: 1048576",
    ],
  ])("that cannot be read are 422: %.20s as %s", async (payload, contentType, message) => {
    const answer = await search(payload, contentType);
    expect(answer.json()).toEqual({ statusCode: 422, error: "Unprocessable Entity", message });
  });

  test.each([
    ["/api/transactions", {}, '"transactions" is required'],
    ["/api/locks/search", { expirationType: 3 }, '"expirationType" must be 1 or 2'],
  ])("name the member that is wrong: POST %s with %j", async (url, payload, message) => {
    const answer = await fixture.app.inject({ method: "POST", url, payload });
    expect(answer.json()).toEqual({ statusCode: 422, error: "Unprocessable Entity", message });
  });

  test.each(["", "null", "[]", '"x"', "5"])("must be objects, which %j is not", async (payload) => {
    const answer = await fixture.app.inject({
      method: "POST",
      url: "/api/transactions",
      payload,
      headers: { "content-type": "application/json" },
    });
    expect(answer.statusCode).toBe(422);
  });
});

describe("compression", () => {
  test("is used for large answers when asked for", async () => {
    const url = "/api/transactions";
    const plain = await fixture.get(url);
    expect(plain.headers).toMatchObject({ vary: "accept-encoding", "accept-ranges": "bytes" });
    for (const [encoding, decode] of [
      ["gzip", gunzipSync],
      ["deflate", inflateSync],
    ] as const) {
      const answer = await fixture.get(url, { "accept-encoding": encoding });
      expect(answer.headers["content-encoding"]).toBe(encoding);
      expect(answer.headers).not.toHaveProperty("accept-ranges");
      expect(decode(answer.rawPayload).toString()).toBe(plain.body);
    }
  });

  test("is not used for small answers", async () => {
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
  ])("is chosen from %s", (header, encoding) => {
    expect(encodingFor(header)).toBe(encoding);
  });
});
