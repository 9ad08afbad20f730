/** Pages that look at a chain while it changes. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findBrowser, keepPicture, openPage } from "../../test-support/browser.ts";
import { type RunningConsole, startConsole } from "../../test-support/console.ts";
import type { DevNode } from "../../test-support/dev-node.ts";

const executable = findBrowser();

describe.skipIf(!executable)("In a browser (skipped without Chromium)", { timeout: 120_000 }, () => {
  let started: RunningConsole | undefined;
  let node: DevNode;
  let browser: Browser;

  beforeAll(async () => {
    started = await startConsole(executable!);
    ({ node, browser } = started);
    await node.client.dev.forge({ enabled: false });
  }, 120_000);
  afterAll(async () => {
    await started?.stop();
  });

  test("Confirmations grow live; when its block is reverted, the page of a transaction says so and finds it again.", async () => {
    await node.command(["trigger", "transaction.pool.added"]);
    const [transaction] = (await node.client.transactions.unconfirmed().page()).data;
    const { page, faults } = await openPage(browser, node.url);
    await page.goto(`/console/transactions/${transaction!.id}`);
    await page.getByText("waits in the pool").waitFor();
    await node.client.dev.mine();
    await page.getByText("1 confirmation", { exact: true }).waitFor();
    await node.client.dev.mine({ blocks: 2 });
    await page.getByText("3 confirmations").waitFor();
    await node.client.dev.reorg({ depth: 3 });
    await page.getByText("its block was reverted; pending again").waitFor();
    await page.getByText(/reverted, from height/).waitFor();
    await keepPicture(page, "reorganization-light-1400");
    await node.client.dev.mine();
    await page.getByText("1 confirmation", { exact: true }).waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test("The page of a block that is reverted says so, and leads to the one in its place.", async () => {
    const { data: block } = await node.client.blocks.last();
    const { page, faults } = await openPage(browser, node.url);
    await page.goto(`/console/blocks/${block.id}`);
    await page.getByText(block.id).first().waitFor();
    await node.client.dev.reorg({ depth: 1 });
    await page.getByText("This block was reverted").waitFor();
    await page.getByRole("link", { name: "The current block of height" }).click();
    await page.getByRole("heading", { level: 1, name: `Block ${block.height}`, exact: true }).waitFor();
    await page.getByText("Reverted at its height").waitFor();
    // The browser's log has a line for each response with 404.
    expect(faults.filter((fault) => !fault.includes("404"))).toEqual([]);
    await page.context().close();
  });

  test("A page of a block that is not there yet shows it once it is forged.", async () => {
    const { data: head } = await node.client.blocks.last();
    const { page } = await openPage(browser, node.url);
    await page.goto(`/console/blocks/${head.height + 1}`);
    await page.getByText("This block is not forged yet").waitFor();
    await node.client.dev.mine();
    await page.getByText("the newest block", { exact: true }).waitFor();
    await page.context().close();
  });

  test("The events that a block caused are on its page, in their order.", async () => {
    const { page, faults } = await openPage(browser, node.url);
    await page.goto(node.consoleUrl);
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    const { data: block } = await node.client.blocks.last();
    await page.goto(`/console/blocks/${block.id}?view=events`);
    await page.getByText("events, in order").waitFor();
    await page.getByText("block.applied").click();
    await page.getByText(`"id": "${block.id}"`).waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test("Markup in a vendor field is text.", async () => {
    const accounts = await node.command(["accounts"]);
    const [, address, passphrase] = /(D\w{33}).*\n\s+passphrase\s+(.+)/.exec(accounts)!;
    const text = `<img src=x onerror="document.title='taken'"><script>1</script>`;
    const environment = { UNIKNODE_PASSPHRASE: passphrase };
    await node.command(["tx", "transfer", address!, "1", "--vendor-field", text], environment);
    await node.client.dev.mine();
    const [found] = (await node.client.transactions.list().page({ limit: 1 })).data;
    const { page, faults } = await openPage(browser, node.url);
    await page.goto(`/console/transactions/${found!.id}`);
    await page.getByText(text).waitFor();
    expect(await page.locator("main img, main script").count()).toBe(0);
    expect(await page.title()).not.toBe("taken");
    expect(faults).toEqual([]);
    await page.context().close();
  });
});
