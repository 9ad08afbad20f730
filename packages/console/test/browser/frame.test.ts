/** Common parts of every page: search, keys, themes, the focus, and the notice of an unresponsive node. */

import { present } from "@uniknode/protocol";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { keepPicture, type Watched } from "../../test-support/browser.ts";
import { describeConsole } from "../../test-support/console-tests.ts";
import { firstOf } from "../../test-support/first.ts";

describeConsole({}, ({ node, open, reuse }) => {
  const show = async (watched: Watched, path: string) => {
    await watched.page.goto(path);
    await watched.page.locator("h1").waitFor();
    return watched;
  };

  test("The keyboard alone searches a block and opens it; the focus is on its title.", async () => {
    const { page, faults } = await show(await reuse(), "/console/");
    await pressUntil(page, ["/"], () => document.activeElement?.id === "search");
    await page.keyboard.type("1");
    await page.getByRole("option").first().waitFor();
    await page.keyboard.press("Enter");
    // Until the block is loaded, its title is the beginning of its id, which may be "1", too.
    await page.getByRole("heading", { level: 1, name: "Block 1", exact: true }).waitFor();
    await expect.poll(() => page.title()).toBe("1 · Uniknode");
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("H1");
    expect(faults).toEqual([]);
  });

  test("A search finds ids, addresses, keys and names, and reports empty results.", async () => {
    const { page, faults } = await show(await reuse(), "/console/");
    const { data: block } = await node.client.blocks.get(2);
    const [delegate, unik] = await Promise.all([
      firstOf(node.client.delegates.list()),
      firstOf(node.client.uniks.list()),
    ]);
    const { address, publicKey } = delegate;
    const texts = [
      [block.id, "block"],
      [unik.id, "unik"],
      [address, "wallet"],
      [publicKey, "wallet"],
      ["founder", "delegate"],
    ] as const;
    for (const [text, kind] of texts) {
      await page.locator("#search").fill(text);
      await page.getByRole("option", { name: kind }).first().waitFor();
    }
    await page.locator("#search").fill(block.id.slice(0, 8));
    await page.getByRole("option", { name: "Block 2" }).click();
    await page.getByRole("heading", { level: 1, name: "Block 2", exact: true }).waitFor();
    await page.locator("#search").focus();
    await page.getByRole("listbox", { name: "Recently opened" }).getByText("Block 2").waitFor();
    await page.locator("#search").fill("0".repeat(64));
    await page.getByText("No match for this").waitFor();
    expect(faults).toEqual([]);
  });

  test("A delegate is found by the displayed name, in the search, the filter and the address.", async () => {
    const { page, faults } = await show(await reuse(), "/console/delegates");
    const { data: delegates } = await node.client.delegates.list().page();
    const { unikname } = present(delegates.find(({ unikname, username }) => unikname !== username));
    expect(unikname).toMatch(/-/);
    await page.getByLabel("Name", { exact: true }).fill(unikname.toUpperCase());
    await page.getByRole("button", { name: "Filter" }).click();
    await page.getByText("1 delegate", { exact: true }).waitFor();
    expect(await page.getByRole("table", { name: "Delegates" }).getByRole("row").count()).toBe(2);
    await page.goto(`/console/delegates/${unikname}`);
    await page.getByRole("heading", { level: 1, name: `Delegate ${unikname}` }).waitFor();
    await page.locator("#search").fill(unikname);
    await page.getByRole("option", { name: "delegate" }).first().waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: `Delegate ${unikname}` }).waitFor();
    expect(faults).toEqual([]);
    await page.goto("/console/delegates/no-such-name");
    await page.getByText("The delegate does not exist").waitFor();
    expect(faults).toEqual([]);
  });

  test("A search finds pages, actions, and prefixes of ids and addresses.", async () => {
    const { page, faults } = await show(await reuse(), "/console/");
    const [first, wallet] = await Promise.all([
      node.client.blocks.get(1),
      firstOf(node.client.wallets.list()),
    ]);
    const texts = [
      ["webh", "page"],
      ["mint unik", "action"],
      ["mine", "page"],
      [first.data.id.slice(0, 10), "block"],
      [wallet.address.slice(0, 10), "wallet"],
    ] as const;
    for (const [text, kind] of texts) {
      await page.locator("#search").fill(text);
      await page.getByRole("option", { name: kind }).first().waitFor();
    }
    await page.locator("#search").fill("vote for");
    await page.getByRole("option", { name: "Vote for a delegate" }).click();
    await page.getByRole("heading", { level: 1, name: "Send" }).waitFor();
    expect(page.url()).toContain("kind=vote");
    expect(faults).toEqual([]);
  });

  test("The theme is stored, and applied before the first paint.", async () => {
    const { page } = await show(await open(), "/console/");
    await page.getByRole("button", { name: "Theme: system" }).click();
    await page.getByRole("button", { name: "Theme: light" }).click();
    await page.reload();
    await page.getByRole("button", { name: "Theme: dark" }).waitFor();
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe("dark");
  });

  test("Keys open pages, the list of keys opens and closes, and links do not reload.", async () => {
    const { page, faults } = await show(await reuse(), "/console/");
    await page.evaluate(() => Object.assign(window, { isSame: true }));
    await pressUntil(page, ["g", "b"], () => document.querySelector("h1")?.textContent === "Blocks");
    await page.getByRole("heading", { level: 1, name: "Blocks" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    await page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name: "Delegates" }).click();
    await page.getByRole("heading", { level: 1, name: "Delegates" }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Blocks" }).waitFor();
    expect(await page.evaluate(() => "isSame" in window)).toBe(true);
    expect(faults).toEqual([]);
  });

  test("The first key reaches a link that skips to the content.", async () => {
    const { page } = await show(await reuse(), "/console/");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("main");
  });

  test("Filters and the page of a list are in its address.", async () => {
    const { page, faults } = await show(await reuse(), "/console/blocks");
    await page.getByLabel("Order").selectOption("Oldest first");
    await page.waitForURL(/orderBy=height%3Aasc/);
    await page.getByRole("cell", { name: "1", exact: true }).first().waitFor();
    await page.reload();
    await expect.poll(() => page.getByLabel("Order").inputValue()).toBe("height:asc");
    expect(faults).toEqual([]);
  });

  test("A narrow page has its screens in a menu, which closes after a choice.", async () => {
    const { page } = await open({ width: 390 });
    await page.goto("/console/");
    await page.getByRole("button", { name: "Screens" }).click();
    await keepPicture(page, "menu-light-390");
    await page.getByRole("link", { name: "Delegates", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Delegates" }).waitFor();
    await page.getByRole("navigation", { name: "Screens" }).waitFor({ state: "hidden" });
  });

  test("A narrow page folds its filters into a button with their number, unless one of them is invalid.", async () => {
    const { page } = await open({ width: 390 });
    await page.goto("/console/transactions?least=1");
    const field = page.locator("#filter-least");
    await page.getByRole("button", { name: "Filters (1)" }).waitFor();
    expect(await field.isVisible()).toBe(false);
    await page.getByRole("button", { name: "Filters (1)" }).click();
    await field.fill("much");
    await page.keyboard.press("Enter");
    await page.getByText("A filter is invalid").waitFor();
    expect(await field.isVisible()).toBe(true);
    expect(await page.getByRole("button", { name: /^Filters/ }).count()).toBe(0);
  });

  test("A touch screen shows no keyboard shortcut in the search field.", async () => {
    for (const isTouch of [false, true]) {
      const { page } = await open({ isTouch });
      await page.goto("/console/");
      await page.locator("search input").waitFor();
      expect(await page.locator("search kbd").isVisible()).toBe(!isTouch);
    }
  });

  test("No text of a page has less than 12 pixels.", async () => {
    const { page } = await reuse();
    for (const path of [
      "/console/",
      "/console/blocks",
      "/console/delegates",
      "/console/docs",
      "/console/send",
    ]) {
      await page.goto(path);
      await page.locator("h1").waitFor();
      const small = await page.evaluate(() =>
        [...document.querySelectorAll("body *")]
          .filter((element) =>
            [...element.childNodes].some(
              (node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim(),
            ),
          )
          .filter((element) => Number.parseFloat(getComputedStyle(element).fontSize) < 12)
          .map((element) => element.outerHTML.slice(0, 120)),
      );
      expect(small).toEqual([]);
    }
  });

  test("Only the right token signs in; a code is removed from the address.", async () => {
    const { page } = await show(await open(), "/console/sign-in");
    await page.getByLabel("Webhook token").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Webhook token").fill(node.token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("link", { name: "Sign in" }).waitFor();
    await page.goto(node.consoleUrl);
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    expect(page.url()).not.toContain("code");
    await page.context().close();
    const second = await open();
    await second.page.goto(node.consoleUrl);
    await second.page.getByText("This link was already used").waitFor();
  });

  test("A signed-in page follows the live stream of the node.", async () => {
    const { page, faults } = await show(await open(), "/console/sign-in");
    const stream = page.waitForResponse(/\/console\/operations\/api\/events\?/);
    await page.getByLabel("Webhook token").fill(node.token);
    await page.getByRole("button", { name: "Sign in" }).click();
    expect((await stream).headers()["content-type"]).toBe("text/event-stream");
    expect(faults).toEqual([]);
  });

  test("When the node is down the page shows it, keeps its content, and continues when the node is back.", async () => {
    const { page } = await show(await open(), "/console/blocks");
    await page.getByRole("row").nth(3).waitFor();
    await page.context().setOffline(true);
    await page.getByText("The node does not respond").waitFor();
    expect(await page.getByRole("row").count()).toBeGreaterThan(2);
    await keepPicture(page, "disconnected-light-1400");
    await page.getByRole("button", { name: "Try now" }).click();
    await page.context().setOffline(false);
    // The page also retries by itself.
    await page.getByText("The node does not respond").waitFor({ state: "detached" });
  });
});

/** Presses keys until they have their effect: the script that reads them is loaded after the first screen. */
const pressUntil = (page: Page, keys: readonly string[], hasEffect: () => boolean) =>
  expect
    .poll(async () => {
      for (const key of keys) await page.keyboard.press(key);
      return page.evaluate(hasEffect);
    })
    .toBe(true);
