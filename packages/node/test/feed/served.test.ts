/** The feed of a running node, as a mirror reads it over HTTP. */
import assert from "node:assert";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { createGunzip } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Node } from "../../src/processes/node/node.ts";
import { makeFolder, serveFolder } from "../../test-support/facts/served.ts";
import { readMetric, SCRAPES } from "../../test-support/process/metrics.ts";

let folder: string;
let node: Node;
let port: number;

beforeAll(async () => {
  folder = await makeFolder();
  node = await serveFolder(folder, { feedBlocks: 100, feedAllow: "127.0.0.1" });
  port = Number(new URL(node.url).port);
});
afterAll(async () => {
  await node.stop();
  rmSync(folder, { recursive: true });
});

type Options = { readonly token?: string; readonly from?: string; readonly encoding?: string };

async function open(path: string, { token = node.webhookToken, from = "127.0.0.1", encoding }: Options = {}) {
  const request = get({
    port,
    host: "127.0.0.1",
    localAddress: from,
    path: `/api/internal/feed${path}`,
    agent: false,
    headers: { authorization: token, ...(encoding && { "accept-encoding": encoding }) },
  });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return response;
}

async function codeOf(response: IncomingMessage) {
  const body = JSON.parse(await text(response)) as { code?: string };
  return [response.statusCode, response.headers["error-code"] ?? body.code];
}

const head = () => {
  const { height, id } = node.head();
  return `?after=${height}:${id}`;
};

test("Only clients with the token, at listed addresses, can read the feed.", async () => {
  expect(await codeOf(await open(head(), { token: "wrong" }))).toEqual([401, "TOKEN_WRONG"]);
  expect(await codeOf(await open(head(), { from: "127.0.0.2" }))).toEqual([403, "ADDRESS_REFUSED"]);
});

test("An invalid position is named; positions that are not on the chain return 410.", async () => {
  for (const query of ["", "?after=12", "?after=x:y", "?after=1:ab", `?${"after=1:12&".repeat(33)}`]) {
    const response = await open(query);
    expect(response.statusCode, query).toBe(422);
    response.resume();
  }
  expect(await codeOf(await open(`?after=3:${"0".repeat(64)}`))).toEqual([409, "FEED_GONE"]);
});

test("A compressed response has the same lines as a plain one.", async () => {
  const plain = await text(await open("/state"));
  const compressed = await open("/state", { encoding: "gzip" });
  expect(compressed.headers["content-encoding"]).toBe("gzip");
  expect(await text(compressed.pipe(createGunzip()))).toBe(plain);
  expect(plain).toMatch(/ \{"end":\d+\}\n$/);
});

test("A mirror at the head receives the tree of final facts, and its connection is counted until it closes.", async () => {
  const response = await open(head());
  const [line] = (await once(response.setEncoding("utf8"), "data")) as [string];
  const { data } = (await (
    await fetch(`${node.url}/api/v2/facts/checkpoint`, { headers: { accept: "application/json" } })
  ).json()) as {
    data: Record<string, unknown>;
  };
  const { height, id, size, root } = data;
  expect(JSON.parse(line.slice(65))).toEqual({ checkpoint: { height, id, version: 3, size, root } });
  expect(await responses()).toBe(1);
  response.destroy();
  await expect.poll(responses, SCRAPES).toBe(0);
});

test("The events of the log have the same access, and their positions are checked.", async () => {
  const events = "/events?after=newest";
  expect(await codeOf(await open(events, { token: "wrong" }))).toEqual([401, "TOKEN_WRONG"]);
  expect(await codeOf(await open(events, { from: "127.0.0.2" }))).toEqual([403, "ADDRESS_REFUSED"]);
  for (const query of [
    "",
    "?after=",
    "?after=x",
    "?after=-1",
    "?after=newest&id=a",
    `?after=${2 ** 52 + 1}`,
  ]) {
    const response = await open(`/events${query}`);
    expect(response.statusCode, query).toBe(422);
    response.resume();
  }
  expect(await codeOf(await open("/events?after=7&id=a:b"))).toEqual([409, "FEED_GONE"]);
});

test("The events of the log are sent, compressed if the mirror accepts it, and later ones get higher sequences.", async () => {
  const response = await open("/events?after=newest", { encoding: "gzip" });
  const [start] = (await once(response.pipe(createGunzip()).setEncoding("utf8"), "data")) as [string];
  expect(start.slice(65)).toBe('{"after":0,"last":0}\n');
  await expect.poll(responses, SCRAPES).toBe(1);
  response.destroy();
  const { status } = await continueAfter({ after: 40 });
  expect(status).toBe(204);
  const later = await open("/events?after=newest");
  const [line] = (await once(later.setEncoding("utf8"), "data")) as [string];
  expect(line.slice(65)).toBe('{"after":40,"last":40}\n');
  later.destroy();
  expect((await continueAfter({ after: -1 })).status).toBe(422);
  expect((await continueAfter({ after: 50 }, "wrong")).status).toBe(401);
});

test("Responses of mirrors that have disconnected do not count.", async () => {
  for (let round = 0; round < 3; round++) {
    await expect
      .poll(async () => {
        const responses = await Promise.all(Array.from({ length: 8 }, () => open("/events?after=newest")));
        const statuses = responses.map(({ statusCode }) => statusCode);
        for (const response of responses) response.destroy();
        return new Set(statuses);
      })
      .toEqual(new Set([200]));
  }
});

const continueAfter = (body: object, token = node.webhookToken) =>
  fetch(`${node.url}/api/internal/feed/events/continuation`, {
    method: "POST",
    headers: { authorization: token, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

test("The node stops while a mirror is connected.", async () => {
  const data = await makeFolder(3);
  const other = await serveFolder(data, { feedBlocks: 10 });
  const { height, id } = other.head();
  const url = `${other.url}/api/internal/feed?after=${height}:${id}`;
  const response = await fetch(url, { headers: { authorization: other.webhookToken } });
  assert(response.body);
  await other.stop();
  await response.text();
  rmSync(data, { recursive: true });
});

test("A node without --feed-blocks has no feed.", async () => {
  const data = await makeFolder(3);
  const other = await serveFolder(data);
  const response = await fetch(`${other.url}/api/internal/feed?after=1:12`);
  expect(response.status).toBe(404);
  await other.stop();
  rmSync(data, { recursive: true });
});

const responses = () => readMetric(node.url, "uniknode_feed_responses", node.webhookToken);
