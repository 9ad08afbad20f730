/** Every screen in the browser: both themes, narrow and wide, accessible, and without a word in the browser's log. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findBrowser, openPage } from "../../test-support/browser.ts";
import { type RunningConsole, startConsole } from "../../test-support/console.ts";
import type { DevNode } from "../../test-support/dev-node.ts";
import { faultsInEveryView } from "../../test-support/views.ts";

const executable = findBrowser();

describe.skipIf(!executable)("In a browser (skipped without Chromium)", { timeout: 120_000 }, () => {
  let started: RunningConsole | undefined;
  let node: DevNode;
  let browser: Browser;

  beforeAll(async () => {
    started = await startConsole(executable!);
    ({ node, browser } = started);
    await node.command(["trigger", "transaction.applied"]);
  }, 120_000);
  afterAll(async () => {
    await started?.stop();
  });

  const paths: Readonly<Record<string, () => string | Promise<string>>> = {
    overview: () => "/console/",
    blocks: () => "/console/blocks",
    block: async () => `/console/blocks/${(await node.client.transactions.list().page()).data[0]!.blockId}`,
    transactions: () => "/console/transactions",
    pool: () => "/console/transactions?state=pending",
    transaction: async () =>
      `/console/transactions/${(await node.client.transactions.list().page()).data[0]!.id}`,
    bytes: async () =>
      `/console/transactions/${(await node.client.transactions.list().page()).data[0]!.id}?view=bytes`,
    wallets: () => "/console/wallets",
    wallet: async () => `/console/wallets/${(await node.client.wallets.list().page()).data[0]!.address}`,
    uniks: () => "/console/uniks",
    unik: async () => `/console/uniks/${(await node.client.uniks.list().page()).data[0]!.id}`,
    delegates: () => "/console/delegates",
    delegate: async () =>
      `/console/delegates/${(await node.client.delegates.list().page()).data[0]!.username}`,
    send: async () =>
      `/console/send?from=${(await node.client.wallets.list().page()).data[0]!.address}&amount=1`,
    "send-signed": () => "/console/send?kind=signed",
    "sign-in": () => "/console/sign-in",
    "not-found": () => "/console/nowhere",
  };

  test.each(Object.keys(paths))("The screen %s has no fault.", async (name) => {
    const { page, faults } = await openPage(browser, node.url);
    await page.goto(await paths[name]!());
    await page.locator("h1").waitFor();
    await page.locator(".loading").first().waitFor({ state: "detached" });
    expect(await faultsInEveryView(page, name)).toEqual([]);
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test("The slots of a round have their delegates, in the first round and in those that follow.", async () => {
    const { page } = await openPage(browser, node.url);
    await page.goto("/console/delegates");
    const monitor = page.locator("section").filter({ has: page.locator("ol.round") });
    await monitor.locator(".slot").first().waitFor();
    expect(await monitor.innerText()).not.toMatch(/not known|unknown/);
    const { head } = (await node.client.dev.mine({ blocks: 20 })).data;
    const height = head.height.toLocaleString("en-US");
    await page.locator(".pulse b").getByText(height, { exact: true }).waitFor();
    await expect.poll(() => monitor.innerText()).not.toMatch(/not known|unknown/);
    await page.context().close();
  });
});
