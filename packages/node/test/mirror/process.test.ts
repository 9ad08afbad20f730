/** `uniknode mirror` with a dev chain: it has every row of the node, whatever happens to either of them. */
import assert from "node:assert";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readHead } from "../../src/mirror/head.ts";
import type { Postgres } from "../../src/postgres/connection.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { startLyingFeed } from "../../test-support/mirror/lying-feed.ts";
import { mirrorTables, nodeTables } from "../../test-support/mirror/tables.ts";
import {
  connect,
  hasPostgres,
  type PostgresServer,
  startPostgres,
} from "../../test-support/postgres/server.ts";
import { type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";

const TOKEN = "mirror";
const WAIT = { timeout: 60_000, interval: 100 };

let folder: string;
let server: PostgresServer;
let databaseUrl: string;
let postgres: Postgres;
let node: Running;
let url: string;
let mirror: Running;

beforeAll(async () => {
  if (!hasPostgres) return;
  folder = mkdtempSync(join(tmpdir(), "uniknode-mirror-"));
  server = await startPostgres();
  databaseUrl = await server.createDatabase("chain");
  postgres = connect(databaseUrl);
  node = spawnUniknode([
    "dev",
    ...["--data", join(folder, "data"), "--http-port", "0", "--block-time", "1", "--webhook-token", TOKEN],
    ...["--feed-blocks", "1000", "--webhooks", "off"],
  ]);
  const [, found] = await node.printed(/API\s+(http:\S+?)\/api/);
  assert(found);
  url = found;
  mirror = startMirror();
}, 120_000);
afterAll(async () => {
  if (!hasPostgres) return;
  for (const { child, ended } of [mirror, node]) {
    child.kill("SIGTERM");
    await ended;
  }
  await postgres.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const startMirror = (...args: string[]) =>
  spawnUniknode([
    "mirror",
    "--node",
    url,
    "--token",
    TOKEN,
    "--database-url",
    databaseUrl,
    ...args,
    "--name",
    "test",
  ]);

const command = async (name: string, body: object) => {
  const response = await fetch(`${url}/api/v2/dev/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: TOKEN },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
};

const headOfNode = async () => {
  const { data } = (await (await fetch(`${url}/api/v2/blockchain`)).json()) as {
    data: { block: { height: number; id: string } };
  };
  return data.block;
};

/** Waits until the mirror has a block that the node has now, or a later one. */
async function followed(): Promise<void> {
  const { height } = await headOfNode();
  await expect
    .poll(async () => {
      const head = await readHead(postgres);
      return head?.phase === "ready" ? head.height : 0;
    }, WAIT)
    .toBeGreaterThanOrEqual(height);
}

/** Stops forging, and compares all rows. */
async function expectEqualTables(): Promise<void> {
  await command("forge", { enabled: false });
  const { height, id } = await headOfNode();
  await expect.poll(() => readHead(postgres), WAIT).toMatchObject({ height, id });
  const database = openDatabase(join(folder, "data", "node.sqlite"), { readonly: true });
  const mirrored = await mirrorTables(postgres);
  for (const [table, rows] of Object.entries(nodeTables(database)))
    expect(mirrored[table], table).toEqual(rows);
  database.close();
  await command("forge", { enabled: true });
}

describe.skipIf(!hasPostgres)("a mirror of a dev chain", () => {
  test("is built, and follows every block.", async () => {
    await followed();
    await command("mine", { blocks: 30 });
    await followed();
    await expectEqualTables();
  }, 120_000);

  test("follows reorganisations of any depth that the node can do.", async () => {
    for (const depth of [1, 7, 25]) {
      await command("reorg", { depth });
      await followed();
    }
    await expectEqualTables();
  }, 120_000);

  test("continues after a kill during a reorganisation.", async () => {
    mirror.child.kill("SIGKILL");
    await mirror.ended;
    await command("reorg", { depth: 5 });
    await command("mine", { blocks: 10 });
    mirror = startMirror();
    await followed();
    await expectEqualTables();
  }, 120_000);

  test("continues after the database was killed.", async () => {
    await server.crash();
    await command("mine", { blocks: 5 });
    await followed();
    await expectEqualTables();
  }, 120_000);

  test("is compared with the node by --check, which names a row that differs.", async () => {
    const check = () => startMirror("--check").ended;
    const equal = await check();
    expect([equal.code, equal.stderr]).toEqual([0, ""]);
    expect(equal.stdout).toMatch(/wallets +\d+ +[0-9a-f]{16} +equal/);
    await postgres.query("UPDATE blocks SET signature = 'f' || substr(signature, 2) WHERE height = 3");
    await postgres.query("UPDATE blocks SET signature = '0' || substr(signature, 2) WHERE height = 4");
    const different = await check();
    expect([different.code, different.stderr]).toEqual([
      1,
      expect.stringContaining("blocks (2 rows, from 3 to 4)"),
    ]);
    // Signatures begin with 30.
    await postgres.query("UPDATE blocks SET signature = '3' || substr(signature, 2) WHERE height IN (3, 4)");
  }, 120_000);

  test("is built again when the node no longer has the changes that it needs.", async () => {
    mirror.child.kill("SIGTERM");
    expect(await mirror.ended).toMatchObject({ code: 0 });
    await command("mine", { blocks: 900 });
    await command("mine", { blocks: 200 });
    mirror = startMirror();
    await followed();
    expect(mirror.stdout() + mirror.stderr()).toContain("rebuilding the mirror");
    await expectEqualTables();
  }, 180_000);

  test("ends when its facts differ from those of the node, because the feed changed one digit of a vote.", async () => {
    let isLying = false;
    let lies = 0;
    const feed = await startLyingFeed(url, (json) => {
      if (!isLying) return json;
      return json.replace(
        /("rounds","\d+",\{.*?"voteBalance":"\d*)(\d)"/,
        (_, start: string, digit: string) => {
          lies++;
          return `${start}${(Number(digit) + 1) % 10}"`;
        },
      );
    });
    const lied = await server.createDatabase("lied");
    const args = ["--node", feed.url, "--token", TOKEN, "--database-url", lied, "--name", "lied"];
    const { ended, stderr } = spawnUniknode(["mirror", ...args]);
    await expect.poll(stderr, WAIT).toContain("the facts agree with those of the node");
    isLying = true;
    // The votes of a round are final two rounds later.
    await command("mine", { blocks: 80 });
    const { code } = await ended;
    expect(lies).toBeGreaterThan(0);
    expect(code).toBe(1);
    expect(stderr()).toMatch(/the facts of the blocks up to \d+ differ/);
    expect(stderr()).toContain("uniknode mirror --check");
    await feed.close();
    // It does not continue, even with a feed that is right.
    const again = await spawnUniknode(["mirror", ...args, "--node", url]).ended;
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("with an empty database")]);
  }, 120_000);

  test("waits for a database that is down, until it is stopped.", async () => {
    const waiting = startMirror("--database-url", "postgres://127.0.0.1:1/chain");
    await expect.poll(waiting.stderr, WAIT).toContain("waiting for the database: check --database-url");
    waiting.child.kill("SIGTERM");
    expect(await waiting.ended).toMatchObject({ code: 0 });
  }, 60_000);

  test("names errors of token, node, options and database.", async () => {
    const run = async (...args: string[]) => {
      const { code, stderr } = await spawnUniknode(["mirror", ...args]).ended;
      return [code, stderr] as const;
    };
    const database = ["--database-url", await server.createDatabase("other")];
    expect(await run("--node", url, "--token", TOKEN)).toEqual([
      2,
      expect.stringContaining("--database-url"),
    ]);
    expect(await run("--node", url, ...database)).toEqual([2, expect.stringContaining("--token")]);
    expect(await run("--node", url, "--token", "wrong", ...database)).toEqual([
      1,
      expect.stringContaining("uniknode token"),
    ]);
    expect(await run("--token", TOKEN, "--database-url", databaseUrl.replace(/chain$/, "absent"))).toEqual([
      1,
      expect.stringContaining("check --database-url"),
    ]);
    expect(await run("--token", TOKEN, "--database-url", "mysql://x")).toEqual([
      2,
      expect.stringContaining("postgres://"),
    ]);
  }, 120_000);
});
