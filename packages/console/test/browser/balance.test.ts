/** The balance of a wallet over time, on a node that records earlier states. */
import { present } from "@uniknode/protocol";
import { beforeAll, expect, test } from "vitest";
import { describeConsole } from "../../test-support/console-tests.ts";
import { createPayer } from "../../test-support/payments.ts";
import { faultsInEveryView } from "../../test-support/views.ts";

describeConsole({ nodeArguments: ["--history", "full"] }, ({ node, open }) => {
  let address: string;
  /** Wallet that no block after the genesis block has changed. */
  let untouched: string;

  beforeAll(async () => {
    const { accounts } = (await node.client.dev.accounts()).data;
    [address, untouched] = [present(accounts[0]).address, present(accounts.at(-1)).address];
    const pay = await createPayer(node);
    for (const seconds of [86_400, 40_000, 200_000, 90_000]) {
      await pay();
      await node.client.dev.mine();
      await node.client.dev.travel({ seconds });
    }
  });

  test("The chart has axes and values of each block, for the pointer and for keys.", async () => {
    const { page, faults } = await open();
    await page.goto(`/console/wallets/${address}`);
    await page.getByRole("tab", { name: "Balance" }).click();
    const chart = page.locator("figure.chart");
    await chart.waitFor();
    expect(await faultsInEveryView(page, "balance")).toEqual([]);

    const { data } = await node.client.wallets.history(address).page();
    expect(data.length).toBeGreaterThanOrEqual(4);
    const rows = page.getByRole("table", { name: "Balances of the wallet" }).locator("tbody tr");
    expect(await rows.count()).toBe(data.length);
    expect(await chart.locator(".axis:not(.times) span").count()).toBeGreaterThanOrEqual(3);
    expect(new Set(await chart.locator(".axis.times span").allInnerTexts()).size).toBe(3);

    const value = chart.locator("figcaption strong");
    const newest = await value.innerText();
    const slider = chart.getByRole("slider");
    await slider.focus();
    await page.keyboard.press("Home");
    await expect.poll(() => value.innerText()).not.toBe(newest);
    const oldest = await value.innerText();
    const oldestRow = rows.nth(data.length - 1);
    expect(await oldestRow.innerText()).toContain(oldest);
    expect(await slider.getAttribute("aria-valuetext")).toContain(oldest);
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => value.innerText()).not.toBe(oldest);
    expect(await rows.nth(data.length - 2).innerText()).toContain(await value.innerText());
    await chart.locator(".mark").waitFor();
    await page.keyboard.press("Tab");
    await expect.poll(() => value.innerText()).toBe(newest);

    const box = present(await slider.boundingBox());
    await page.mouse.move(box.x + box.width / 2, box.y + 20);
    const inTheMiddle = data[1]?.height;
    await chart.locator("figcaption").getByText(`block ${inTheMiddle},`).waitFor();
    expect(faults).toEqual([]);
  });

  test("A wallet without changes has a text instead of the chart.", async () => {
    const { page } = await open();
    await page.goto(`/console/wallets/${untouched}?view=balance`);
    await page.getByText("No change since block 1").waitFor();
    expect(await page.locator("figure.chart").count()).toBe(0);
  });
});
