/** `--mirror`: a node starts and supervises its mirror, which does not affect the node. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readHead } from "../../src/mirror/head.ts";
import { createLogger } from "../../src/platform/logging/logger.ts";
import type { Postgres } from "../../src/postgres/connection.ts";
import { MIRROR_TIMES, Mirror } from "../../src/processes/node/mirror.ts";
import {
  connect,
  hasPostgres,
  type PostgresServer,
  startPostgres,
} from "../../test-support/postgres/server.ts";
import { readMetric, SCRAPES } from "../../test-support/process/metrics.ts";
import { apiUrlOf, type Running, spawnUniknode } from "../../test-support/process/uniknode.ts";

const TOKEN = "mirror";

let folder: string;
let server: PostgresServer;
let databaseUrl: string;
let postgres: Postgres;

beforeAll(async () => {
  if (!hasPostgres) return;
  folder = mkdtempSync(join(tmpdir(), "uniknode-of-node-"));
  server = await startPostgres();
  databaseUrl = await server.createDatabase("chain");
  postgres = connect(databaseUrl);
});
afterAll(async () => {
  if (!hasPostgres) return;
  await postgres.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const startNode = (): Running =>
  spawnUniknode([
    "dev",
    ...["--data", join(folder, "data"), "--http-port", "0", "--block-time", "1", "--webhook-token", TOKEN],
    ...["--webhooks", "off", "--log-level", "info", "--mirror", databaseUrl],
  ]);

async function heightOf(url: string): Promise<number> {
  const { data } = (await (await fetch(`${url}/api/v2/blockchain`)).json()) as {
    data: { block: { height: number } };
  };
  return data.block.height;
}

const figure = (url: string, name: string) => readMetric(url, name, TOKEN);

/** Waits until the database has a block that the node has now. */
async function followed(url: string): Promise<void> {
  const height = await heightOf(url);
  await expect
    .poll(async () => (await readHead(postgres).catch(() => undefined))?.height ?? 0)
    .toBeGreaterThanOrEqual(height);
}

/** Process ids of the mirrors that the log names, in order. */
const mirrorsOf = ({ stderr }: Running): number[] =>
  [...stderr().matchAll(/"pid":(\d+),"msg":"started the mirror process"/g)].map(([, pid]) => Number(pid));

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe.skipIf(!hasPostgres)("a node with --mirror", () => {
  let node: Running;
  let url: string;

  test("A node with --mirror starts while PostgreSQL is down, and copies its chain later.", async () => {
    await server.halt();
    node = startNode();
    url = await apiUrlOf(node);
    await expect.poll(node.stderr).toContain("waiting for the database");
    expect(await heightOf(url)).toBeGreaterThan(0);
    await server.resume();
    await followed(url);
    await expect.poll(() => figure(url, "uniknode_mirror_height"), SCRAPES).toBeGreaterThan(0);
    expect(await figure(url, "uniknode_mirror_up")).toBe(1);
  });

  test("A node with --mirror starts a killed mirror again, which follows.", async () => {
    const before = mirrorsOf(node).length;
    process.kill(Number(mirrorsOf(node).at(-1)), "SIGKILL");
    await expect.poll(() => mirrorsOf(node).length).toBe(before + 1);
    await followed(url);
    expect(await figure(url, "uniknode_mirror_starts_total")).toBe(before + 1);
  });

  test("A node with --mirror that is killed leaves no mirror behind.", async () => {
    const mirror = Number(mirrorsOf(node).at(-1));
    expect(isRunning(mirror)).toBe(true);
    node.child.kill("SIGKILL");
    await node.ended;
    await expect.poll(() => isRunning(mirror)).toBe(false);
  });

  test("A node with --mirror whose service is stopped lets its mirror finish.", async () => {
    node = startNode();
    await expect.poll(node.stderr).toContain('"msg":"mirror started"');
    const mirror = Number(mirrorsOf(node).at(-1));
    // systemd signals all processes of the service.
    process.kill(mirror, "SIGTERM");
    node.child.kill("SIGTERM");
    await node.ended;
    expect(isRunning(mirror)).toBe(false);
    expect(node.stderr()).toMatch(/"process":"mirror","msg":"stopped"/);
    expect(node.stderr()).not.toContain("restarting it");
  });
});

test.skipIf(!hasPostgres)(
  "A mirror process that hangs is killed and replaced; one that does not end when it should is killed.",
  async () => {
    const lines: string[] = [];
    const logger = createLogger("info", { write: (line) => lines.push(line) });
    const times = { ...MIRROR_TIMES, firstPauseMs: 10, maxSilenceMs: 2_000, maxStopMs: 100 };
    const config = {
      token: TOKEN,
      databaseUrl,
      name: "test",
      logLevel: "silent",
      logFormat: "json",
    } as const;
    const mirror = new Mirror(config, logger, times);
    // It waits for a node, which does not exist.
    mirror.start("http://127.0.0.1:1");
    const { pid } = JSON.parse(`${lines[0]}`) as { pid: number };
    process.kill(pid, "SIGSTOP");
    await expect.poll(() => lines.join("")).toContain("hangs; killing it");
    await expect.poll(() => mirror.figures().starts).toBeGreaterThan(1);
    expect(isRunning(pid)).toBe(false);
    const last = JSON.parse(`${lines.at(-1)}`) as { pid: number };
    process.kill(last.pid, "SIGSTOP");
    await mirror.close();
    expect(isRunning(last.pid)).toBe(false);
    expect(mirror.figures().isRunning).toBe(false);
  },
  120_000,
);
