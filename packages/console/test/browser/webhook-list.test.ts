/** The list of webhooks with the longest names and targets: its rows, its search, its tabs and its orders. */
import { EVERY_EVENT } from "@uniknode/client";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { describeConsole } from "../../test-support/console-tests.ts";
import { faultsInEveryView } from "../../test-support/views.ts";

const conditions = [EVERY_EVENT];
const NAME = "Shop ".repeat(20).trim();
const TARGET = `http://127.0.0.1:9/${"long/".repeat(400)}`;

describeConsole({}, ({ node, reuseSignedIn }) => {
  beforeAll(async () => {
    const { webhooks } = node.client;
    await webhooks.create({ event: "block.reverted", target: "http://127.0.0.1:9/a", conditions });
    await webhooks.create({ name: NAME, events: ["unik.*", "round.*"], target: TARGET, conditions });
    await webhooks.create({
      name: "Café",
      event: "block.reverted",
      target: "http://127.0.0.1:9/b",
      conditions,
      enabled: false,
    });
  });

  const rows = (page: Page) => page.getByRole("table", { name: "Webhooks" }).locator("tbody tr");
  const heights = (page: Page) =>
    rows(page).evaluateAll((rows) => rows.map((row) => Math.round(row.getBoundingClientRect().height)));

  test("Rows of all names and targets have one height, of one line when wide and of two when narrow.", async () => {
    const { page, faults } = await reuseSignedIn();
    await page.goto("/console/webhooks");
    await rows(page).nth(2).waitFor();
    for (const [width, most] of [
      [1_400, 40],
      [390, 66],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      const [least = 0, ...others] = (await heights(page)).sort((a, b) => a - b);
      expect(others.filter((height) => height > least + 1)).toEqual([]);
      expect(least).toBeLessThan(most);
    }
    expect(await faultsInEveryView(page, "webhooks")).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("Tabs show the webhooks of a state with their number; a search finds a part of a name, target or event.", async () => {
    const { page, faults } = await reuseSignedIn();
    await page.goto("/console/webhooks");
    await page.getByRole("tab", { name: "All (3)" }).waitFor();
    await page.getByRole("tab", { name: "Paused (1)" }).click();
    await page.getByRole("link", { name: "3 Café" }).waitFor();
    await expect.poll(() => rows(page).count()).toBe(1);
    for (const [search, count] of [
      ["CAF", 1],
      ["/b", 1],
      ["unik", 0],
    ] as const) {
      await page.getByLabel("Search", { exact: true }).fill(search);
      await page.keyboard.press("Enter");
      await expect.poll(() => rows(page).count()).toBe(count);
    }
    await page.getByText("No webhook matches").waitFor();
    await page.getByRole("tab", { name: "All (3)" }).click();
    await page.getByRole("link", { name: "2 Shop" }).waitFor();
    expect(page.url()).toContain("search=unik");
    await page.reload();
    await expect.poll(() => rows(page).count()).toBe(1);
    expect(faults).toEqual([]);
  });

  test("The list is ordered by name or by age; a failing webhook shows when its next retry is.", async () => {
    const { page, faults } = await reuseSignedIn();
    const { webhooks } = node.client;
    await webhooks.create({
      name: "Failing",
      event: "block.applied",
      target: "http://127.0.0.1:9/",
      conditions,
    });
    await node.client.dev.mine();
    await expect.poll(async () => (await webhooks.get(4)).data.failing?.nextAttemptAt).toBeDefined();
    await page.goto("/console/webhooks");
    await page.getByLabel("Order").selectOption("By name");
    const names = () => rows(page).locator("td:first-child").allInnerTexts();
    await expect.poll(names).toEqual(["3 Café", "4 Failing", `2 ${NAME}`, "1"]);
    await rows(page)
      .nth(1)
      .getByText(/^retry (is due|in |now)/)
      .waitFor();
    await page.getByLabel("Order").selectOption("Newest first");
    await expect.poll(async () => (await names())[0]).toBe("4 Failing");
    expect(await faultsInEveryView(page, "webhooks-ordered")).toEqual([]);
    expect(faults).toEqual([]);
  });
});
