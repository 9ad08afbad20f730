/** The webhook desk against a real receiver that refuses some deliveries. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { present } from "@uniknode/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeConsole } from "../../test-support/console-tests.ts";
import { faultsInEveryView } from "../../test-support/views.ts";

const REASON = "not now <script>document.title = 'markup'</script>";

describeConsole({}, ({ node, reuseSignedIn }) => {
  let receiver: Server;
  let target: string;
  let isRefusing = true;
  /** Bodies of the last requests, by path. */
  const bodies: Record<string, Promise<string>> = {};

  beforeAll(async () => {
    receiver = createServer((request, response) => {
      bodies[request.url ?? ""] = text(request);
      response.writeHead(isRefusing ? 500 : 204).end(isRefusing ? REASON : undefined);
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
    const conditions = [{ key: "id", condition: "ne", value: "" }] as const;
    await node.client.webhooks.create({ event: "block.applied", target, conditions });
    await node.client.dev.mine({ blocks: 2 });
  });
  afterAll(async () => {
    receiver?.closeAllConnections();
    receiver?.close();
  });

  test("A refused delivery shows its attempts as text, and a successful one is sent again.", async () => {
    // A newer delivery would move the rows, and has no attempt while the target fails.
    await node.client.dev.forge({ enabled: false });
    const { page, faults } = await reuseSignedIn();
    await page.getByRole("link", { name: "Webhooks" }).click();
    // The overview has a link to block 1.
    await page.getByRole("heading", { level: 1, name: "Webhooks" }).waitFor();
    await page.getByRole("link", { name: "1", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Webhook 1" }).waitFor();
    await page.getByText("HTTP 500").first().waitFor();
    expect(await faultsInEveryView(page, "webhook")).toEqual([]);
    await page.getByRole("row").filter({ hasText: "HTTP 500" }).first().getByRole("link").first().click();
    await page.getByRole("heading", { level: 1, name: "Delivery" }).waitFor();
    await page.getByText(REASON).first().waitFor();
    expect(await page.title()).not.toBe("markup");
    await page.getByText("Headers and signature").first().click();
    await page
      .getByRole("region", { name: "response headers of attempt 1" })
      .getByText("connection: keep-alive")
      .waitFor();
    await page.getByText("Edit and send to another URL").click();
    await page.getByLabel("URL", { exact: true }).fill(`${target}other`);
    await page.getByLabel("Body", { exact: true }).fill('{ "edited": true }');
    await page.getByRole("button", { name: "Send once" }).click();
    await page.getByRole("paragraph").filter({ hasText: "The receiver did not accept the body." }).waitFor();
    expect(await faultsInEveryView(page, "delivery")).toEqual([]);
    isRefusing = false;
    await page.getByRole("button", { name: "Send once" }).click();
    await page.getByRole("paragraph").filter({ hasText: "The receiver accepted the body: 204" }).waitFor();
    expect(await bodies["/other"]).toBe('{ "edited": true }');
    await node.client.webhooks.retryAll(1, { state: "all" });
    await page.goto("/console/webhooks/1?state=delivered");
    await page.getByRole("row").nth(1).getByRole("link").first().click();
    await page.getByText("delivered", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Send again" }).click();
    await page.getByRole("paragraph").filter({ hasText: "It is sent again" }).waitFor();
    expect(faults).toEqual([]);
  });

  test("A webhook is pinged, paused, resumed and deleted.", async () => {
    const { page, faults } = await reuseSignedIn();
    isRefusing = false;
    // The dialog would ask about pending deliveries, too.
    await node.client.dev.forge({ enabled: false });
    await node.client.webhooks.retryAll(1, { state: "all" });
    await expect.poll(async () => (await node.client.webhooks.get(1)).data.queued).toBeUndefined();
    await page.goto("/console/webhooks/1");
    isRefusing = true;
    await page.getByRole("button", { name: "Ping" }).click();
    await page.locator("p.bad-text").getByText("The receiver did not accept the ping.").waitFor();
    isRefusing = false;
    await page.getByRole("button", { name: "Ping" }).click();
    await page.getByRole("paragraph").filter({ hasText: "The receiver accepted the ping: 204" }).waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/^Until you press Resume, new events are not delivered; /).waitFor();
    expect(await dialog.getByRole("checkbox").count()).toBe(0);
    await dialog.getByRole("button", { name: "Pause" }).click();
    await page.getByText("paused", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("active", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("No webhooks yet").waitFor();
    await node.client.dev.forge({ enabled: true });
    // A refresh of the page that overtakes the response to its deletion finds no webhook, which the browser logs.
    expect(faults.filter((fault) => !fault.includes("404"))).toEqual([]);
  });

  test("A webhook is created from a filter: tried on the past, refused with the reason, registered, its secret shown once.", async () => {
    isRefusing = false;
    const { page, faults } = await reuseSignedIn();
    const conditions = JSON.stringify([{ key: "height", condition: "gt", value: "2" }]);
    await page.goto(`/console/webhooks/new?${new URLSearchParams({ events: "block.applied", conditions })}`);
    await page.getByText(/events? match(es)?, 2 do not/).waitFor();
    await page.locator(".preview details").first().click();
    await page
      .getByText(/"height": \d+/)
      .first()
      .waitFor();
    await page.getByText("block 1: height is 1").waitFor();
    await page.getByLabel("Value", { exact: true }).fill("1");
    await page.getByText(/events? match(es)?, 1 does not/).waitFor();
    await page.getByLabel("Member of the content", { exact: true }).fill("payloadHash");
    await page.getByLabel("Condition", { exact: true }).selectOption("matches the pattern");
    await page.getByLabel("Value", { exact: true }).fill("(");
    await page.getByRole("alert").getByText("The preview cannot be shown").waitFor();
    // The browser logs every response that is not a success.
    expect(faults.splice(0).filter((fault) => !fault.includes("422"))).toEqual([]);
    await page.getByLabel("Value", { exact: true }).fill("1");
    await page.getByLabel("Member of the content", { exact: true }).fill("height");
    await page.getByLabel("Condition", { exact: true }).selectOption("is greater than");
    await page.getByText(/events? match(es)?, 1 does not/).waitFor();
    await page.getByLabel("URL of your receiver").fill("http://user:password@127.0.0.1/");
    expect(await faultsInEveryView(page, "webhook-new")).toEqual([]);
    await page.getByRole("button", { name: "Register" }).click();
    await page.getByRole("alert").getByText('"target"').waitFor();
    expect(faults.splice(0).filter((fault) => !fault.includes("422"))).toEqual([]);
    await page.getByLabel("URL of your receiver").fill(target);
    await page.getByRole("button", { name: "Ping" }).click();
    await page
      .locator("#target-notes")
      .getByText(/^The receiver accepted the ping with HTTP 204/)
      .waitFor();
    await page.getByLabel("URL of your receiver").press("Enter");
    await page.getByText("It is not shown again").waitFor();
    const secret = present(await page.getByRole("region", { name: "secret" }).textContent());
    expect(secret).toMatch(/^whsec_/);
    await page.getByRole("button", { name: "Ping the receiver" }).click();
    await page.getByRole("paragraph").filter({ hasText: "accepted the ping: 204" }).waitFor();
    await page.getByRole("tab", { name: "Go" }).click();
    await page.getByText("package main").waitFor();
    expect(await faultsInEveryView(page, "webhook-secret")).toEqual([]);
    expect(page.url()).not.toContain(secret);
    await page.getByRole("link", { name: "To the webhook" }).click();
    await page.getByRole("heading", { name: "Deliveries" }).waitFor();
    const kept = await page.evaluate(() =>
      JSON.stringify([document.body.innerText, localStorage, sessionStorage]),
    );
    expect(kept).not.toContain(secret);
    expect(faults).toEqual([]);
  });

  test("A webhook replays the past with an estimate, gets a new secret, and shows a fact beside its retraction.", async () => {
    isRefusing = false;
    const conditions = [{ key: "id", condition: "ne", value: "" }] as const;
    const { data } = await node.client.webhooks.create({ event: "block.applied", target, conditions });
    const { page, faults } = await reuseSignedIn();
    await page.goto(`/console/webhooks/${data.id}`);
    // Before the head is known, both heights are 1.
    await expect.poll(() => page.getByLabel("To height").inputValue()).not.toBe("1");
    // One click does not replay the whole chain.
    await page.getByText("1 block, about 1 delivery, judged by the last").waitFor();
    await page.getByLabel("From height").fill("1");
    await page.getByText(/^\d+ blocks, about \d+ deliveries, judged by the last/).waitFor();
    await page.getByLabel("To height").fill("3");
    await page.getByText("3 blocks, about 3 deliveries").waitFor();
    await page.getByRole("button", { name: "Replay", exact: true }).click();
    await page.getByText("Replay of the blocks 1 to 3: finished, 3 deliveries").waitFor();
    await page.getByRole("button", { name: "Rotate the secret" }).click();
    await page.getByRole("dialog").getByLabel("The previous secret stays valid for").selectOption("an hour");
    await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click();
    await page.getByText("is valid until").waitFor();
    await page.locator(".page-head + .sentence").getByText("It is not shown again").waitFor();
    expect(await faultsInEveryView(page, "webhook-rotated")).toEqual([]);

    // Otherwise the chain could forge a block before the reorganisation, which would revert that block instead.
    await node.client.dev.forge({ enabled: false });
    const { head } = (await node.client.dev.mine()).data;
    const factOf = async () => {
      const { data: found } = await node.client.webhooks.deliveries(data.id, { height: head.height }).page();
      return found.find(
        ({ blockId, reverts, state }) => blockId === head.id && !reverts && state === "delivered",
      );
    };
    await expect.poll(factOf).toBeDefined();
    await node.client.dev.reorg({ depth: 1 });
    await page.goto(`/console/webhooks/${data.id}/${present(await factOf()).id}`);
    const retraction = page.getByRole("article", { name: "Retraction" });
    await retraction.getByText("block.reverted").first().waitFor();
    await page.getByRole("article", { name: "Fact" }).getByText("block.applied").first().waitFor();
    expect(await faultsInEveryView(page, "webhook-retraction")).toEqual([]);
    await page.getByText("Equivalent commands and code").click();
    await page.getByText(`-H 'webhook-id:`).waitFor();
    expect(faults).toEqual([]);
  });
});
