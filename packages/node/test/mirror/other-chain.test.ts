/** Another chain of the same network: every dev chain has the same genesis block. */
import assert from "node:assert";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readHead } from "../../src/mirror/head.ts";
import { refuseOtherChain } from "../../src/mirror/mirror.ts";
import { readIdentity } from "../../src/mirror/node-identity.ts";
import {
  type MirroredDevChain,
  runDevCommand,
  startMirroredDevChain,
  TOKEN,
} from "../../test-support/mirror/dev-chain.ts";
import { hasPostgres } from "../../test-support/postgres/server.ts";
import { apiUrlOf, type Running, runUniknode, spawnUniknode } from "../../test-support/process/uniknode.ts";

let folder: string;
let chain: MirroredDevChain;
let other: Running;
let otherUrl: string;
let mirror: Running;

beforeAll(async () => {
  if (!hasPostgres) return;
  folder = mkdtempSync(join(tmpdir(), "uniknode-other-chain-"));
  other = spawnUniknode([
    ...["dev", "--data", folder, "--http-port", "0", "--feed-blocks", "1000", "--webhook-token", TOKEN],
    ...["--webhooks", "off", "--block-time", "1"],
  ]);
  otherUrl = await apiUrlOf(other);
  // Two dev chains that forge in the same slots have the same blocks: this one is ahead from block 2 on.
  await runDevCommand(otherUrl, "mine", { blocks: 50 });
  await runDevCommand(otherUrl, "forge", { enabled: false });
  chain = await startMirroredDevChain();
  mirror = chain.startMirror();
  await chain.command("mine", { blocks: 60 });
  await chain.command("forge", { enabled: false });
  await chain.followed();
});
afterAll(async () => {
  if (!hasPostgres) return;
  await chain?.closeAll();
  other.child.kill("SIGTERM");
  await other.ended;
  rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(!hasPostgres)("a database of one chain, and a node of another one", () => {
  test("A mirror with the database of another chain ends, names the block, and has changed and ended nothing.", async () => {
    const before = await readHead(chain.postgres);
    const { code, stderr } = await chain.startMirror("--node", otherUrl).ended;
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/the node has another chain than the database: block 2 is \w+, and \w+ in the/),
    ]);
    expect(stderr).toContain("empty database");
    expect(await readHead(chain.postgres)).toEqual(before);
    expect(mirror.child.exitCode).toBeNull();
  });

  test("A mirror waits for a node that does not have enough blocks to compare.", async () => {
    const found = await readIdentity(chain.postgres);
    assert(typeof found === "object");
    const feed = { async *blocks() {} };
    const deps = { postgres: chain.postgres, network: found.network, feed };
    await expect(refuseOtherChain(10, deps, new AbortController().signal)).rejects.toMatchObject({
      code: "MIRROR_BEHIND",
      isRetryable: true,
      message: expect.stringMatching(/does not have block \d+ yet/),
    });
  });

  test("The command doctor names the node and the block.", async () => {
    const { code, stdout } = await runUniknode([
      ...["doctor", "--database-url", chain.databaseUrl, "--node", `${chain.url},${otherUrl}`],
    ]);
    expect(stdout).toMatch(
      new RegExp(`^fail {2}lag {11}${otherUrl} has another chain: its block \\d+ is \\w+`, "m"),
    );
    expect(stdout).not.toContain(`${chain.url} has another chain`);
    expect(code).toBe(1);
  });

  test("An API server with the database of another chain is not ready.", async () => {
    const args = ["--token", TOKEN, "--database-url", chain.databaseUrl, "--http-port", "0"];
    const servers = [chain.url, otherUrl].map((node) => spawnUniknode(["serve", "--node", node, ...args]));
    const health = await Promise.all(
      servers.map(async (server) => {
        const [, url] = await server.printed(/(http:\S+)\n/);
        return (await fetch(`${url}/health/ready`)).json();
      }),
    );
    for (const { child, ended } of servers) {
      child.kill("SIGTERM");
      await ended;
    }
    expect(health).toMatchObject([
      { status: "ready", checks: { database: { ok: true } } },
      {
        checks: {
          database: {
            ok: false,
            detail: expect.stringContaining("the node has another chain than the database"),
          },
        },
      },
    ]);
    // The final block is not a member of the public API.
    const { data } = (await (await fetch(`${otherUrl}/api/v2/node/status`)).json()) as { data: object };
    expect(Object.keys(data)).toEqual(["synced", "now", "blocksCount", "timestamp"]);
  });
});
