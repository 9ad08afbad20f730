import { afterAll, expect, test } from "vitest";
import { openFixture } from "../../test-support/http/fixture.ts";

const fixture = openFixture();
afterAll(() => fixture.close());

const metaOf = async (parameters: string) => (await fixture.get(`/api/blocks?${parameters}`)).json().meta;

test("A page links the pages around.", async () => {
  expect(await metaOf("orderBy=height:asc&limit=1&page=2")).toEqual({
    totalCountIsEstimate: false,
    count: 1,
    pageCount: 4,
    totalCount: 4,
    next: "/api/blocks?orderBy=height%3Aasc&limit=1&page=3&transform=true",
    previous: "/api/blocks?orderBy=height%3Aasc&limit=1&page=1&transform=true",
    self: "/api/blocks?orderBy=height%3Aasc&limit=1&page=2&transform=true",
    first: "/api/blocks?orderBy=height%3Aasc&limit=1&page=1&transform=true",
    last: "/api/blocks?orderBy=height%3Aasc&limit=1&page=4&transform=true",
  });
});

test.each([
  ["page=4&limit=1", 3, null],
  ["page=5&limit=1", 4, null],
  ["page=6&limit=1", null, null],
  ["page=1&limit=3", null, 2],
])("A page knows the previous and the next page of %s.", async (parameters, previous, next) => {
  const meta = await metaOf(parameters);
  const pageOf = (link: string | null) => (link === null ? null : Number(/page=(\d+)/.exec(link)?.[1]));
  expect([pageOf(meta.previous), pageOf(meta.next)]).toEqual([previous, next]);
});

test("A page keeps the given parameters in their order, and adds the missing ones.", async () => {
  expect((await metaOf("transform=TRUE&limit=2")).self).toBe("/api/blocks?transform=TRUE&limit=2&page=1");
  expect((await metaOf("page=5")).self).toBe("/api/blocks?page=5&transform=true&limit=100");
});

test("A list skips an offset instead of pages, and links to the rows around by their offsets.", async () => {
  expect(await metaOf("limit=1&offset=2&page=2")).toMatchObject({
    count: 1,
    next: "/api/blocks?limit=1&offset=3&page=1&transform=true",
    previous: "/api/blocks?limit=1&offset=1&page=1&transform=true",
    self: "/api/blocks?limit=1&offset=2&page=2&transform=true",
    first: "/api/blocks?limit=1&page=1&transform=true",
    last: "/api/blocks?limit=1&page=4&transform=true",
  });
  expect((await metaOf("offset=0&limit=1&page=2")).count).toBe(1);
});

test.each([
  ["offset=1&limit=2", "offset=3&limit=2&transform=true&page=1", "limit=2&transform=true&page=1"],
  ["offset=2&limit=2", null, "limit=2&transform=true&page=1"],
  ["offset=3&limit=2", null, "offset=1&limit=2&transform=true&page=1"],
  ["offset=50&limit=3", null, "offset=1&limit=3&transform=true&page=1"],
  ["offset=2&limit=3&height=99", null, null],
])("A list knows the rows before and after %s of 4 rows.", async (parameters, next, previous) => {
  const meta = await metaOf(parameters);
  const path = (query: string | null) => query && `/api/blocks?${query}`;
  expect([meta.next, meta.previous]).toEqual([path(next), path(previous)]);
});

test("A list has an empty page beyond all numbers.", async () => {
  const response = await fixture.get("/api/blocks?page=9007199254740991");
  expect(response.json()).toMatchObject({ data: [], meta: { totalCount: 4, last: expect.any(String) } });
});

test("A list has no last page if there are no rows.", async () => {
  expect(await metaOf("height=99")).toMatchObject({
    totalCount: 0,
    pageCount: 1,
    last: null,
    next: null,
    previous: null,
  });
});

test.each([
  ["/api/blocks?limit=0", '"limit" must be an integer from 1 to 100'],
  ["/api/blocks?page=x", '"page" must be an integer from 1 to 2^53 - 1'],
  ["/api/blocks?limit=1&limit=2", '"limit" must be given once'],
  ["/api/uniks?orderBy=id:asc&orderBy=id:desc", '"orderBy" must be given once'],
  ["/api/node/fees?foo=1&foo=2", '"foo" is not allowed; allowed: days'],
  ["/api/blocks?transform=1", '"transform" must be true or false'],
  [
    "/api/peers?orderBy=port:asc",
    '"orderBy" must be one of height, ip, latency, version, followed by :asc or :desc',
  ],
  ["/api/delegates?type=x", '"type" must be one of resigned, never-forged'],
  ["/api/wallets/A%20B", '"id" must be an address, a public key or the username of a delegate'],
  ["/api/uniks/zz", '"id" must be 64 hexadecimal digits'],
  ["/api/node/fees?foo=1", '"foo" is not allowed; allowed: days'],
  ["/api/node/fees?day=1", '"day" is not allowed; did you mean "days"?'],
  ["/api/node/fees?foo=1&bar=2", '"foo" is not allowed, "bar" is not allowed'],
])("The error for %s names the invalid value and the expected one.", async (url, message) => {
  expect((await fixture.get(url)).json().message).toBe(message);
});

test.each([
  ["/api/blocks/search", { height: { from: 0 } }, '"height.from" must be an integer from 1 to 2^53 - 1'],
  ["/api/blocks/search", { version: "x" }, '"version" must be an integer from 0 to 2^53 - 1'],
  [
    "/api/wallets/search",
    { balance: { to: 0.5 } },
    '"balance.to" must be an integer from -(2^53 - 1) to 2^53 - 1',
  ],
  ["/api/locks/search", { isExpired: 1 }, '"isExpired" must be true or false'],
  ["/api/locks/search", { expirationType: 3 }, '"expirationType" must be one of 1, 2'],
  ["/api/delegates/search", { approval: { from: 101 } }, '"approval.from" must be a number from 0 to 100'],
])("The error for a value that can be sent as text names it once: %s %j.", async (url, body, message) => {
  expect((await fixture.post(url, body)).json().message).toBe(message);
});
