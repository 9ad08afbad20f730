/** Extreme, unusual and forged positions in lists. */

import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createAccess } from "../../src/http/webhooks/access.ts";
import { createWebhookRoutes } from "../../src/http/webhooks/routes.ts";
import { type Document, documentOf } from "../../test-support/http/described.ts";
import { openFixture } from "../../test-support/http/fixture.ts";
import { longer } from "../../test-support/http/longer.ts";
import { listen, openStreams, TOKEN as STREAM_TOKEN } from "../../test-support/stream/support.ts";
import { always, blockApplied, createService } from "../../test-support/webhooks/support.ts";
import { filled } from "./samples.ts";

const fixture = openFixture({}, {}, longer);
let document: Document;
beforeAll(async () => {
  await fixture.app.ready();
  document = await documentOf(fixture.app);
});
afterAll(() => fixture.close());

const NUMBERS = [
  "0",
  "-1",
  "1.5",
  "1e3",
  "1e308",
  "Infinity",
  `${2 ** 31}`,
  `${2 ** 53 - 1}`,
  `${2n ** 53n}`,
  `${2n ** 63n - 1n}`,
  `${2n ** 64n}`,
  "9".repeat(300),
  "",
  " 1",
  "１",
];
const VALID = [`${2 ** 31}`, `${2 ** 53 - 1}`];
const MAX_LIMIT = 100;

type List = { path: string; isPost: boolean };

/** Every list of the interface that needs no token. */
function lists(): List[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { parameters = [], tags }]) => {
      const isList = parameters.some(({ name }) => name === "cursor") && !tags.includes("Webhooks");
      return isList ? [{ path: `/api/v2${filled(path)}`, isPost: method === "post" }] : [];
    }),
  );
}

/** Expects a refusal, or a page within its bounds. */
async function expectPage({ path, isPost }: List, query: string): Promise<{ nextCursor?: string }> {
  const url = `${path}?${query}`;
  const response = isPost ? await fixture.post(url, {}) : await fixture.get(url);
  expect([200, 400, 404, 422], `${url}: ${response.body}`).toContain(response.statusCode);
  if (response.statusCode !== 200) return {};
  const { data, meta } = response.json() as { data: object[]; meta: { nextCursor?: string } };
  expect(data.length, url).toBeLessThanOrEqual(MAX_LIMIT);
  return meta;
}

test("Numbers of pages, rows and offsets beyond all bounds are refused or find nothing.", async () => {
  expect(lists().length).toBeGreaterThan(25);
  for (const [index, list] of lists().entries()) {
    // All lists have the same parameters; few numbers get further.
    for (const number of index % 5 === 0 ? NUMBERS : VALID) {
      for (const name of ["page", "limit", "offset"]) {
        await expectPage(list, `${name}=${encodeURIComponent(number)}`);
      }
    }
    const { statusCode, body } = list.isPost
      ? await fixture.post(`${list.path}?page=${2 ** 53 - 1}&limit=100`, {})
      : await fixture.get(`${list.path}?page=${2 ** 53 - 1}&limit=100`);
    expect(statusCode === 200 ? JSON.parse(body).data : [], list.path).toEqual([]);
  }
});

const MEMBERS: readonly unknown[] = [
  null,
  0,
  -1,
  1.5,
  1e308,
  -1e308,
  2 ** 53,
  "",
  "x".repeat(1_000),
  "\0",
  "9".repeat(400),
  "' OR 1=1 --",
  "\ud800",
];
const encode = (text: string) => Buffer.from(text).toString("base64url");

test("Forged cursors, and those of other lists, are refused or find a page.", async () => {
  const given: string[] = [];
  for (const list of lists()) {
    const { nextCursor } = await expectPage(list, "limit=1&cursor=start");
    if (nextCursor) given.push(nextCursor);
  }
  expect(given.length).toBeGreaterThan(10);
  const odd = [
    "-",
    "_",
    "a",
    "A".repeat(2_048),
    "A".repeat(2_049),
    "start=",
    "%00",
    encode("[]"),
    encode("{}"),
  ];
  const nested = encode(`${"[".repeat(700)}${"]".repeat(700)}`);
  for (const [index, list] of lists().entries()) {
    const others = [given[index % given.length], given[(index + 1) % given.length]];
    for (const cursor of [...others, ...odd, nested]) await expectPage(list, `limit=1&cursor=${cursor}`);
    const { nextCursor } = await expectPage(list, "limit=1&cursor=start");
    if (!nextCursor) continue;
    const [name, ...members] = JSON.parse(Buffer.from(nextCursor, "base64url").toString()) as unknown[];
    for (const member of MEMBERS) {
      const first = [name, member, ...members.slice(1)];
      await expectPage(list, `limit=100&cursor=${encode(JSON.stringify(first))}`);
    }
    // As text, because the runtime would serialize these differently.
    for (const number of [`${2n ** 63n}`, `${2n ** 64n}`, `-${2n ** 64n}`, "9".repeat(300), "1e400", "-0"]) {
      await expectPage(list, `limit=100&cursor=${encode(`["${name}",${members.map(() => number)}]`)}`);
    }
  }
});

test("Numbers beyond all bounds are refused or find nothing in the lists of webhooks.", async () => {
  const { webhooks } = createService({ chain: [[blockApplied(1)]] });
  const guarded = openFixture({}, { plugins: [createWebhookRoutes(createAccess({ token: "t" }), webhooks)] });
  onTestFinished(guarded.close);
  const { id } = await webhooks.register.create(always());
  for (let count = 0; count < 3; count++) await webhooks.ping(`${id}`);
  const paths = ["/api/webhooks", `/api/webhooks/${id}/deliveries`];
  for (const path of paths) {
    for (const name of ["page", "limit", "cursor", "height", "from", "to"]) {
      for (const number of name === "page" ? NUMBERS : VALID) {
        const url = `${path}?${name}=${encodeURIComponent(number)}`;
        const { statusCode, body } = await guarded.get(url, { authorization: "t" });
        expect([200, 422], `${url}: ${body}`).toContain(statusCode);
      }
    }
  }
  for (const number of NUMBERS.filter((number) => /^\d+$/.test(number))) {
    const url = `/api/webhooks/${id}/deliveries/${number}`;
    expect((await guarded.get(url, { authorization: "t" })).statusCode, url).toBe(404);
    const webhook = `/api/webhooks/${number}`;
    expect((await guarded.get(webhook, { authorization: "t" })).statusCode, webhook).toBe(404);
  }
});

test("Numbers beyond all bounds are refused or find nothing as positions of a stream.", async () => {
  const { port, stream } = await openStreams();
  const statusOf = async (query: string, id?: string) => {
    const headers = { authorization: STREAM_TOKEN, ...(id !== undefined && { "last-event-id": id }) };
    const listener = await listen(
      `http://127.0.0.1:${port}/api/events?events=block.applied${query}`,
      headers,
    );
    listener.close();
    return listener.status;
  };
  for (const number of NUMBERS) {
    const text = encodeURIComponent(number);
    expect([200, 422], `fromHeight ${number}`).toContain(await statusOf(`&fromHeight=${text}`));
    expect([200, 410, 422], `lastEventId ${number}`).toContain(await statusOf(`&lastEventId=${text}`));
    for (const id of [`.${number}.1`, `1.${number}.1`, `${number}.1.1`, `.1.${number}`]) {
      expect([200, 410, 422], id).toContain(await statusOf("", encodeURIComponent(id)));
    }
  }
  await expect.poll(() => stream.figures().open).toBe(0);
});
