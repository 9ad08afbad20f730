/** Responses that are cached until the next block. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { afterEach, expect, test } from "vitest";
import { programVersion } from "../../src/platform/lifecycle/program.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { alice, unik } from "../../test-support/http/chain.ts";
import type { Document } from "../../test-support/http/described.ts";
import { type Fixture, NOW_MS, openFixture } from "../../test-support/http/fixture.ts";
import { longer } from "../../test-support/http/longer.ts";
import { filled } from "./samples.ts";

let fixture: Fixture;
afterEach(() => fixture.close());

const url = `/api/wallets/${alice.address}`;

test("Cached responses have a strong ETag, and are not sent again to clients that have them.", async () => {
  fixture = openFixture();
  const first = await fixture.get(url);
  const tag = first.headers.etag as string;
  expect(tag).toMatch(/^"[\w-]+"$/);
  const second = await fixture.get(url);
  expect([second.body, second.headers.etag]).toEqual([first.body, tag]);
  for (const known of [tag, `"other", ${tag}`, `W/${tag}`, "*", `${tag.slice(0, -1)}-gzip"`]) {
    const spared = await fixture.get(url, { "if-none-match": known });
    expect([spared.statusCode, spared.body, spared.headers.etag]).toEqual([304, "", tag]);
    expect(spared.headers).not.toHaveProperty("content-type");
  }
  expect((await fixture.get(url, { "if-none-match": '"other"' })).body).toBe(first.body);
});

test("Cached responses have all characters if they are long, ASCII or not.", async () => {
  fixture = openFixture();
  const writer = openDatabase(fixture.path);
  const update = writer.prepare("UPDATE properties SET value = ? WHERE token = ?");
  const ascii = "x".repeat(20_000);
  for (const [index, value] of [
    ascii,
    `${ascii}\u00e9`,
    `\u20ac${ascii}`,
    "\u{1f600}".repeat(8_000),
  ].entries()) {
    update.run(value, unik.bob);
    const { json, headers, rawPayload } = await fixture.get(
      `/api/uniks/${unik.bob}/properties?${"&".repeat(index)}`,
    );
    expect(headers["content-length"]).toBe(`${rawPayload.length}`);
    const values = json().data.flatMap((property: object) => Object.values(property));
    expect(values.includes(value)).toBe(true);
  }
  writer.close();
});

test("Cached responses have the same headers for HEAD as for GET.", async () => {
  fixture = openFixture();
  // Each response has its own date.
  const { date: _, ...headers } = (await fixture.get(url)).headers;
  const tag = headers.etag as string;
  const head = (known: string) =>
    fixture.app.inject({ method: "HEAD", url, headers: { "if-none-match": known } });
  expect(await head('"other"')).toMatchObject({ statusCode: 200, headers, body: "" });
  const { "content-length": length, etag } = headers;
  for (let time = 0; time < 3; time += 1) {
    const spared = await head(tag);
    expect(spared).toMatchObject({ statusCode: 304, headers: { "content-length": length, etag }, body: "" });
    expect(spared.headers).not.toHaveProperty("content-type");
  }
});

test.each(["gzip", "identity"])(
  "Each route has the same headers for HEAD as for GET in %s.",
  async (accepted) => {
    fixture = openFixture({}, {}, longer);
    const { paths } = (await fixture.get("/api/openapi.json")).json() as Document;
    for (const [path, { get }] of Object.entries(paths)) {
      if (!get) continue;
      const request = { url: `/api${filled(path)}`, headers: { "accept-encoding": accepted } };
      const { date: _, ...headers } = (await fixture.app.inject({ method: "GET", ...request })).headers;
      const head = await fixture.app.inject({ method: "HEAD", ...request });
      expect(head, path).toMatchObject({ statusCode: 200, headers, body: "" });
    }
  },
);

test("Cached responses have Last-Modified, also when they are created and requested again.", async () => {
  let now = NOW_MS;
  fixture = openFixture({}, { nowMs: () => now });
  const made = new Date(now).toUTCString();
  for (const nowMs of [NOW_MS, NOW_MS + 5_000, NOW_MS + 10_000]) {
    now = nowMs;
    expect((await fixture.get(url)).headers["last-modified"]).toBe(made);
  }
  // Responses that are created for each request do not have it.
  expect((await fixture.get("/api/node/status")).headers).not.toHaveProperty("last-modified");
});

test("Cached responses are not sent again for exactly their Last-Modified, unless two blocks share its second.", async () => {
  let now = NOW_MS;
  fixture = openFixture({}, { nowMs: () => now });
  const since = (text: string, tag?: string) =>
    fixture.get(url, { "if-modified-since": text, ...(tag !== undefined && { "if-none-match": tag }) });
  const made = (await fixture.get(url)).headers["last-modified"] as string;
  expect((await since(made)).statusCode).toBe(304);
  expect((await since(made, '"other"')).statusCode).toBe(200);
  for (const text of [new Date(NOW_MS - 1_000), new Date(NOW_MS + 1_000)]) {
    expect((await since(text.toUTCString())).statusCode).toBe(200);
  }
  const writer = openDatabase(fixture.path);
  for (const [height, status] of [
    [4, 200],
    [3, 304],
  ] as const) {
    writer.execute(`DELETE FROM blocks WHERE height = ${height}`);
    await nextTurn();
    const { headers } = await fixture.get(url);
    expect((await since(headers["last-modified"] as string)).statusCode).toBe(status);
    now += 1_000;
  }
  writer.close();
});

test("Cached responses have another ETag in another encoding, and are compressed once.", async () => {
  fixture = openFixture({}, {}, longer);
  const plain = await fixture.get("/api/transactions");
  for (let time = 0; time < 2; time += 1) {
    const packed = await fixture.get("/api/transactions", { "accept-encoding": "gzip" });
    expect(packed.headers).toMatchObject({ "content-encoding": "gzip", vary: "accept-encoding" });
    expect(packed.headers.etag).toBe(`${(plain.headers.etag as string).slice(0, -1)}.gzip"`);
    expect(gunzipSync(packed.rawPayload).toString()).toBe(plain.body);
    const spared = await fixture.get("/api/transactions", {
      "accept-encoding": "gzip",
      "if-none-match": packed.headers.etag as string,
    });
    // A 304 has the headers with which caches choose and update a stored response (RFC 9110, 15.4.5).
    const { etag, vary, "cache-control": control, "last-modified": since } = packed.headers;
    const kept = { etag, vary, "cache-control": control, "last-modified": since };
    expect(spared).toMatchObject({ statusCode: 304, headers: kept, body: "" });
    expect(spared.headers).not.toHaveProperty("content-encoding");
    expect(spared.headers).not.toHaveProperty("accept-ranges");
  }
});

test("Responses are cached from the second request on, until the next block.", async () => {
  fixture = openFixture();
  await fixture.get(url);
  const before = await fixture.get(url);
  const writer = openDatabase(fixture.path);
  // Only blocks change what clients may see.
  writer.execute(`UPDATE wallets SET balance = 2 WHERE address = '${alice.address}'`);
  expect((await fixture.get(url)).body).toBe(before.body);
  writer.execute("DELETE FROM blocks WHERE height = 4");
  // No client that was notified of a block can send a request in the tick in which it was written.
  await nextTurn();
  const after = await fixture.get(url);
  expect([after.json().data.balance, after.json().chainmeta.height]).toEqual([2, 3]);
  expect(after.headers.etag).not.toBe(before.headers.etag);
  writer.close();
});

test("Cached responses count against the rate limit, and have its headers.", async () => {
  fixture = openFixture({ rateLimit: { limit: 2, windowMs: 60_000 } });
  const responses = [await fixture.get(url), await fixture.get(url), await fixture.get(url)];
  expect(responses.map(({ statusCode }) => statusCode)).toEqual([200, 200, 429]);
  expect(responses[1]?.headers["ratelimit-remaining"]).toBe("0");
});

/** Routes whose responses depend on more than the request and the head. */
const OF_MORE = [
  "/node/fees",
  "/node/status",
  "/node/syncing",
  "/openapi.json",
  "/peers",
  "/peers/{ip}",
  "/transactions/unconfirmed",
  "/transactions/unconfirmed/{id}",
];

