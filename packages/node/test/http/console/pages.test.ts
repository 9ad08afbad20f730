import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync } from "node:zlib";
import { fastify } from "fastify";
import { afterAll, describe, expect, test } from "vitest";
import { createPages } from "../../../src/http/console/console.ts";
import { readConsoleFiles } from "../../../src/http/console/files.ts";

const folder = mkdtempSync(join(tmpdir(), "uniknode-console-"));
afterAll(() => rmSync(folder, { recursive: true }));
const SCRIPT = "export const response = 42;\n".repeat(100);
mkdirSync(join(folder, "assets"));
writeFileSync(join(folder, "index.html"), "<!doctype html><title>Console</title>");
writeFileSync(join(folder, "assets/main-1a2b.js"), SCRIPT);
const BUILT = "export const isBuilt = true;\n";
writeFileSync(join(folder, "assets/built-3c4d.js"), BUILT);
// Different from the compression of this process, so that its origin is visible.
const COMPRESSED = brotliCompressSync(BUILT, { params: { [constants.BROTLI_PARAM_QUALITY]: 0 } });
writeFileSync(join(folder, "assets/built-3c4d.js.br"), COMPRESSED);

async function open(folders: readonly string[]) {
  const app = fastify();
  await app.register(
    createPages(() => readConsoleFiles(folders)),
    { prefix: "/console" },
  );
  return (path: string, headers: Record<string, string> = {}, method: "GET" | "HEAD" = "GET") =>
    app.inject({ method, url: `/console/${path}`, headers });
}

describe("the files of the console", async () => {
  const get = await open([join(folder, "missing"), folder]);

  test.each(["", "blocks", "blocks/17?page=2", "uniks/../x", "sign-in"])(
    "/%s is the page itself",
    async (path) => {
      const response = await get(path);
      expect([response.statusCode, response.headers["content-type"]]).toEqual([
        200,
        "text/html; charset=utf-8",
      ]);
      expect(response.headers["cache-control"]).toBe("no-cache");
    },
  );

  test("Compressed files of the build are sent as they are, and have no path of their own.", async () => {
    const response = await get("assets/built-3c4d.js", { "accept-encoding": "br" });
    expect(response.rawPayload).toEqual(COMPRESSED);
    expect((await get("assets/built-3c4d.js.br")).statusCode).toBe(404);
  });

  test("Scripts of other origins, frames and markup from text are forbidden.", async () => {
    const { headers } = await get("");
    expect(headers).toMatchObject({
      "content-security-policy":
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
    });
  });

  test.each([
    ["br, gzip", "br", brotliDecompressSync],
    ["gzip, deflate", "gzip", gunzipSync],
    ["", undefined, (bytes: Buffer) => bytes],
  ] as const)("A client that accepts %j gets %s.", async (accepted, encoding, decode) => {
    const response = await get("assets/main-1a2b.js", { "accept-encoding": accepted });
    expect(response.headers["content-encoding"]).toBe(encoding);
    expect(decode(response.rawPayload).toString()).toBe(SCRIPT);
    expect(response.headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      vary: "accept-encoding",
    });
  });

  test("Cached content is not sent again, and each encoding has its own ETag.", async () => {
    const { headers } = await get("", { "accept-encoding": "br" });
    const etag = String(headers.etag);
    expect((await get("", { "accept-encoding": "br", "if-none-match": etag })).statusCode).toBe(304);
    expect((await get("", { "if-none-match": etag })).statusCode).toBe(200);
  });

  test.each([
    ["gzip;q=1.0, br;q=0.5", "gzip"],
    ["deflate", undefined],
  ])("With Accept-Encoding %j, the ETag is that of the encoding.", async (accepted, encoding) => {
    const { headers } = await get("", { "accept-encoding": accepted });
    expect([headers["content-encoding"], /-(\w+)"$/.exec(String(headers.etag))?.[1]]).toEqual([
      encoding,
      encoding,
    ]);
  });

  test.each(["", "assets/main-1a2b.js"])("/%s has the same headers for HEAD as for GET.", async (path) => {
    for (const accepted of ["br", "gzip", ""]) {
      const accept = { "accept-encoding": accepted };
      const { date: _, ...headers } = (await get(path, accept)).headers;
      expect(await get(path, accept, "HEAD")).toMatchObject({ statusCode: 200, headers, body: "" });
      const known = { ...accept, "if-none-match": String(headers.etag) };
      const { "content-length": length, etag, vary, "cache-control": control } = headers;
      const kept = { etag, vary, "cache-control": control };
      expect(await get(path, known)).toMatchObject({ statusCode: 304, headers: kept, body: "" });
      const head = await get(path, known, "HEAD");
      expect(head).toMatchObject({
        statusCode: 304,
        headers: { ...kept, "content-length": length },
        body: "",
      });
    }
  });

  test("An unknown script is not the page.", async () => {
    expect((await get("assets/main-old.js")).statusCode).toBe(404);
  });
});

test("If the console was not built, a sentence names the command.", async () => {
  const get = await open([join(folder, "missing")]);
  const response = await get("blocks");
  expect([response.statusCode, response.body]).toEqual([
    503,
    expect.stringMatching(/^The console is not built: run /),
  ]);
});
