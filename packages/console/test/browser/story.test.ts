/**
 * Path of a user with only a browser from a transfer to its deliveries: only the page sends requests to the
 * node.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { present } from "@uniknode/protocol";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WAIT_MS } from "../../../node/test-support/process/until.ts";
import { keepPicture } from "../../test-support/browser.ts";
import { describeConsole } from "../../test-support/console-tests.ts";

describeConsole({}, ({ node, open }) => {
  let receiver: Server;
  const bodies: string[] = [];

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (part: string) => {
        body += part;
      });
      request.on("end", () => {
        // A registration pings the receiver.
        if (!body.includes('"event":"ping"')) bodies.push(body);
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  });
  afterAll(async () => {
    receiver?.closeAllConnections();
    receiver?.close();
  });

  const press = (page: Page, name: string | RegExp) =>
    page.getByRole("main").getByRole("button", { name, exact: true }).click();
  const shows = (page: Page, text: string | RegExp) =>
    page.getByRole("main").getByText(text).first().waitFor();

  test("A transfer is followed from sending to its delivery, which fails, is explained, repeated, and retracted.", async () => {
    const { page, faults } = await open();
    const target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    await page.goto(node.consoleUrl);
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();

    // A webhook for transfers to an account.
    await page.goto("/console/dev");
    const wallets = page.getByRole("main").locator("a[href^='/console/wallets/']");
    await wallets.nth(1).waitFor();
    const recipient = await lastSegment(wallets.nth(1));
    const conditions = JSON.stringify([{ key: "recipientId", condition: "eq", value: recipient }]);
    const filter = new URLSearchParams({ events: "transaction.applied", conditions });
    await page.goto(`/console/webhooks/new?${filter}`);
    await page.getByLabel("URL of your receiver").fill(target);
    await press(page, "Register");
    await shows(page, "It is not shown again");

    // Its receiver fails.
    await page.goto("/console/dev");
    await page.getByRole("heading", { level: 3, name: "Failing receiver" }).click();
    await page.getByLabel("Webhook", { exact: true }).selectOption("1");
    await page.getByLabel("Status").fill("503");
    await press(page, "Make it fail");
    await shows(page, "The receiver of webhook 1 fails from now on.");

    // A transfer by the faucet of the desk.
    await page.goto("/console/dev");
    await page.getByLabel("To", { exact: true }).fill(recipient);
    await press(page, "Pay");
    const link = page.locator("a[href^='/console/transactions/']").first();
    await link.waitFor();
    const id = await lastSegment(link);
    await link.click();
    await shows(page, /confirmation/);

    // Reason why its delivery failed.
    await page.goto("/console/webhooks/1");
    await shows(page, "HTTP 503");
    await page.getByRole("row").nth(1).getByRole("link").first().click();
    await page.getByRole("heading", { level: 1, name: "Delivery" }).waitFor();
    await shows(page, "HTTP 503");
    await shows(page, id);
    await keepPicture(page, "story-failed-light-1400");
    const delivery = page.url();
    expect(bodies).toEqual([]);

    // The receiver is back: the node retries by itself, and once more on request.
    await page.goto("/console/dev");
    await press(page, "End");
    await shows(page, "The receiver of webhook 1 receives deliveries again.");
    await page.goto(delivery);
    await page
      .getByText("delivered", { exact: true })
      .first()
      .waitFor({ timeout: 3 * WAIT_MS });
    await press(page, "Send again");
    await shows(page, "It is sent again");
    await expect.poll(() => bodies.filter((body) => body.includes(id)).length).toBe(2);

    // The past is replayed.
    const received = bodies.length;
    await page.goto("/console/webhooks/1");
    // Before the head is known, both are 1.
    await expect.poll(() => page.getByLabel("To height").inputValue()).not.toBe("1");
    await page.getByLabel("From height").fill("1");
    await page.getByText(/blocks, about \d+ deliver/).waitFor();
    await press(page, "Replay");
    await shows(page, /Replay of the blocks 1 to \d+: finished/);
    await expect.poll(() => bodies.length).toBeGreaterThan(received);

    // Its block is replaced while its page is open, and the fact is retracted.
    await page.goto("/console/dev");
    await press(page, "Pause");
    await shows(page, "forging is paused");
    // All except the setup blocks, which no branch replaces.
    const height = Number(await page.locator(".pulse b").innerText());
    await page.getByRole("heading", { level: 3, name: "Reorganize" }).click();
    await page.getByLabel("Blocks to revert").fill(`${height - 3}`);
    await press(page, /^Replace/);
    await page
      .getByText(/were reverted|was reverted/)
      .first()
      .waitFor();
    await keepPicture(page, "story-reorganized-light-1400");
    await expect.poll(() => bodies.some((body) => body.includes("reverted"))).toBe(true);
    expect(faults).toEqual([]);
  });
});

/** Returns the id at the end of the address of a link. */
async function lastSegment(link: Locator): Promise<string> {
  const href = present(await link.getAttribute("href"));
  return decodeURIComponent(href.replace(/.*\//, ""));
}
