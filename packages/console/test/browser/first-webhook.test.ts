/** The first webhook of a user who reads only the pages, with a wrong port. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { present } from "@uniknode/protocol";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../../node/test-support/peers/world.ts";
import { describeConsole } from "../../test-support/console-tests.ts";
import { faultsInEveryView } from "../../test-support/views.ts";

describeConsole({}, ({ node, open }) => {
  let receiver: Server;
  const bodies: string[] = [];

  const portOf = (server: Server) => (server.address() as AddressInfo).port;

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (part: string) => {
        body += part;
      });
      request.on("end", () => {
        bodies.push(body);
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  });
  afterAll(() => {
    receiver?.closeAllConnections();
    receiver?.close();
  });

  const main = (page: Page) => page.getByRole("main");
  const press = (page: Page, name: string) =>
    main(page).getByRole("button", { name, exact: true }).first().click();
  const follow = (page: Page, name: string) =>
    page.getByRole("navigation", { name: "Screens" }).getByRole("link", { name }).click();

  test("A webhook for payments to an address fails, the page names the cause, and the payment arrives after the repair.", async () => {
    const { page, faults } = await open();
    await page.goto(node.consoleUrl);
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    await follow(page, "Dev chain");
    const account = main(page).locator("tbody tr").nth(1).locator("a[href^='/console/wallets/']");
    const address = present((await account.getAttribute("href"))?.replace(/.*\//, ""));

    // Registers, with a wrong port.
    const wrong = await freePort();
    await follow(page, "Webhooks");
    await page.getByRole("link", { name: "New webhook" }).click();
    await page.getByText("Enter the URL of your receiver.").waitFor();
    await page.getByLabel("URL of your receiver").fill(`http://127.0.0.1:${wrong}/payments`);
    await page.getByRole("radio", { name: /^Payments to an address/ }).check();
    expect(await main(page).getByRole("button", { name: "Register" }).isDisabled()).toBe(true);
    await page.getByLabel("Address", { exact: true }).fill("D12");
    await page.getByText("Expected: 34 letters and digits.").waitFor();
    await page.getByLabel("Address", { exact: true }).fill(address);
    await page.locator(".preview details").first().click();
    await page.getByText(`"recipientId": "${address}"`).first().waitFor();
    expect(await faultsInEveryView(page, "first-webhook-form")).toEqual([]);
    await press(page, "Register");
    await page.getByText("It is not shown again").waitFor();

    // Pays to the address.
    await follow(page, "Dev chain");
    await page.getByLabel("To", { exact: true }).fill(address);
    await press(page, "Pay");
    await main(page).locator("p[role=status] a[href^='/console/transactions/']").waitFor();

    // Finds the delivery, and reads why it failed.
    await follow(page, "Webhooks");
    await main(page).getByText("failing", { exact: true }).waitFor();
    await main(page).locator("tbody tr").first().getByRole("link").click();
    await main(page).getByText(`Nothing listens at 127.0.0.1:${wrong}.`).first().waitFor();
    await page.getByRole("table", { name: "Deliveries" }).getByRole("link").first().click();
    await page.getByRole("heading", { level: 1, name: "Delivery" }).waitFor();
    const delivery = page.url();
    const trouble = page.getByRole("region", { name: "What is wrong" });
    await trouble.getByText("Nothing listens at its target.").waitFor();
    await trouble.getByText("Start the receiver, or correct the host and the port in the target.").waitFor();
    await page.getByText(/^Next attempt/).waitFor();
    await page.getByText("Headers and signature").first().click();
    await page.getByText(/^webhook-signature: v1,BASE64 of HMAC-SHA256\(key, "msg_/m).waitFor();
    expect(await faultsInEveryView(page, "first-webhook-failed")).toEqual([]);
    expect(bodies).toEqual([]);

    // Corrects the port.
    await trouble.getByRole("link", { name: "Edit the target" }).click();
    await page.getByLabel("URL of your receiver").fill(`http://127.0.0.1:${portOf(receiver)}/payments`);
    await press(page, "Ping");
    await page.locator("#target-notes").getByText("The receiver accepted the ping").waitFor();
    await press(page, "Save");
    await page.getByLabel("Never send the 1 delivery in the queue").waitFor();
    expect(await faultsInEveryView(page, "first-webhook-save")).toEqual([]);
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();

    // Sees the payment arrive.
    await page.goto(delivery);
    await page.getByText("delivered", { exact: true }).waitFor();
    await page.getByText("The receiver accepted it.").waitFor();
    // The target of the first attempt was another one.
    await page.locator(".timeline > li").first().getByText("Nothing listens at its target.").waitFor();
    expect(await faultsInEveryView(page, "first-webhook-delivered")).toEqual([]);
    expect(bodies.filter((body) => body.includes(`"recipientId":"${address}"`))).toHaveLength(1);
    expect(faults).toEqual([]);
  });
});
