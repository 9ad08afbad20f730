/** The webhook desk against a real receiver that refuses some deliveries. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessibilityFaults, findBrowser, keepPicture, openPage } from "../../test-support/browser.ts";
import { type RunningConsole, startConsole } from "../../test-support/console.ts";
import type { DevNode } from "../../test-support/dev-node.ts";

const executable = findBrowser();
const ANSWER = "not now <script>document.title = 'markup'</script>";

describe.skipIf(!executable)("In a browser (skipped without Chromium)", () => {
  let started: RunningConsole | undefined;
  let node: DevNode;
  let browser: Browser;
  let receiver: Server;
  let isRefusing = true;

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      request.resume();
      response.writeHead(isRefusing ? 500 : 204).end(isRefusing ? ANSWER : undefined);
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    started = await startConsole(executable!);
    ({ node, browser } = started);
    const target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const conditions = [{ key: "id", condition: "ne", value: "" }] as const;
    await node.client.webhooks.create({ event: "block.applied", target, conditions });
  }, 120_000);
  afterAll(async () => {
    await started?.stop();
    receiver?.closeAllConnections();
    receiver?.close();
  });

  async function signIn(page: Page): Promise<void> {
    await page.goto("/console/sign-in");
    await page.getByLabel("Webhook token").fill(node.token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  }

  test("A delivery that was refused shows its attempts as text, and one that arrived is sent again.", {
    timeout: 90_000,
  }, async () => {
    const { page, faults } = await openPage(browser, node.url);
    await signIn(page);
    await page.getByRole("link", { name: "Webhooks" }).click();
    await page.getByRole("link", { name: "1", exact: true }).click();
    await page.getByText("HTTP 500").first().waitFor();
    await keepPicture(page, "webhook");
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole("row").nth(1).getByRole("link").first().click();
    await page.getByRole("heading", { level: 1, name: "Delivery" }).waitFor();
    await page.getByText(ANSWER).first().waitFor();
    expect(await page.title()).not.toBe("markup");
    expect(await accessibilityFaults(page)).toEqual([]);
    isRefusing = false;
    await page.goto("/console/webhooks/1?state=delivered");
    await page.getByRole("row").nth(1).getByRole("link").first().click();
    await page.getByText("delivered", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Send again" }).click();
    await page.getByRole("paragraph").filter({ hasText: "It is sent again" }).waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });

  test("A webhook is pinged, paused, resumed and deleted.", { timeout: 60_000 }, async () => {
    const { page, faults } = await openPage(browser, node.url);
    await signIn(page);
    await page.goto("/console/webhooks/1");
    isRefusing = false;
    await page.getByRole("button", { name: "Ping" }).click();
    await page.getByRole("paragraph").filter({ hasText: "The receiver accepted the ping: 204" }).waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText("paused", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("active", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("There is no webhook yet").waitFor();
    expect(faults).toEqual([]);
    await page.context().close();
  });
});
