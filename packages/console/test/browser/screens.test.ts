/**
 * Every screen in the browser: both themes, narrow and wide, accessible, and without entries in the browser's
 * log.
 */
import { readFileSync } from "node:fs";
import { present } from "@uniknode/protocol";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { describeConsole } from "../../test-support/console-tests.ts";
import { firstOf } from "../../test-support/first.ts";
import { createPayer } from "../../test-support/payments.ts";
import { faultsInEveryView } from "../../test-support/views.ts";

describeConsole({}, ({ node, openForAll }) => {
  let page: Page;
  let faults: string[];

  beforeAll(async () => {
    const pay = await createPayer(node);
    await pay();
    await node.client.dev.mine();
    ({ page, faults } = await openForAll());
  });

  const paths: Readonly<Record<string, () => string | Promise<string>>> = {
    overview: () => "/console/",
    blocks: () => "/console/blocks",
    block: async () => `/console/blocks/${(await firstOf(node.client.transactions.list())).blockId}`,
    transactions: () => "/console/transactions",
    pool: () => "/console/transactions?state=pending",
    transaction: async () => `/console/transactions/${(await firstOf(node.client.transactions.list())).id}`,
    bytes: async () =>
      `/console/transactions/${(await firstOf(node.client.transactions.list())).id}?view=bytes`,
    wallets: () => "/console/wallets",
    wallet: async () => `/console/wallets/${(await firstOf(node.client.wallets.list())).address}`,
    uniks: () => "/console/uniks",
    unik: async () => `/console/uniks/${(await firstOf(node.client.uniks.list())).id}`,
    delegates: () => "/console/delegates",
    delegate: async () => `/console/delegates/${(await firstOf(node.client.delegates.list())).username}`,
    send: async () => `/console/send?from=${(await firstOf(node.client.wallets.list())).address}&amount=1`,
    "send-signed": () => "/console/send?kind=signed",
    "sign-in": () => "/console/sign-in",
    "not-found": () => "/console/nowhere",
  };

  test.each(Object.entries(paths))("The screen %s has no errors.", async (name, pathOf) => {
    await page.goto(await pathOf());
    await page.locator("h1").waitFor();
    await page.locator(".loading").first().waitFor({ state: "detached" });
    expect(await faultsInEveryView(page, name)).toEqual([]);
    expect(faults.splice(0)).toEqual([]);
  });

  test("On a phone, the payments of a wallet have a sign and a unit.", async () => {
    await page.setViewportSize({ width: 390, height: 900 });
    const { sender, id } = await firstOf(node.client.transactions.list());
    const symbol = (await node.client.node.configuration()).data.symbol;
    const amount = (path: string) => {
      const row = page.locator("tbody tr").filter({ has: page.locator(`a[href$="${path}"]`) });
      return row.locator(".number").first();
    };
    await page.goto(`/console/wallets/${sender}`);
    await expect.poll(() => amount(id).innerText()).toBe(`−0.00000001 ${symbol}`);
    const { data } = await node.client.transactions
      .search({ recipientId: sender, typeGroup: 1, type: 0 })
      .page();
    const received = present(data.find((payment) => payment.sender !== sender));
    const text = `+${(Number(received.amount) / 1e8).toLocaleString("en-US")} ${symbol}`;
    await expect.poll(() => amount(received.id).innerText()).toBe(text);
    await page.setViewportSize({ width: 1_400, height: 900 });
  });

  test("A malformed id is explained, without an offer to try it again.", async () => {
    await page.goto("/console/blocks/zzz");
    await page.getByRole("alert").getByText("must be up to 20 decimal digits").waitFor();
    expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
    // A new block makes the screen ask again.
    const logged = faults.splice(0);
    expect(logged.length).toBeGreaterThan(0);
    expect(logged.filter((text) => !text.includes("422"))).toEqual([]);
  });

  test.each(["blocks", "transactions", "wallets", "uniks", "delegates"])(
    "The list of %s is saved as CSV with a row for each item.",
    async (list) => {
      await page.goto(`/console/${list}`);
      const save = page.getByRole("button", { name: "Save CSV" });
      const [file] = await Promise.all([page.waitForEvent("download"), save.click()]);
      expect(file.suggestedFilename()).toBe(`${list}.csv`);
      const [head = "", ...rows] = readFileSync(await file.path(), "utf8")
        .trim()
        .split("\n");
      expect(head.split(",").length).toBeGreaterThan(1);
      expect(rows.length).toBeGreaterThan(0);
      expect(faults.splice(0)).toEqual([]);
    },
  );

  test.each([
    ["transactions", "least=1", "least=much"],
    ["wallets", "least=100", "address=unknown"],
    ["uniks", `owner=${"D".repeat(34)}`, "id=7"],
    ["blocks", "content=transactions", "generator=02"],
  ])(
    "The list of %s has the rows of its filters, and none with an invalid one.",
    async (list, valid, invalid) => {
      await page.goto(`/console/${list}?${valid}`);
      await page.locator("main table, main .state").first().waitFor();
      expect(await page.locator("main").innerText()).not.toMatch(/failed|could not|error/i);
      await page.goto(`/console/${list}?${invalid}`);
      await page.getByText("A filter is invalid").waitFor();
      expect(await page.locator("main table").count()).toBe(0);
      const [name = ""] = invalid.split("=");
      const field = page.locator(`#filter-${name}`);
      expect(await field.getAttribute("aria-invalid")).toBe("true");
      expect(await page.locator(`#filter-${name}-fault`).innerText()).toMatch(/\.$/);
      expect(faults.splice(0)).toEqual([]);
    },
  );

  test("The slots of a round have their delegates, in the first round and in later ones.", async () => {
    await page.goto("/console/delegates");
    const monitor = page.locator("section").filter({ has: page.locator("ol.round") });
    // A placeholder has slots, too, but counts none.
    await monitor.getByText(/\d forged, \d+ missed/).waitFor();
    await expect.poll(() => monitor.innerText()).not.toMatch(/not known|unknown/);
    const counts = () =>
      monitor.evaluate((section) => {
        const count = (selector: string) => section.querySelectorAll(selector).length;
        const summary = section.querySelector(".round-summary")?.textContent;
        return { summary, forged: count(".forged"), missed: count(".missed") };
      });
    const { summary, forged, missed } = await counts();
    expect(summary).toBe(`${forged} forged, ${missed} missed`);
    // A block of the chain itself could be shown instead of this head.
    await node.client.dev.forge({ enabled: false });
    // More than a round; on a busy machine, a node needs too long for many blocks in one request.
    const { head } = (await node.client.dev.mine({ blocks: 8 })).data;
    const height = head.height.toLocaleString("en-US");
    await page.locator(".pulse b").getByText(height, { exact: true }).waitFor();
    await expect.poll(() => monitor.innerText()).not.toMatch(/not known|unknown/);

    // The chain stands still: the overview, which shows the future slots, counts the missed ones, too.
    const size = (await node.client.node.configuration()).data.constants.activeDelegates;
    await node.client.dev.travel({ seconds: 600 });
    // The page learns the new time with the next head, or when it is loaded.
    await page.reload();
    await expect.poll(async () => (await counts()).missed).toBeGreaterThanOrEqual(size);
    const stopped = await counts();
    expect(stopped.summary).toBe(`${stopped.forged} forged, ${stopped.missed} missed`);
    await page.goto("/console/");
    await expect.poll(async () => (await counts()).summary).toBe(stopped.summary);
    expect((await counts()).missed).toBeLessThan(stopped.missed);
  });
});
