/** The overview, as a reader sees it who comes back. */
import { present } from "@uniknode/protocol";
import { expect, test } from "vitest";
import { keepPicture } from "../../test-support/browser.ts";
import { describeConsole } from "../../test-support/console-tests.ts";
import { createPayer } from "../../test-support/payments.ts";
import { faultsInEveryView } from "../../test-support/views.ts";

const HOUR_MS = 3_600_000;

describeConsole({}, ({ node, open }) => {
  test("The overview shows how much the chain has grown since the last visit, but not since a moment ago.", async () => {
    await node.client.dev.forge({ enabled: false });
    const pay = await createPayer(node);
    const { page, faults } = await open();
    const figure = (name: string) => page.locator(".figures > div").filter({ hasText: name });
    const kept = () => page.evaluate(() => localStorage.getItem("uniknode.seen"));
    /** Waits until the browser keeps what the chain has. */
    async function keepsAll(): Promise<number> {
      const { height } = (await node.client.blocks.last()).data;
      const { totalCount } = (await node.client.transactions.list().page({ limit: 1 })).meta;
      await expect.poll(kept).toContain(`"height":${height},"transactions":${totalCount},`);
      return height;
    }
    await page.goto("/console/");
    const height = await keepsAll();
    expect(await page.locator(".growth").count()).toBe(0);

    // Nothing is kept while another page is shown.
    await page.goto("/console/blocks");
    await pay();
    for (let requests = 0; requests < 4; requests++) await node.client.dev.mine({ blocks: 5 });
    await page.goto("/console/");
    await figure("Height")
      .getByText((height + 20).toLocaleString("en-US"))
      .waitFor();
    expect(await page.locator(".growth").count()).toBe(0);

    expect(await keepsAll()).toBe(height + 20);
    await page.goto("/console/blocks");
    await page.evaluate((hourMs) => {
      const seen = JSON.parse(localStorage.getItem("uniknode.seen") ?? "{}");
      localStorage.setItem("uniknode.seen", JSON.stringify({ ...seen, timeMs: seen.timeMs - hourMs }));
    }, HOUR_MS);
    await pay();
    for (let requests = 0; requests < 6; requests++) await node.client.dev.mine({ blocks: 5 });
    await page.goto("/console/");
    await figure("Height").getByText("+30", { exact: true }).waitFor();
    await figure("Transactions").getByText("+1", { exact: true }).waitFor();
    await page.getByText(/since your last visit, 1 h/).waitFor();
    expect(await figure("Uniks").innerText()).not.toContain("+");
    await keepPicture(page, "overview-growth-light-1400");
    expect(await faultsInEveryView(page, "overview-growth")).toEqual([]);
    expect(faults).toEqual([]);
  });
});

describeConsole({}, ({ node, open }) => {
  test("A figure is a dash until it is known.", async () => {
    const { page, faults } = await open();
    const { promise: known, resolve: respond } = Promise.withResolvers<void>();
    await page.route(/\/peers\?/, async (route) => {
      await known;
      await route.continue();
    });
    await page.goto("/console/");
    const peers = page.locator(".figures > div").filter({ hasText: "Peers" });
    await peers.getByText("–", { exact: true }).waitFor();
    respond();
    await peers.getByText("0", { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  test("Charts of the overview show what happened in the last hour, and each value under the pointer.", async () => {
    await node.client.dev.forge({ enabled: false });
    const pay = await createPayer(node);
    for (let blocks = 0; blocks < 5; blocks++) {
      await pay();
      await node.client.dev.mine({ blocks: 10 });
      await node.client.dev.travel({ seconds: 300 });
    }
    await pay();
    await node.client.dev.mine({ blocks: 1 });
    const { page, faults } = await open();
    await page.goto("/console/");
    const chart = (title: string) => page.locator(".activity .chart").filter({ hasText: title });
    // The chain is younger than the hour.
    await chart("Transactions")
      .getByText(/^since \d\d:\d\d/)
      .waitFor();
    const { data } = await node.client.blockchain.activity({ hours: 1 });
    const total = data.transactions.reduce((sum, count) => sum + count, 0);
    expect(total).toBeGreaterThanOrEqual(6);
    expect(await chart("Transactions").locator("strong").innerText()).toBe(`${total}`);
    expect(await chart("Fees").locator("strong").innerText()).toMatch(/^[\d.,]+ \S+$/);
    const missed = data.missedSlots.reduce((sum, count) => sum + count, 0);
    expect(missed).toBeGreaterThan(100);
    expect(await chart("Missed slots").locator("strong").innerText()).toBe(missed.toLocaleString("en-US"));

    const slider = chart("Transactions").getByRole("slider");
    // The curve has each interval of the total, also the one that has not ended.
    await expect
      .poll(async () => {
        const { times, blocks, missedSlots } = (await node.client.blockchain.activity({ hours: 1 })).data;
        const from = blocks.findIndex((count, index) => count + present(missedSlots[index]) > 0);
        return times.length - from - 1 - Number(await slider.getAttribute("max"));
      })
      .toBe(0);
    await slider.focus();
    await slider.press("Home");
    await chart("Transactions")
      .getByText(/^since/)
      .waitFor({ state: "detached" });
    expect(await slider.getAttribute("aria-valuetext")).toMatch(/^\d+, \d\d:\d\d/);
    await keepPicture(page, "overview-activity-light-1400");
    await page.getByRole("tab", { name: "24 hours" }).click();
    await chart("Time per block").getByText("on average").waitFor();
    expect(page.url()).toContain("span=day");
    expect(await faultsInEveryView(page, "overview-activity")).toEqual([]);
    expect(faults).toEqual([]);
  });
});
