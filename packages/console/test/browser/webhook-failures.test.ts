/** The webhook desk with a failing receiver: its notices, and the correction without a loss. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { present } from "@uniknode/protocol";
import { afterAll, expect, test } from "vitest";
import { describeConsole } from "../../test-support/console-tests.ts";
import { faultsInEveryView } from "../../test-support/views.ts";

const conditions = [{ key: "id", condition: "ne", value: "" }] as const;

describeConsole({}, ({ node, reuseSignedIn }) => {
  const servers: Server[] = [];
  let received = 0;
  /** Statuses of the next responses of a receiver, before its own. */
  const first: number[] = [];

  /** Returns the URL of a receiver that responds with a status. */
  async function listen(status: number): Promise<string> {
    const server = createServer((request, response) => {
      request.resume();
      if (status === 204) received++;
      response.writeHead(first.shift() ?? status).end();
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }

  afterAll(async () => {
    for (const server of servers) server.close();
  });

  test("A failing receiver is shown everywhere; its target is corrected, and no delivery is lost.", async () => {
    const target = await listen(500);
    const { data } = await node.client.webhooks.create({
      name: "Shop",
      event: "block.applied",
      target,
      conditions,
    });
    await node.client.dev.mine({ blocks: 5 });
    await expect.poll(async () => (await node.client.webhooks.summary(data.id)).data.state).toBe("failing");
    const { page, faults } = await reuseSignedIn();
    await page.getByRole("link", { name: "1 webhook failing" }).waitFor();
    await page.getByRole("navigation", { name: "Screens" }).getByText("1 failing").waitFor();
    expect(await faultsInEveryView(page, "overview-failing")).toEqual([]);
    await page.goto("/console/webhooks");
    const row = page.getByRole("row").filter({ hasText: "Shop" });
    await row.getByText("failing", { exact: true }).waitFor();
    await row.getByText(/^0 ?% of \d+$/).waitFor();
    await page.goto(`/console/webhooks/${data.id}/edit`);
    await page.getByLabel("URL of your receiver").fill(await listen(204));
    await page.getByRole("textbox", { name: "Name" }).fill("Shop, moved");
    expect(await faultsInEveryView(page, "webhook-edit")).toEqual([]);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByLabel(/^Never send the \d+ deliveries in the queue$/).waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await page.getByRole("paragraph").filter({ hasText: "Saved" }).waitFor();
    await expect.poll(async () => (await node.client.webhooks.get(data.id)).data.queued).toBeUndefined();
    expect(received).toBeGreaterThanOrEqual(5);
    await page.goto(`/console/webhooks/${data.id}`);
    await page.getByText("Shop, moved").waitFor();
    await page.getByText("active", { exact: true }).waitFor();
    expect(faults).toEqual([]);
    await node.client.webhooks.remove(data.id);
  });

  test("Queued deliveries are sent now, a selection or all; the queue is dropped on request.", async () => {
    const target = await listen(500);
    const { data } = await node.client.webhooks.create({ event: "block.applied", target, conditions });
    await node.client.dev.mine({ blocks: 3 });
    // A new block would move the rows between two clicks.
    await node.client.dev.forge({ enabled: false });
    await expect
      .poll(async () => (await node.client.webhooks.get(data.id)).data.queued ?? 0)
      .toBeGreaterThan(2);
    // The first failures, too: they add a warning above the rows, and a reason to each.
    await expect.poll(async () => (await node.client.webhooks.summary(data.id)).data.state).toBe("failing");
    await expect
      .poll(async () => {
        const { data: deliveries } = await node.client.webhooks.deliveries(data.id).page();
        return deliveries.filter(({ attempts }) => attempts.length === 0);
      })
      .toEqual([]);
    const { page, faults } = await reuseSignedIn();
    await page.goto(`/console/webhooks/${data.id}`);
    const boxes = page.getByRole("checkbox", { name: /^Select delivery/ });
    await boxes.nth(0).check();
    await boxes.nth(1).check();
    await page.getByRole("button", { name: "Send 2 selected now" }).click();
    await page
      .getByRole("paragraph")
      .filter({ hasText: /^[012] deliver(y is|ies are) tried again now$/ })
      .waitFor();
    await page.getByRole("button", { name: "Send all undelivered now" }).click();
    await page
      .getByRole("paragraph")
      .filter({ hasText: /^\d+ deliveries are tried again now$/ })
      .waitFor();
    const never = page.getByRole("checkbox", { name: /^Never send the \d+ deliveries in the queue$/ });
    // A dialog that was cancelled asks again.
    for (const button of ["Cancel", "Close"]) {
      await page.getByRole("button", { name: "Pause" }).click();
      expect(await never.isChecked()).toBe(false);
      await never.check();
      await page.getByRole("dialog").getByRole("button", { name: button }).click();
      await never.waitFor({ state: "detached" });
    }
    await page.getByRole("button", { name: "Pause" }).click();
    expect(await never.isChecked()).toBe(false);
    await never.check();
    expect(await faultsInEveryView(page, "webhook-pause")).toEqual([]);
    await page.getByRole("dialog").getByRole("button", { name: "Pause" }).click();
    await page.getByText("Paused; the queue is dropped").first().waitFor();
    await expect
      .poll(
        async () =>
          (await node.client.webhooks.deliveries(data.id, { state: "cancelled" }).page()).data.length,
      )
      .toBeGreaterThan(2);
    expect(faults).toEqual([]);
    await node.client.webhooks.remove(data.id);
    await node.client.dev.forge({ enabled: true });
  });

  test("The durations of attempts are a chart; each attempt shows its own status.", async () => {
    const { webhooks, dev } = node.client;
    await dev.forge({ enabled: false });
    first.push(503, 503);
    const target = await listen(500);
    const { data } = await webhooks.create({ event: "block.applied", target, conditions });
    await dev.mine();
    const log = async () => (await webhooks.deliveries(data.id).page()).data;
    await expect.poll(async () => (await log())[0]?.attempts.length).toBeGreaterThanOrEqual(1);
    const [delivery] = await log();
    for (const attempts of [2, 3]) {
      await webhooks.retry(data.id, present(delivery).id);
      await expect.poll(async () => (await log())[0]?.attempts.length).toBeGreaterThanOrEqual(attempts);
    }
    const { page, faults } = await reuseSignedIn();
    await page.goto(`/console/webhooks/${data.id}`);
    await page
      .getByRole("img", { name: /^Duration of the last \d+ attempts: at most .* ms, \d+ failed$/ })
      .waitFor();
    await page.getByText("0 accepted", { exact: true }).waitFor();
    expect(await faultsInEveryView(page, "webhook-durations")).toEqual([]);
    await page.goto(`/console/webhooks/${data.id}/${present(delivery).id}`);
    const attempts = page.locator(".timeline > li").filter({ hasText: /^Attempt/ });
    for (const [index, status] of [503, 503, 500].entries()) {
      await attempts.nth(index).getByText(`The receiver failed (HTTP ${status}).`).waitFor();
    }
    expect(await faultsInEveryView(page, "delivery-attempts")).toEqual([]);
    expect(faults).toEqual([]);
    await webhooks.remove(data.id);
    await dev.forge({ enabled: true });
  });

  test("A refused ping is explained beside the URL; warnings are shown in the preview and after the registration.", async () => {
    const { page, faults } = await reuseSignedIn();
    const item = [{ key: "heigth", condition: "gt", value: "2" }];
    const draft = { events: "block.applied", conditions: JSON.stringify(item), target: await listen(401) };
    await page.goto(`/console/webhooks/new?${new URLSearchParams(draft)}`);
    await page.getByRole("button", { name: "Ping" }).click();
    await page
      .locator("#target-notes")
      .getByText(/^The receiver refused the sender \(HTTP 401\)\..* it needs the secret first/)
      .waitFor();
    await page.getByText('did you mean "height"?').waitFor();
    expect((await node.client.webhooks.health()).data.active).toBe(0);
    await page.getByRole("button", { name: "Register" }).click();
    await page.getByText("It is not shown again").waitFor();
    await page.getByText('did you mean "height"?').waitFor();
    expect(await faultsInEveryView(page, "webhook-warned")).toEqual([]);
    expect(faults).toEqual([]);
  });
});