test("Cached responses are those of exactly the routes that declare it.", async () => {
  fixture = openFixture({}, {}, longer);
  const { paths } = (await fixture.get("/api/openapi.json")).json() as Document;
  const untagged: string[] = [];
  for (const [path, { get }] of Object.entries(paths)) {
    if (!get) continue;
    const response = await fixture.get(`/api${filled(path)}`);
    expect(response.statusCode, path).toBe(200);
    if (!("etag" in response.headers)) untagged.push(path);
  }
  expect(untagged.sort()).toEqual(OF_MORE.filter((path) => path in paths));
});

test("Cached responses have an ETag of the head only if each block changes them.", async () => {
  fixture = openFixture({}, {}, longer);
  const { paths } = (await fixture.get("/api/openapi.json")).json() as Document;
  const { data } = (await fixture.get("/api/blockchain")).json();
  const version = programVersion().replaceAll(".", "-");
  const ofHead: string[] = [];
  for (const [path, { get }] of Object.entries(paths)) {
    if (!get) continue;
    const { headers, body } = await fixture.get(`/api${filled(path)}`);
    if (headers.etag !== `"${data.block.id.slice(0, 32)}-${version}"`) continue;
    ofHead.push(path);
    expect(body, path).toMatch(/"(chainmeta|confirmations)":/);
  }
  expect(ofHead).toEqual(
    expect.arrayContaining(["/blocks", "/transactions/{id}", "/uniks/{id}", "/wallets"]),
  );
});

test("Cached responses keep their ETag over blocks that do not change them, and have another one after other blocks.", async () => {
  fixture = openFixture({}, {}, longer);
  const tags = async (...paths: string[]) =>
    Promise.all(paths.map(async (path) => (await fixture.get(`/api/${path}`)).headers.etag));
  const before = await tags("delegates", "blocks", "wallets");
  const writer = openDatabase(fixture.path);
  writer.execute("DELETE FROM blocks WHERE height = (SELECT max(height) FROM blocks)");
  writer.close();
  await nextTurn();
  const after = await tags("delegates", "blocks", "wallets");
  expect(after.map((tag, index) => tag === before[index])).toEqual([true, false, false]);
});

test("Cached responses are not used if the response depends on more than the head.", async () => {
  fixture = openFixture();
  for (const path of [
    "/node/status",
    "/node/syncing",
    "/peers",
    "/transactions/unconfirmed",
    "/node/fees?days=3",
  ]) {
    expect((await fixture.get(`/api${path}`)).headers, path).not.toHaveProperty("etag");
  }
  expect((await fixture.get("/api/wallets/unknown")).headers).not.toHaveProperty("etag");
  const searched = await fixture.post("/api/blocks/search", {});
  expect(searched.headers).not.toHaveProperty("etag");
});
