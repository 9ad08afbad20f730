/** `uniknode serve` over the mirror of a dev chain: responses equal those of the node, apart from the headers that name the block. */
import assert from "node:assert";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import {
  type MirroredDevChain,
  runDevCommand,
  startMirroredDevChain,
  TOKEN,
} from "../../test-support/mirror/dev-chain.ts";
import { freePort } from "../../test-support/peers/world.ts";
import { startBreakingProxy } from "../../test-support/postgres/breaking-proxy.ts";
import { hasPostgres } from "../../test-support/postgres/server.ts";
import { readMetrics, SCRAPES } from "../../test-support/process/metrics.ts";
import { type Running, runUniknode, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { resourcePaths, searches, WALKS } from "../../test-support/serve/requests.ts";

let chain: MirroredDevChain;
let server: Running;
let nodeUrl: string;
let serverUrl: string;

beforeAll(async () => {
  if (!hasPostgres) return;
  chain = await startMirroredDevChain({ nodeArgs: ["--rate-limit", "0"] });
  nodeUrl = chain.url;
  chain.startMirror();
  await chain.command("forge", { enabled: false });
  server = startServer(chain.databaseUrl);
  const [, served] = await server.printed(/(http:\S+)\n/);
  assert(served);
  serverUrl = served;
});
afterAll(async () => {
  server?.child.kill("SIGTERM");
  await server?.ended;
  await chain?.closeAll();
});

const startServer = (url: string, ...more: string[]) =>
  spawnUniknode([
    ...["serve", "--node", nodeUrl, "--token", TOKEN, "--database-url", url],
    ...["--http-port", "0", "--rate-limit", "0", ...more],
  ]);

const logged = ({ stdout, stderr }: Running, text: string) =>
  expect.poll(() => stdout() + stderr()).toContain(text);

type Found = { readonly status: number; readonly headers: Headers; readonly text: string };

async function get(url: string, path: string, headers: Record<string, string> = {}): Promise<Found> {
  const response = await fetch(url + path, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const data = async <T>(path: string, url = nodeUrl): Promise<T> =>
  (JSON.parse((await get(url, path)).text) as { data: T }).data;
const headOf = (url: string) => data<{ block: { height: number; id: string } }>("/api/v2/blockchain", url);

/** Waits until the API server has the head of the node. */
async function followed(): Promise<{ readonly height: number; readonly id: string }> {
  const { block } = await headOf(nodeUrl);
  await expect
    .poll(async () => (await get(serverUrl, "/api/v2/blockchain")).text)
    .toContain(`"id":"${block.id}"`);
  return block;
}

/** Headers that may differ, or that only API servers send. */
const OWN_HEADERS = [
  "date",
  "connection",
  "keep-alive",
  "last-modified",
  "x-uniknode-height",
  "x-uniknode-block",
];
/** The network time in seconds, which can differ between two requests. */
const TIMESTAMP = /(?<="blocksCount":\d+,"timestamp":)\d+/;
const comparable = ({ status, headers, text }: Found) => ({
  status,
  text: text.replace(TIMESTAMP, "now"),
  headers: Object.fromEntries([...headers].filter(([name]) => !OWN_HEADERS.includes(name))),
});

/** Sends the same search to a server as JSON. */
async function search(url: string, path: string, body: object): Promise<Found> {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Walks a list, and requests each page of both servers with the same cursor, which the one or the other has returned. */
async function walkBoth(path: string): Promise<number> {
  let cursor: string | null | undefined = "start";
  let pages = 0;
  while (cursor) {
    const page: string = `${path}&cursor=${cursor}`;
    const [expected, received] = [await get(nodeUrl, page), await get(serverUrl, page)];
    expect(comparable(received), page).toEqual(comparable(expected));
    expect(received.status, page).toBe(200);
    const { text } = pages % 2 === 0 ? expected : received;
    cursor = (JSON.parse(text) as { meta: { nextCursor?: string | null } }).meta.nextCursor;
    pages++;
  }
  return pages;
}

describe.skipIf(!hasPostgres)("an API server over the mirror of a dev chain", () => {
  test("An API server sends the responses of the node, byte for byte, and names the block.", async () => {
    await chain.command("mine", { blocks: 40 });
    const { height, id } = await followed();
    const checkpoint = async (url: string) => (await get(url, "/api/v2/facts/checkpoint")).text;
    // Each tree of facts grows a moment after its blocks.
    await expect.poll(async () => (await checkpoint(serverUrl)) === (await checkpoint(nodeUrl))).toBe(true);
    for (const path of await resourcePaths(data)) {
      const expected = await get(nodeUrl, path, { authorization: TOKEN });
      const received = await get(serverUrl, path, { authorization: TOKEN });
      expect(comparable(received), path).toEqual(comparable(expected));
    }
    const { headers } = await get(serverUrl, "/api/v2/blockchain");
    expect([headers.get("x-uniknode-height"), headers.get("x-uniknode-block")]).toEqual([`${height}`, id]);
    expect((await get(nodeUrl, "/api/v2/blockchain")).headers.has("x-uniknode-height")).toBe(false);
  });

  test("An API server sends the same results of searches as the node.", async () => {
    for (const [path, body, status = 200] of await searches(data)) {
      const [expected, received] = [
        await search(nodeUrl, `/api/v2${path}`, body),
        await search(serverUrl, `/api/v2${path}`, body),
      ];
      const request = `${path} ${JSON.stringify(body)}`;
      expect(received.status, `${request}: ${received.text}`).toBe(status);
      expect(comparable(received), request).toEqual(comparable(expected));
    }
  });

  test("An API server continues walks of the node, and the node continues its walks.", async () => {
    let pages = 0;
    for (const path of WALKS) pages += await walkBoth(path);
    expect(pages).toBeGreaterThan(2 * WALKS.length);
    const { meta } = JSON.parse((await get(nodeUrl, "/api/v2/blocks?limit=1&cursor=start")).text) as {
      meta: { nextCursor: string };
    };
    const foreign = `/api/v2/wallets?cursor=${meta.nextCursor}`;
    const refused = await get(serverUrl, foreign);
    expect(refused.status).toBe(422);
    expect(comparable(refused)).toEqual(comparable(await get(nodeUrl, foreign)));
  });

  test("An API server follows reorganisations.", async () => {
    await chain.command("reorg", { depth: 7 });
    await followed();
    for (const path of ["/api/v2/blocks?limit=20", "/api/v2/wallets?limit=100"]) {
      expect((await get(serverUrl, path)).text).toBe((await get(nodeUrl, path)).text);
    }
  });

  test("An API server lets clients read their writes: waits for the block, and refuses a branch that is gone.", async () => {
    const at = (height: number, id: string) => ({ "x-uniknode-at-least": `${height}:${id}` });
    await chain.command("mine", { blocks: 3 });
    const { block } = await headOf(nodeUrl);
    // On a busy machine the mirror is later than the server waits, which then refuses.
    await expect
      .poll(async () => (await get(serverUrl, "/api/v2/blockchain", at(block.height, block.id))).text)
      .toContain(block.id);
    const early = await get(serverUrl, "/api/v2/blocks", at(block.height + 1_000, block.id));
    expect([early.status, early.headers.get("retry-after"), early.headers.get("error-code")]).toEqual([
      503,
      "1",
      "REPLICA_BEHIND",
    ]);
    const gone = await get(serverUrl, "/api/v2/blocks", at(block.height - 1, "ab".repeat(32)));
    expect([gone.status, gone.headers.get("error-code")]).toEqual([409, "BRANCH_GONE"]);
    const older = await get(
      serverUrl,
      "/api/v2/blocks",
      at(1, (await data<{ id: string }>("/api/v2/blocks/first")).id),
    );
    expect(older.status).toBe(200);
    expect((await get(serverUrl, "/api/v2/blocks", { "x-uniknode-at-least": "7" })).status).toBe(400);
  });

  test("An API server forwards submissions, the register of webhooks, commands and the live stream.", async () => {
    const empty = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
    const refused = await fetch(`${serverUrl}/api/v2/transactions`, empty);
    expect(await refused.text()).toBe(await (await fetch(`${nodeUrl}/api/v2/transactions`, empty)).text());
    const stream = await fetch(`${serverUrl}/api/v2/events?events=block.applied`, {
      headers: { authorization: TOKEN },
    });
    expect(stream.headers.get("content-type")).toContain("text/event-stream");
    await runDevCommand(serverUrl, "mine", { blocks: 1 });
    let text = "";
    for await (const chunk of stream.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.includes("block.applied")) break;
    }
    expect(text).toContain("block.applied");
  });

  test("An API server is known to the node, as the mirror is, with its block.", async () => {
    const { id: _, height } = await followed();
    const processes = async () => {
      const { text } = await get(nodeUrl, "/api/v2/operations/node", { authorization: TOKEN });
      return (JSON.parse(text) as { data: { processes: object[] } }).data.processes;
    };
    const [, port] = serverUrl.split(/:(?=\d+$)/);
    await expect.poll(processes).toEqual([
      expect.objectContaining({ kind: "mirror", address: "127.0.0.1", height, blocksBehind: 0 }),
      expect.objectContaining({
        ...{ kind: "server", address: "127.0.0.1", height, blocksBehind: 0 },
        name: expect.stringMatching(new RegExp(`:${port}$`)),
      }),
    ]);
  });

  test("An API server serves the console, health and metrics.", async () => {
    await followed();
    expect((await get(serverUrl, "/console/session")).text).toContain('"signedIn":false');
    expect((await get(serverUrl, "/health/live")).status).toBe(200);
    const ready = await get(serverUrl, "/health/ready");
    expect(ready.status).toBe(200);
    expect(ready.text).toContain("0 blocks behind the node");
    const metrics = await get(serverUrl, "/metrics", { authorization: TOKEN });
    expect(metrics.text).toContain("uniknode_server_blocks_behind 0");
    expect(metrics.text).toContain(
      'uniknode_http_requests_total{method="GET",route="/api/blockchain",status="200"}',
    );
  });

  test("An API server names the option of a port that is in use.", async () => {
    const { port } = new URL(serverUrl);
    const { code, stderr } = await runUniknode([
      ...["serve", "--node", nodeUrl, "--token", TOKEN],
      ...["--database-url", chain.databaseUrl, "--http-port", port],
    ]);
    expect(code).toBe(1);
    expect(stderr).toContain("--http-port");
    expect(stderr).not.toContain("bug in uniknode");
  });

  test("An API server serves reads while the node is down, and says so for everything else.", async () => {
    const expected = await get(serverUrl, "/api/v2/blocks?limit=5");
    await chain.stopNode();
    expect((await get(serverUrl, "/api/v2/blocks?limit=5")).text).toBe(expected.text);
    const stopped = await get(serverUrl, "/api/v2/webhooks", { authorization: TOKEN });
    expect([stopped.status, stopped.headers.get("error-code")]).toEqual([503, "NODE_UNREACHABLE"]);
    expect(stopped.text).toContain("no node responds");
    expect(stopped.text).not.toContain(nodeUrl);
    // A result is shared for a second.
    await expect
      .poll(() => readMetrics(serverUrl, TOKEN), SCRAPES)
      .toContain('route="/api/webhooks",status="503"');
    expect((await get(serverUrl, "/api/v2/node/status")).status).toBe(503);
    // A result is shared for a second.
    await expect.poll(async () => (await get(serverUrl, "/health/ready")).text).toContain("does not respond");
    expect((await get(serverUrl, "/health/ready")).text).toContain(
      "an unknown number of blocks behind the node",
    );
  });

  test("An API server has no earlier states, and names the next step.", async () => {
    for (const path of [`/uniks/${"a".repeat(64)}?at=1`, `/wallets/${"D".repeat(34)}/history`]) {
      const { status, text } = await get(serverUrl, `/api/v2${path}`);
      expect(status).toBe(409);
      expect(text).toContain("--history full");
    }
  });

  test("An API server starts from the mirror while every node is down; health and metrics have a separate port.", async () => {
    const paths = [
      "/api/v2/node/configuration/crypto",
      "/api/v2/node/configuration",
      "/api/v2/blocks?limit=5",
    ];
    const read = (url: string) => Promise.all(paths.map(async (path) => (await get(url, path)).text));
    const expected = await read(serverUrl);
    const port = await freePort();
    const second = startServer(chain.databaseUrl, "--operations-port", `${port}`);
    const [, url] = await second.printed(/(http:\S+)\n/);
    assert(url);
    expect(await read(url)).toEqual(expected);
    const operations = `http://127.0.0.1:${port}`;
    expect((await get(url, "/health/live")).status).toBe(404);
    expect((await get(operations, "/health/live")).status).toBe(200);
    expect((await get(operations, "/metrics")).status).toBe(401);
    const metrics = await get(operations, "/metrics", { authorization: TOKEN });
    expect(metrics.text).toMatch(/^uniknode_http_connections\{listener="operations"\} \d/m);
    second.child.kill("SIGTERM");
    expect(await second.ended).toMatchObject({ code: 0 });
  });

  test("An API server starts after its first connection has broken at a statement.", async () => {
    const proxy = await startBreakingProxy(chain.databaseUrl, "node_identity");
    onTestFinished(proxy.close);
    const late = startServer(proxy.url);
    await late.printed(/(http:\S+)\n/);
    expect(proxy.hasBroken()).toBe(true);
    await logged(late, "waiting for the database: check --database-url");
    late.child.kill("SIGTERM");
    expect(await late.ended).toMatchObject({ code: 0 });
  });

  test("An API server waits for a mirror, which waits for its node; both stop without an error.", async () => {
    const empty = await chain.server.createDatabase("waiting");
    const toNode = ["--node", nodeUrl, "--token", TOKEN, "--database-url", empty];
    const waitingMirror = spawnUniknode(["mirror", ...toNode]);
    await logged(waitingMirror, "waiting for the node");
    const waitingServer = startServer(empty);
    await logged(waitingServer, "waiting for the mirror");
    for (const { child, ended } of [waitingServer, waitingMirror]) {
      child.kill("SIGTERM");
      expect(await ended).toMatchObject({ code: 0 });
    }
  });
});

describe.skipIf(!hasPostgres)("an API server that cannot start says what to do", () => {
  test.each<[string, string[], RegExp]>([
    ["without a database", ["--token", TOKEN], /--database-url/],
    ["without the token", ["--database-url", "postgres://127.0.0.1/x"], /--token/],
  ])("%s", async (_, args, message) => {
    const { code, stderr } = await runUniknode(["serve", ...args]);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });

  test("An API server over a database without a mirror, for which it waits, says what to do.", async () => {
    const url = await chain.server.createDatabase("empty");
    const waiting = spawnUniknode(["serve", "--token", TOKEN, "--database-url", url]);
    await logged(waiting, "waiting for the mirror");
    waiting.child.kill("SIGTERM");
    expect(await waiting.ended).toMatchObject({ code: 0 });
  });
});
