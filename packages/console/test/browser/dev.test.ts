/** The dev desk: every command, from its form, on a real chain. */
import { present } from "@uniknode/protocol";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { keepPicture } from "../../test-support/browser.ts";
import { describeConsole } from "../../test-support/console-tests.ts";
import { createPayer } from "../../test-support/payments.ts";
import { faultsInEveryView } from "../../test-support/views.ts";

describeConsole({}, ({ node, openForAll }) => {
  let page: Page;
  let faults: string[];

  beforeAll(async () => {
    await node.client.dev.forge({ enabled: false });
    ({ page, faults } = await openForAll());
  });

  const press = (name: string | RegExp) => page.getByRole("button", { name, exact: true }).click();
  const shows = (text: string | RegExp) => page.locator(".desk-state").getByText(text).waitFor();
  const unfold = (title: string) => page.getByRole("heading", { level: 3, name: title }).click();
  const head = async () => (await node.client.dev.snapshot()).data.head;

  test("Without a sign-in the page has no commands, and names the reason.", async () => {
    await page.goto("/console/dev");
    await page.getByText("Sign in to use the dev chain").waitFor();
    await page.getByRole("main").getByRole("link", { name: "Sign in" }).click();
    await page.getByLabel("Webhook token").fill(node.token);
    await page.getByRole("main").getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("The desk shows that forging is paused, forges, and moves the clock.", async () => {
    await page.goto("/console/dev");
    await shows("forging is paused");
    const { height } = await head();
    await page.getByLabel("Blocks", { exact: true }).fill("3");
    await press("Mine");
    await shows(`3 blocks applied. The head is at height ${height + 3}.`);
    const { now } = (await node.client.dev.snapshot()).data;
    await unfold("Travel");
    await press("1 d");
    await press("Travel 1 d");
    await shows("Moved the clock of the chain.");
    expect((await node.client.dev.snapshot()).data.now.unix).toBeGreaterThanOrEqual(now.unix + 86_400);
    expect(faults).toEqual([]);
  });

  test("A reorganisation omits the chosen transaction.", async () => {
    const pay = await createPayer(node);
    const id = await pay();
    await node.client.dev.mine({ blocks: 2 });
    const { confirmations = 0 } = (await node.client.transactions.get(id)).data;
    expect(confirmations).toBe(2);
    await page.goto("/console/dev");
    await shows("forging is paused");
    await unfold("Reorganize");
    await page.getByLabel("Blocks to revert").fill(`${confirmations}`);
    await page.getByLabel("The branch includes their transactions and the pending ones").check();
    await page.getByLabel(id.slice(0, 8)).check();
    expect(await faultsInEveryView(page, "dev-reorganize")).toEqual([]);
    await press(/^Replace/);
    await shows(new RegExp(`${confirmations} blocks? reverted, ${confirmations + 1} blocks applied`));
    await page.getByText(/were reverted|was reverted/).waitFor();
    expect((await node.client.transactions.getUnconfirmed(id)).data.id).toBe(id);
    expect(faults).toEqual([]);
  });

  test("The chain is restored to a stored block; refusals of the chain are shown.", async () => {
    const before = await head();
    await unfold("Snapshot and return");
    await press("Remember the head");
    await shows(`Remembered height ${before.height}.`);
    await press("Mine");
    await shows(/block.* applied/);
    await press("Return");
    await shows(/reverted\. The head is at height/);
    expect((await head()).id).toBe(before.id);
    await page.getByLabel("Block id").fill("0".repeat(64));
    await press("Return");
    await page.getByRole("alert").getByText("is not on the chain").waitFor();
    // The browser logs every response that is not a success.
    expect(faults.splice(0)).toEqual([expect.stringContaining("409")]);
  });

  test("A payment waits until the page knows the height of the chain, which decides about the bytes.", async () => {
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    await page.route("**/api/node/syncing", async (route) => {
      await isReleased;
      await route.continue();
    });
    const worker = page.waitForEvent("worker");
    await page.goto("/console/dev");
    await page.getByLabel("To", { exact: true }).fill("DMS2cbXvEkL6dpPhpi3iLCvtu8bNXZkbJp");
    // The signing code is ready, and the page has shown it.
    await worker;
    await page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    );
    expect(await page.getByRole("button", { name: "Pay" }).isDisabled()).toBe(true);
    release();
    await press("Pay");
    await page.getByRole("main").locator("a[href^='/console/transactions/']").waitFor();
    await page.unroute("**/api/node/syncing");
    // Later tests compare balances.
    await node.client.dev.mine({ blocks: 1 });
    expect(faults).toEqual([]);
  });

  test("The receiver of a webhook fails on request, and receives deliveries again.", async () => {
    const conditions = [{ key: "id", condition: "ne", value: "" }] as const;
    const target = "http://127.0.0.1:9/hook";
    const { data } = await node.client.webhooks.create({ event: "block.reverted", target, conditions });
    await page.goto("/console/dev");
    await unfold("Failing receiver");
    await page.getByLabel("Webhook", { exact: true }).selectOption(`${data.id}`);
    await page.getByLabel("Status").fill("429");
    await press("Make it fail");
    await shows(`The receiver of webhook ${data.id} fails from now on.`);
    await page.getByRole("list", { name: "Failing receivers" }).getByText("responds with 429").waitFor();
    expect((await node.client.webhooks.ping(data.id)).data.reason).toBe("HTTP 429");
    await keepPicture(page, "dev-fail-light-1400");
    await press("End");
    await shows(`The receiver of webhook ${data.id} receives deliveries again.`);
    await page.getByText("responds with 429").waitFor({ state: "detached" });
    expect(faults).toEqual([]);
  });

  test("Forging resumes, and each form shows its equivalent command and program.", async () => {
    await press("Resume");
    await shows("The chain forges automatically.");
    await page.getByText("Equivalent commands and code").first().click();
    await page.getByRole("tab", { name: "JavaScript" }).first().click();
    await page.getByText("await client.dev.mine(").waitFor();
    const { address } = present((await node.client.dev.accounts()).data.accounts[0]);
    const { balance } = (await node.client.wallets.get(address)).data;
    const account = page.getByRole("row").filter({ hasText: "account 0" });
    expect(await account.locator("data").getAttribute("value")).toBe(`${balance}`);
    expect(await faultsInEveryView(page, "dev")).toEqual([]);
    expect(faults).toEqual([]);
  });
});
