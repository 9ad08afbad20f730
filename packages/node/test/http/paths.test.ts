import { createHash } from "node:crypto";
import { afterAll, describe, expect, test } from "vitest";
import { alice, stranger, unik } from "../../test-support/http/chain.ts";
import { openFixture } from "../../test-support/http/fixture.ts";

const fixture = openFixture();
afterAll(() => fixture.close());

const NOT_FOUND = { statusCode: 404, error: "Not Found", message: "Not Found" };

describe("paths", () => {
  test("The server returns a greeting at the root.", async () => {
    const response = await fixture.get("/");
    expect(response.json()).toEqual({ data: "Hello World!" });
    expect(response.headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "cache-control": "no-cache",
    });
  });

  test.each<[accept: string | undefined]>([
    [undefined],
    ["*/*"],
    ["application/json, text/plain, */*"],
    ["text/*"],
    ["text/html;q=0, application/json"],
  ])("returns the greeting of the old node, to the byte, to clients that accept %s", async (accept) => {
    const { headers, body } = await fixture.get("/", accept === undefined ? {} : { accept });
    expect(body).toBe('{"data":"Hello World!"}');
    expect(headers["content-length"]).toBe("23");
    const head = await fixture.app.inject({ method: "HEAD", url: "/", headers: accept ? { accept } : {} });
    expect([head.statusCode, head.body, head.headers["content-length"]]).toEqual([200, "", "23"]);
  });

  test("The server shows a page of links to browsers, with nothing from elsewhere.", async () => {
    const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    const { headers, body, statusCode } = await fixture.get("/", { accept });
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    });
    const [, style = ""] = /<style>(.*?)<\/style>/s.exec(body) ?? [];
    const hash = createHash("sha256").update(style).digest("base64");
    expect(headers["content-security-policy"]).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
    );
    expect(body).not.toMatch(/<script|https?:|\bsrc=| style=|@import|url\(/);
    const paths = Array.from(body.matchAll(/<a href="([^"#]+)/g), ([, path = ""]) => path);
    // This server has no routes of operations, and does not link to them.
    expect(paths).toEqual(["documentation", "api/v2/blockchain", "api/openapi.json", "documentation"]);
    for (const path of paths) expect((await fixture.get(`/${path}`)).statusCode, path).toBeLessThan(400);
    const head = await fixture.app.inject({ method: "HEAD", url: "/", headers: { accept } });
    expect([head.statusCode, head.body, head.headers["content-type"]]).toEqual([
      200,
      "",
      "text/html; charset=utf-8",
    ]);
    expect(head.headers["content-length"]).toBe(`${Buffer.byteLength(body)}`);
  });

  test.each([
    ["GET", "/nothing"],
    ["GET", "/api"],
    ["GET", "/api/v2"],
    ["GET", "/api/v1/blockchain"],
    ["GET", "/v2/api/blockchain"],
    ["GET", "/api//blockchain"],
    ["GET", "/api/Blockchain"],
    ["GET", "/api/businesses"],
    ["GET", "/api/doesnotexist/"],
    ["GET", "/api/foos/"],
    ["GET", "/api/rounds//delegates"],
    ["GET", "/api/wallets//transactions"],
    ["GET", "/api/uniks//properties/type"],
    ["GET", `/api/wallets/${stranger.address}/`],
    ["POST", "/api/blockchain"],
    ["POST", "/api/transactions/"],
    ["PUT", "/api/transactions"],
    ["DELETE", "/api/wallets"],
    ["OPTIONS", "/api/blockchain"],
  ])("The server returns 404 to %s %s.", async (method, url) => {
    const response = await fixture.app.inject({
      method: method as "GET",
      url,
      payload: method === "GET" ? "" : "{",
    });
    expect(response.statusCode).toBe(404);
    expect(response.json()).toEqual(NOT_FOUND);
  });

  test("The server decodes segments of a path after splitting.", async () => {
    expect((await fixture.get("/api/%62lockchain")).statusCode).toBe(200);
    const response = await fixture.get("/api/blocks/%zz");
    expect(response.json()).toEqual({ statusCode: 400, error: "Bad Request", message: "Bad Request" });
  });

  test("The server redirects to the path without trailing slashes, if that one exists.", async () => {
    const response = await fixture.get("/api/v2/blocks//?limit=1&page=2", { host: "node.example:4003" });
    expect(response.statusCode).toBe(301);
    expect(response.headers.location).toBe("../../blocks?limit=1&page=2");
  });

  test.each([
    "/api/blocks/",
    "/api/transactions/",
    "/api/transactions/unconfirmed/",
    "/api/wallets/",
    "/api/delegates//",
    "/api/votes/",
    "/api/locks/",
    "/api/entities/",
    "/api/peers/",
    "/api/uniks/",
    "/api/v2/nfts/",
    `/api/uniks/${unik.bob}/properties/`,
  ])("The server does not treat the slash at the end of %s as an empty id.", async (url) => {
    const response = await fixture.get(url);
    expect(response.statusCode).toBe(301);
    const origin = "https://proxy.example:8443";
    expect(new URL(`${response.headers.location}`, origin + url).href).toBe(origin + url.replace(/\/+$/, ""));
  });

  test("The server responds to HEAD with the headers of GET.", async () => {
    for (const url of ["/", "/api/blockchain", `/api/wallets/${alice.address}`, "/api/uniks"]) {
      const [head, get] = await Promise.all([fixture.app.inject({ method: "HEAD", url }), fixture.get(url)]);
      expect(head.statusCode).toBe(200);
      expect(head.body).toBe("");
      expect(head.headers["content-length"]).toBe(get.headers["content-length"]);
      expect(head.headers["content-type"]).toBe(get.headers["content-type"]);
    }
    expect((await fixture.app.inject({ method: "HEAD", url: "/api/blocks/99" })).statusCode).toBe(404);
  });
});

describe("browsers", () => {
  const origin = "https://explorer.example.org";

  test("Browsers can read responses and errors.", async () => {
    for (const url of [
      "/api/blockchain",
      `/api/wallets/${stranger.address}`,
      "/nothing",
      "/api/blocks?limit=0",
    ]) {
      const { headers } = await fixture.get(url, { origin });
      expect(headers["access-control-allow-origin"]).toBe(origin);
      expect(headers["access-control-allow-credentials"]).toBe("true");
      expect(headers).not.toHaveProperty("access-control-max-age");
      const exposed = `${headers["access-control-expose-headers"]}`.split(", ");
      for (const name of [
        "retry-after",
        "etag",
        "x-uniknode-height",
        "ratelimit-remaining",
        "webhook-warnings",
      ])
        expect(exposed).toContain(name);
      expect(headers.vary).toMatch(/^origin\b/);
    }
    const large = await fixture.get("/api/transactions", { origin });
    expect(large.headers.vary).toBe("origin, accept-encoding");
    expect((await fixture.get("/api/blockchain")).headers).not.toHaveProperty("access-control-allow-origin");
  });

  test("Browsers are granted the headers of their preflight, whatever the path.", async () => {
    for (const url of ["/api/blockchain", "/nothing"]) {
      const response = await fixture.app.inject({
        method: "OPTIONS",
        url,
        headers: {
          origin,
          "access-control-request-method": "POST",
          "access-control-request-headers": "content-type",
        },
      });
      expect(response.statusCode).toBe(200);
      expect(response.headers).toMatchObject({
        "access-control-allow-origin": origin,
        "access-control-expose-headers": "content-type, content-length, etag",
        "access-control-max-age": "600",
        "access-control-allow-headers": "content-type",
        "access-control-allow-methods": "POST",
      });
    }
  });
});
