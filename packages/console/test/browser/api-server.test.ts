/** The console of an API server over PostgreSQL: every screen works as on the node, and the node lists the server. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { present } from "@uniknode/protocol";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  hasPostgres,
  type PostgresServer,
  startPostgres,
} from "../../../node/test-support/postgres/server.ts";
import { type Running, spawnUniknode } from "../../../node/test-support/process/uniknode.ts";
import { until } from "../../../node/test-support/process/until.ts";
import { closePages, findBrowser, openPage, shareBrowser, signIn } from "../../test-support/browser.ts";

const TOKEN = "console";
const SCREENS = [
  ...["", "blocks", "transactions", "wallets", "uniks", "delegates", "live", "webhooks", "send", "docs"],
  "dev",
];
const executable = hasPostgres ? findBrowser() : undefined;

describe.skipIf(!executable)("In a browser", () => {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-console-server-"));
  const processes: Running[] = [];
  let database: PostgresServer;
  let browser: Browser;
  let page: Page;
  let faults: string[];

  const start = (...args: string[]): Running => {
    const program = spawnUniknode(args);
    processes.push(program);
    return program;
  };

  beforeAll(async () => {
    const node = start(
      ...["dev", "--data", join(folder, "data"), "--http-port", "0", "--block-time", "1"],
      ...["--webhook-token", TOKEN, "--feed-blocks", "1000", "--rate-limit", "0"],
    );
    database = await startPostgres();
    const [, nodeUrl] = await node.printed(/API\s+(http:\S+?)\/api/);
    const databaseUrl = await database.createDatabase("console");
    const toNode = ["--node", present(nodeUrl), "--token", TOKEN, "--database-url", databaseUrl];
    start("mirror", ...toNode);
    const server = start("serve", ...toNode, "--http-port", "0", "--rate-limit", "0");
    const [, url] = await server.printed(/(http:\S+)\n/);
    await until("the API server is ready", async () => (await fetch(`${url}/api/v2/blockchain`)).ok);
    browser = await shareBrowser(present(executable));
    ({ page, faults } = await openPage(browser, present(url)));
    await signIn(page, TOKEN);
  });
  afterAll(async () => {
    await closePages(browser);
    for (const { child, ended } of processes.toReversed()) {
      child.kill("SIGTERM");
      await ended;
    }
    await database?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("Every screen opens without an error.", async () => {
    for (const path of SCREENS) {
      await page.goto(`/console/${path}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.waitForLoadState("load");
      expect([path, await page.getByRole("alert").count(), faults]).toEqual([path, 0, []]);
    }
  });

  test("The screen of the node has the state of the server, and lists mirror and server.", async () => {
    await page.goto("/console/node");
    await page.getByText("ready", { exact: true }).waitFor();
    await page.getByRole("heading", { name: "Database of this API server" }).waitFor();
    const rows = page.getByRole("table", { name: "Mirrors, API servers and workers" }).getByRole("row");
    await rows.filter({ hasText: "Mirror" }).getByText("connected").waitFor();
    await rows.filter({ hasText: "API server" }).getByText("connected").waitFor();
    await page.getByRole("table", { name: "Options" }).getByText("--feed-blocks").waitFor();
    expect(faults).toEqual([]);
  });
});
