import { afterAll, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { chain } from "../../test-support/http/chain.ts";
import { openFixture, rowsOf } from "../../test-support/http/fixture.ts";

const fixture = openFixture();
afterAll(() => fixture.close());

type ApiResponse = { meta: { nextCursor: string | null }; data: { ip: string }[] };

const [newest, older, odd] = chain.peers.map(({ ip }) => ip);
const ipsOf = (response: { json(): unknown }) => rowsOf(response).map(({ ip }) => ip);

test("GET /peers lists peers, the fastest first, under both prefixes.", async () => {
  for (const prefix of ["/api", "/api/v2"]) {
    const response = await fixture.get(`${prefix}/peers`);
    expect(rowsOf(response)[0]).toEqual(chain.peers[2]);
    expect(ipsOf(response)).toEqual([odd, older, newest]);
    expect(response.json().meta).toMatchObject({ totalCount: 3, self: `${prefix}/peers?page=1&limit=100` });
  }
});

test.each([
  ["orderBy=latency:desc", [newest, older, odd]],
  ["orderBy=ip:asc", [odd, older, newest]],
  ["orderBy=height:desc", [older, newest, odd]],
  // By number, not by text; invalid versions come last in both directions.
  ["orderBy=version:asc", [older, newest, odd]],
  ["orderBy=version:desc", [newest, older, odd]],
  ["limit=1&page=2", [older]],
  ["offset=2", [newest]],
  ["version=%5E5.0.0", [older, newest]],
  ["version=5.9.x", [older]],
  ["version=%3E5.9.0%20%7C%7C%201", [newest]],
  ["version=6", []],
  ["version=", [odd, older, newest]],
  ["ip=203.0.113.9", [odd, older, newest]],
  ["ip=203.0.113.0/24", [odd, older, newest]],
])("GET /peers lists peers with %s.", async (parameters, found) => {
  expect(ipsOf(await fixture.get(`/api/peers?${parameters}`))).toEqual(found);
});

test.each(["latency:asc", "latency:desc", "version:asc", "ip:desc", "height:asc"])(
  "Pages of GET /peers by %s hide no peer that stays while others leave.",
  async (orderBy) => {
    const shrinking = openFixture();
    const peerOf = (count: number) => ({
      ...present(chain.peers[0], "a peer"),
      ...{ ip: `198.51.100.${count}`, latency: count, height: count, version: `1.0.${count}` },
    });
    let peers = Array.from({ length: 9 }, (_, index) => peerOf(index + 1));
    shrinking.gateway.peers = async () => peers;
    const page = async (cursor: string) =>
      (await shrinking.get(`/api/peers?orderBy=${orderBy}&limit=3&cursor=${cursor}`)).json() as ApiResponse;
    const first = await page("start");
    // The last row of the page leaves, and one before it.
    const gone = [first.data[0]?.ip, first.data[2]?.ip];
    peers = peers.filter(({ ip }) => !gone.includes(ip));
    const second = await page(present(first.meta.nextCursor, "the next cursor"));
    const third = await page(present(second.meta.nextCursor, "the next cursor"));
    expect(third.meta.nextCursor).toBeNull();
    const all = [first, second, third].flatMap(({ data }) => data.map(({ ip }) => ip));
    expect([all.length, new Set(all).size]).toEqual([9, 9]);
    await shrinking.close();
  },
);

test("GET /peers finds no peers for an invalid range.", async () => {
  const response = await fixture.get("/api/peers?version=newest");
  expect(response.json()).toEqual({
    statusCode: 404,
    error: "Not Found",
    message: "Invalid version range provided",
  });
});

test.each(["ip=x", "ip=1.2.3.4/33", "orderBy=port:asc", "os=linux", "limit=0"])(
  "GET /peers refuses %s.",
  async (parameters) => {
    expect((await fixture.get(`/api/peers?${parameters}`)).statusCode).toBe(422);
  },
);

test("GET /peers/{ip} shows a peer by its address.", async () => {
  expect((await fixture.get(`/api/peers/${newest}`)).json()).toEqual({ data: chain.peers[0] });
  expect((await fixture.get(`/api/v2/peers/${odd}`)).json()).toEqual({ data: chain.peers[2] });
  const unknown = await fixture.get("/api/peers/192.0.2.1");
  expect(unknown.json()).toEqual({ statusCode: 404, error: "Not Found", message: "Peer not found" });
  expect((await fixture.get("/api/peers/::1")).statusCode).toBe(404);
  expect((await fixture.get("/api/peers/localhost")).statusCode).toBe(422);
});
