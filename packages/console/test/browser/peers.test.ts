/** The screen of a node with real peers: three nodes of a network of their own. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { present } from "@uniknode/protocol";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../../node/test-support/peers/world.ts";
import { type Running, runUniknode, spawnUniknode } from "../../../node/test-support/process/uniknode.ts";
import { until } from "../../../node/test-support/process/until.ts";
import { closePages, findBrowser, openPage, shareBrowser } from "../../test-support/browser.ts";
import { faultsInEveryView } from "../../test-support/views.ts";

const HOSTS = ["127.0.0.1", "127.0.0.2", "127.0.0.3"];
const executable = findBrowser();

describe.skipIf(!executable)("In a browser", () => {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-console-peers-"));
  const network = join(folder, "network");
  const nodes: Running[] = [];
  let browser: Browser;
  let url: string;

  beforeAll(async () => {
    await runUniknode(["network", "init", network, "--name", "peers", "--nodes", `${HOSTS.length}`]);
    const port = await freePort();
    for (const [index, host] of HOSTS.entries())
      nodes.push(
        spawnUniknode([
          ...["run", "--network-dir", network, "--delegates", join(network, `delegates-${index + 1}.json`)],
          ...["--data", join(folder, `data-${index}`), "--http-port", "0", "--watch-rounds", "0"],
          ...["--rate-limit", "0", "--p2p-host", host, "--p2p-port", `${port}`, "--p2p-loopback"],
          ...HOSTS.filter((other) => other !== host).flatMap((other) => ["--peers", other]),
        ]),
      );
    [url] = await present(nodes[0]).printed(/http:[^\s/]*\/\/[^\s/]+/);
    browser = await shareBrowser(present(executable));
    const read = async (path: string) => (await fetch(`${url}/api/v2${path}`)).json();
    await until("the node has two peers at its head", async () => {
      const { data: peers } = (await read("/peers")) as { data: { height: number }[] };
      return peers.length === 2 && peers.every(({ height }) => height > 1);
    });
  });
  afterAll(async () => {
    await closePages(browser);
    for (const { child, ended } of nodes) {
      child.kill("SIGTERM");
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  });

  test("The peers are listed, and counted by version and height.", async () => {
    const { page, faults } = await openPage(browser, url);
    await page.goto("/console/node");
    const peers = page.getByRole("table", { name: "Peers", exact: true });
    for (const host of HOSTS.slice(1)) await peers.getByText(`${host}:`).waitFor();
    const map = page.getByRole("table", { name: "Number of peers by version and height" });
    const cells = map.getByRole("row").nth(1).getByRole("cell");
    await expect
      .poll(() => cells.allInnerTexts())
      .toEqual([expect.stringMatching(/^\d+\.\d+/), "at the head", "2"]);
    expect(await faultsInEveryView(page, "node-peers")).toEqual([]);
    expect(faults).toEqual([]);
  });
});
