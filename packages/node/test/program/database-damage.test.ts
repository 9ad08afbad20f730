/** A node whose database was partly overwritten: it starts, finds the damage, and names the next step. */
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { present } from "../../src/platform/present.ts";
import { openDatabase } from "../../src/store/engine/database.ts";
import { apiUrlOf, type Running, runUniknode, spawnUniknode } from "../../test-support/process/uniknode.ts";

const folder = mkdtempSync(join(tmpdir(), "uniknode-damage-"));
const data = join(folder, "dev");
const path = join(data, "node.sqlite");
const TOKEN = "a-token-of-the-test";
const OPTIONS = ["--accounts", "1", "--block-time", "1", "--http-port", "0", "--webhook-token", TOKEN];
let node: Running | undefined;

const start = async (): Promise<string> => {
  node = spawnUniknode(["dev", "--data", data, ...OPTIONS, "--log-format", "json", "--log-level", "info"]);
  return apiUrlOf(node);
};
const stop = async () => {
  node?.child.kill("SIGTERM");
  return node?.ended;
};
const logged = (message: string) =>
  present(node)
    .stderr()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .find(({ msg }) => msg === message);

beforeAll(async () => {
  await start();
  await present(node).printed(/^block 6 /m);
});
afterAll(async () => {
  await stop();
  rmSync(folder, { recursive: true, force: true });
});

test("An intact database is inspected after the start, without a log line about damage.", async () => {
  await expect.poll(() => logged("database inspection: no damage found")).toMatchObject({ level: "info" });
  // Ended at once, while no inspection runs.
  expect(await stop()).toMatchObject({ code: 0 });
  expect(present(node).stderr()).not.toContain("damaged");
});

/** Overwrites a page that a start does not read. */
function damage(): void {
  const database = openDatabase(path);
  database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  const { page } = present(
    database
      .prepare<{ page: number }>(
        "SELECT rootpage AS page FROM sqlite_schema WHERE name = 'transactions_type'",
      )
      .get(),
  );
  database.close();
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(4_096, "noise "), 0, 4_096, (page - 1) * 4_096);
  closeSync(file);
}

test("Damage is in the log with a remedy, in the health, in a metric, and found by doctor.", async () => {
  damage();
  const url = await start();
  await expect
    .poll(() => logged("database inspection: damage found"))
    .toMatchObject({
      level: "error",
      path,
      damage: expect.stringMatching(/^table transactions: /),
      remedy: expect.stringContaining("--reset"),
    });
  const ready = await fetch(`${url}/health/ready`);
  expect(ready.status).toBe(503);
  const { database } = ((await ready.json()) as { checks: Record<string, unknown> }).checks;
  expect(database).toEqual({ ok: false, detail: expect.stringMatching(/^damaged: table transactions: /) });
  const metrics = await fetch(`${url}/metrics`, { headers: { authorization: TOKEN } });
  const text = await metrics.text();
  expect(text).toMatch(/^uniknode_database_damaged 1$/m);
  expect(text).toMatch(/^uniknode_database_inspections_total\{outcome="damaged"\} 1$/m);
  await stop();
  const { code, stdout } = await runUniknode(["doctor", "--data", data, "--http-port", "0"]);
  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(/fail +data folder .*is damaged: table transactions/),
  ]);
});
