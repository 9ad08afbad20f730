/** The documentation: documents, their sections and links, the search, and the API. */
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { keepPicture } from "../../test-support/browser.ts";
import { describeConsole } from "../../test-support/console-tests.ts";
import { faultsInEveryView } from "../../test-support/views.ts";

describeConsole({}, ({ node, openForAll }) => {
  let page: Page;
  let faults: string[];

  beforeAll(async () => {
    ({ page, faults } = await openForAll());
  });

  const heading = (name: string) => page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
  const path = () => page.evaluate(() => location.pathname + location.search + location.hash);
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");

  test("The first page links to the guides, and links of a document lead to sections of others.", async () => {
    await page.goto("/console/docs");
    await heading("Documentation");
    await page
      .locator("article")
      .getByRole("link", { name: "receive your first event", exact: true })
      .click();
    await heading("Receive your first event in five minutes");
    expect(
      await page.getByRole("navigation", { name: "Documents" }).locator("[aria-current]").textContent(),
    ).toBe("Receive your first event in five minutes");
    expect(await faultsInEveryView(page, "docs-guide")).toEqual([]);
    expect(faults).toEqual([]);
    await page
      .getByRole("navigation", { name: "On this page" })
      .getByRole("link", { name: "What a receiver should do" })
      .click();
    await expect.poll(path).toBe("/console/docs/guides/first-event#what-a-receiver-should-do");
    await expect.poll(focused).toContain("What a receiver should do");
    await page.goBack();
    await page.goBack();
    await heading("Documentation");
    expect(await faultsInEveryView(page, "docs-start")).toEqual([]);
    expect(faults).toEqual([]);
  });

  test("An address with an anchor opens at its section.", async () => {
    await page.goto("/console/docs/guides/webhooks#rotate-the-secret");
    await expect.poll(focused).toContain("Rotate the secret");
    const top = await page.getByRole("heading", { name: "Rotate the secret" }).evaluate((element) => {
      return element.getBoundingClientRect().top;
    });
    expect(top).toBeGreaterThan(40);
    expect(top).toBeLessThan(300);
  });

  test("The search finds sections during typing, works by keyboard alone, and its address can be shared.", async () => {
    await page.goto("/console/docs");
    await page.getByLabel("Search the documentation").pressSequentially("rotate the secret");
    const first = page.locator(".docs-results a").first();
    await expect.poll(() => first.textContent()).toBe("Rotate the secret");
    await expect.poll(path).toBe("/console/docs?q=rotate+the+secret");
    expect(await faultsInEveryView(page, "docs-search")).toEqual([]);
    expect(faults).toEqual([]);
    await page.reload();
    await first.waitFor();
    await page.getByLabel("Search the documentation").press("ArrowDown");
    await expect.poll(focused).toBe("Rotate the secret");
    await page.keyboard.press("Enter");
    await heading("Webhooks");
    await expect.poll(path).toBe("/console/docs/guides/webhooks#rotate-the-secret");
    await page.goto("/console/docs?q=zzzz");
    await page.getByText("No section has “zzzz”").waitFor();
    await page.getByLabel("Search the documentation").press("Escape");
    await page.locator("article").waitFor();
    await expect.poll(path).toBe("/console/docs");
    expect(faults).toEqual([]);
  });

  test("A character that is typed while the address changes is not lost.", async () => {
    await page.goto("/console/docs");
    const field = page.getByLabel("Search the documentation");
    await field.evaluate((input: HTMLInputElement) => {
      const replace = history.replaceState.bind(history);
      history.replaceState = (...change) => {
        replace(...change);
        history.replaceState = replace;
        input.value += "e";
        input.dispatchEvent(new Event("input", { bubbles: true }));
      };
    });
    await field.fill("rotat");
    await expect.poll(path).toBe("/console/docs?q=rotate");
    expect(await field.inputValue()).toBe("rotate");
  });

  test("An address without a document shows an error.", async () => {
    await page.goto("/console/docs/guides/nothing");
    await page.getByText("Document not found").waitFor();
    expect(faults).toEqual([]);
  });

  test("Documents of every kind are shown without an error of the page.", async () => {
    const contents: { documents: { path: string; title: string }[] }[] = await (
      await fetch(`${node.url}/console/documents/contents.json`)
    ).json();
    await page.goto("/console/docs");
    for (const { path, title } of contents.flatMap(({ documents }) => documents.slice(0, 3))) {
      await page.evaluate((path) => {
        const link = Object.assign(document.createElement("a"), { href: `/console/docs/${path}` });
        document.querySelector("main")?.append(link);
        link.click();
        link.remove();
      }, path);
      await heading(title);
      await page.locator("article :is(p, table, pre)").first().waitFor();
      const hidden = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(hidden, path).toBe(0);
    }
    expect(faults).toEqual([]);
  });

  test("The API page finds an operation, and sends it without a session if none is needed.", async () => {
    await page.goto("/console/docs/api");
    await page.getByLabel("Filter by path, method or words").fill("block id");
    await expect.poll(path).toBe("/console/docs/api?filter=block+id");
    expect(await faultsInEveryView(page, "docs-api")).toEqual([]);
    expect(faults).toEqual([]);
    await page.getByRole("link", { name: "GET /blocks/{id}", exact: true }).click();
    await heading("GET /blocks/{id}");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText("Fill in this field.").waitFor();
    await page.getByLabel("id (needed)").fill("1");
    await page.keyboard.press("Enter");
    await page.getByText('"height": 1,').waitFor();
    expect(await faultsInEveryView(page, "docs-operation")).toEqual([]);
    expect(faults).toEqual([]);
    await page.getByText("The same in a terminal").click();
    await page.getByText(`curl '${node.url}/api/v2/blocks/1'`).waitFor();
  });

  test("Operations that require the token use the session, and changes ask for confirmation.", async () => {
    await page.goto("/console/docs/api/createWebhook");
    await page.getByText("This requires the token, or a session").waitFor();
    await page.goto(node.consoleUrl);
    await heading("Overview");
    await page.goto("/console/docs/api/createWebhook");
    await page
      .getByLabel("Body (JSON)")
      .fill(
        '{"event": "block.applied", "target": "http://127.0.0.1:9/hook", "conditions": [{"key": "id", "condition": "ne", "value": ""}], "enabled": false}',
      );
    await page.getByRole("button", { name: "Send" }).click();
    const dialog = page.getByRole("dialog", { name: "Send it?" });
    await dialog.getByText("POST /api/v2/webhooks").waitFor();
    expect((await node.client.webhooks.list().page()).data).toEqual([]);
    expect(await faultsInEveryView(page, "docs-confirm")).toEqual([]);
    expect(faults).toEqual([]);
    await dialog.getByRole("button", { name: "Send POST" }).click();
    await page.locator(".outcome").getByText("201", { exact: true }).waitFor();
    expect((await node.client.webhooks.list().page()).data).toHaveLength(1);
    await keepPicture(page, "docs-created");
    expect(faults).toEqual([]);
  });
});
