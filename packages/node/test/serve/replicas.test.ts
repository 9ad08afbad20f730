/**
 * Three API servers behind a load balancer: over a primary and its streaming replica, two of them through pgbouncer in transaction
 * mode. Clients never see the chain go back, whatever fails.
 */
import assert from "node:assert";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { checkDatabase } from "../../src/commands/doctor/database.ts";
import type { Postgres } from "../../src/postgres/connection.ts";
import { freePort } from "../../test-support/peers/world.ts";
import {
  type ClusterServer,
  missingForCluster,
  type Pgbouncer,
  startPgbouncer,
  startPrimary,
  startReplica,
} from "../../test-support/postgres/cluster.ts";
import { connect } from "../../test-support/postgres/server.ts";
import { skips } from "../../test-support/process/available.ts";
import { type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { resourcePaths } from "../../test-support/serve/requests.ts";
import { type RoundRobin, startRoundRobin } from "../../test-support/serve/round-robin.ts";
import { type Watcher, watchHead } from "../../test-support/serve/watcher.ts";

const TOKEN = "replicas";
const MAX_CONNECTIONS = 20;
/** Requests at once: an API server refuses more than it has connections and places to wait for one. */
const CONCURRENT = 20;
const isSkipped = skips(missingForCluster());

describe.skipIf(isSkipped)("API servers over a primary and a replica", () => {
  let folder: string;
  let primary: ClusterServer;
  let replica: ClusterServer;
  let pgbouncer: Pgbouncer;
  let nodePort: number;
  let node: Running;
  let mirror: Running;
  /** Over the primary by pgbouncer, over the replica, over the replica by pgbouncer. */
  let servers: readonly [Running, Running, Running];
  let urls: readonly [string, string, string];
  let balancer: RoundRobin;
  let watcher: Watcher;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "uniknode-replicas-"));
    nodePort = await freePort();
    node = startNode();
    primary = await startPrimary({ max_connections: `${MAX_CONNECTIONS}` });
    const postgres = connect(primary.urlOf("postgres"));
    await postgres.query("CREATE DATABASE chain");
    await postgres.close();
    replica = await startReplica(primary, { max_connections: `${MAX_CONNECTIONS}` });
    pgbouncer = await startPgbouncer("chain", { chain: primary, copy: replica });
    mirror = start("mirror", pgbouncer.urlOf("chain"), "--name", "test");
    servers = [
      startServer(pgbouncer.urlOf("chain")),
      startServer(replica.urlOf("chain")),
      startServer(pgbouncer.urlOf("copy")),
    ];
    urls = [await urlOf(servers[0]), await urlOf(servers[1]), await urlOf(servers[2])];
    balancer = await startRoundRobin(urls);
    watcher = watchHead(balancer.url);
  });
  afterEach(() => {
    const { heights } = watcher;
    expect(heights).toEqual(heights.toSorted((a, b) => a - b));
  });
  afterAll(async () => {
    await watcher?.stop();
    await balancer?.close();
    for (const { child, ended } of [...servers, mirror, node]) {
      child.kill("SIGTERM");
      await ended;
    }
    await pgbouncer.stop();
    for (const server of [replica, primary]) await server.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const nodeUrl = () => `http://127.0.0.1:${nodePort}`;
  const startNode = () =>
    spawnUniknode([
      ...["dev", "--data", join(folder, "data"), "--http-port", `${nodePort}`, "--block-time", "1"],
      ...["--webhook-token", TOKEN, "--feed-blocks", "1000", "--rate-limit", "0"],
    ]);
  const start = (command: string, databaseUrl: string, ...args: string[]) =>
    spawnUniknode([
      ...[command, "--node", nodeUrl(), "--token", TOKEN, "--database-url", databaseUrl],
      ...args,
    ]);
  const startServer = (databaseUrl: string) =>
    start("serve", databaseUrl, "--http-port", "0", "--rate-limit", "0");

  async function urlOf(server: Running): Promise<string> {
    const [, url] = await server.printed(/(http:\S+)\n/);
    assert(url);
    return url;
  }

  const text = async (url: string, path: string) => (await fetch(`${url}/api/v2${path}`)).text();
  const data = async <T>(path: string) =>
    (JSON.parse(await text(nodeUrl(), path.replace("/api/v2", ""))) as { data: T }).data;
  const heightOf = async (url: string): Promise<number> => {
    const response = await fetch(`${url}/api/v2/blockchain`).catch(() => undefined);
    if (!response?.ok) return 0;
    return ((await response.json()) as { data: { block: { height: number } } }).data.block.height;
  };
  /** Waits until a server has a block. */
  const reached = (url: string, height: number) =>
    expect.poll(() => heightOf(url)).toBeGreaterThanOrEqual(height);
  const logged = ({ stdout, stderr }: Running, part: string) =>
    expect.poll(() => stdout() + stderr()).toContain(part);
  /** Waits until the client has received a block, and every server has it. */
  async function received(height: number): Promise<void> {
    for (const url of urls) await reached(url, height);
    await expect.poll(() => watcher.heights.at(-1)).toBeGreaterThanOrEqual(height);
  }

  async function command(name: string, body: object): Promise<void> {
    const response = await fetch(`${nodeUrl()}/api/v2/dev/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: TOKEN },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
  }
  /** Adds blocks, and returns the height of the last one. */
  async function mine(blocks: number): Promise<number> {
    await command("mine", { blocks });
    return heightOf(nodeUrl());
  }

  test("API servers send the responses of the node, concurrently and through pgbouncer in transaction mode.", async () => {
    await command("forge", { enabled: false });
    await received(await mine(20));
    const paths = (await resourcePaths(data)).filter(
      (path) => !/status|syncing|webhooks|options|facts/.test(path),
    );
    for (const url of urls) {
      const left = [...paths, ...paths];
      const compareSome = async () => {
        for (let path = left.pop(); path !== undefined; path = left.pop()) {
          const expected = await text(nodeUrl(), path.replace("/api/v2", ""));
          expect(await text(url, path.replace("/api/v2", "")), path).toBe(expected);
        }
      };
      await Promise.all(Array.from({ length: CONCURRENT }, compareSome));
    }
    await command("forge", { enabled: true });
  });

  test("API servers over a primary and a replica are on the servers that the doctor names.", async () => {
    const states = async (url: string) =>
      Object.fromEntries((await checkDatabase(url, [nodeUrl()])).map(({ name, text }) => [name, text]));
    expect(await states(primary.urlOf("chain"))).toMatchObject({
      role: "primary with 1 replicas",
      pooler: "none: connected to the server itself",
    });
    expect(await states(pgbouncer.urlOf("copy"))).toMatchObject({
      role: expect.stringMatching(/^replica, /),
      pooler: expect.stringContaining("through a pooler"),
      mirror: expect.stringMatching(/^test writes; block/),
    });
  });

  test("API servers wait for a replica that lags, then refuse instead of showing an older block.", async () => {
    const postgres = connect(replica.urlOf("chain"));
    await postgres.query("SELECT pg_wal_replay_pause()");
    const height = await mine(5);
    await reached(urls[0], height);
    await expect.poll(watcher.failures).toContain("REPLICA_BEHIND");
    expect(await heightOf(urls[1])).toBeLessThan(height);
    await postgres.query("SELECT pg_wal_replay_resume()");
    await postgres.close();
    await received(height);
  });

  test("API servers serve reads while the node is stopped, and follow it once it is back.", async () => {
    node.child.kill("SIGTERM");
    await node.ended;
    const height = await heightOf(urls[0]);
    await received(height);
    const refused = await fetch(`${urls[1]}/api/v2/webhooks`, { headers: { authorization: TOKEN } });
    expect([refused.status, refused.headers.get("error-code")]).toEqual([503, "NODE_UNREACHABLE"]);
    node = startNode();
    await expect.poll(() => heightOf(nodeUrl())).toBeGreaterThan(0);
    await received(await mine(3));
  });

  /** Starts a server that finds no free connection. The other servers close idle connections at any time. */
  async function startLate(others: Postgres[]): Promise<Running> {
    for (;;) {
      const more = Array.from({ length: MAX_CONNECTIONS }, () => connect(replica.urlOf("chain")));
      others.push(...more);
      await Promise.allSettled(more.map((other) => other.query("SELECT 1")));
      const late = startServer(replica.urlOf("chain"));
      const waits = () => late.stderr().includes("waiting for the database");
      await expect.poll(() => waits() || late.stdout().includes("http:")).toBe(true);
      if (waits()) return late;
      late.child.kill("SIGTERM");
      await late.ended;
    }
  }

  test("API servers go on with their connections at the limit of the server; another one waits, and says why.", async () => {
    await reached(urls[1], 1);
    const others: Postgres[] = [];
    const late = await startLate(others);
    expect(late.stdout() + late.stderr()).toMatch(/connection slots|too many clients/);
    for (const other of others) await other.close();
    await reached(await urlOf(late), 1);
    late.child.kill("SIGTERM");
    expect(await late.ended).toMatchObject({ code: 0 });
  });

  test("API servers read from the replica while the primary is down, and follow it once it is back.", async () => {
    watcher.failures();
    await primary.end("SIGKILL");
    expect(await heightOf(urls[1])).toBeGreaterThan(0);
    await logged(servers[0], "reads failed: the database cannot be reached");
    await expect.poll(watcher.failures).toContain("DATABASE_UNREACHABLE");
    const ready = await fetch(`${urls[0]}/health/ready`);
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining("cannot be reached")]);
    await primary.start();
    await received(await mine(3));
    await logged(servers[0], "reads from the database succeed again");
  });

  test("API servers continue after the promotion of a replica that lost a tail, which the mirror copies again.", async () => {
    await replica.end("SIGINT");
    const height = await mine(5);
    await reached(urls[0], height);
    await expect.poll(() => watcher.heights.at(-1)).toBeGreaterThanOrEqual(height);
    await primary.end("SIGKILL");
    await replica.start();
    const postgres = connect(replica.urlOf("chain"));
    const [head] = await postgres.query<{ height: string }>("SELECT height FROM head");
    expect(Number(head?.height)).toBeLessThan(height);
    await postgres.query("SELECT pg_promote()");
    await postgres.close();
    pgbouncer.route({ chain: replica, copy: replica });
    await received(await mine(3));
  });
});
