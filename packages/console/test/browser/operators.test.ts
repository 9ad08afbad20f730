/** The live tail and the state of the node, for a signed-in browser. */
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { describeConsole } from "../../test-support/console-tests.ts";
import { faultsInEveryView } from "../../test-support/views.ts";

describeConsole({}, ({ node, open, openForAll }) => {
  let page: Page;
  let faults: string[];

  beforeAll(async () => {
    await node.client.dev.forge({ enabled: false });
    ({ page, faults } = await openForAll());
    await page.goto(node.consoleUrl);
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  });

  const rows = () => page.locator(".live-event");

  test("Without a sign-in no stream is requested, and the page names what it needs.", async () => {
    const signedOut = await open();
    await signedOut.page.goto("/console/live");
    await signedOut.page.getByText("Sign in to see live events").waitFor();
    expect(signedOut.faults).toEqual([]);
    await signedOut.page.context().close();
  });

  test("Events since a block precede live ones; a reorganisation marks retracted events.", async () => {
    const { height } = (await node.client.dev.mine()).data.head;
    await page.goto(`/console/live?events=block.applied&from=${height}`);
    await rows().first().waitFor();
    expect(await rows().count()).toBe(1);
    const { head } = (await node.client.dev.mine()).data;
    await rows()
      .filter({ hasText: head.id.slice(0, 8) })
      .waitFor();
    const { head: newest } = (await node.client.dev.reorg({ depth: 1 })).data;
    const retracted = page.locator(".live-event.retracted");
    await retracted.waitFor();
    expect(await retracted.textContent()).toContain(head.id.slice(0, 8));
    await retracted.locator("summary").click();
    await page.getByText(`"blockId": "${head.id}"`).waitFor();
    // The next test counts the rows.
    await rows()
      .filter({ hasText: newest.id.slice(0, 8) })
      .waitFor();
    expect(await faultsInEveryView(page, "live")).toEqual([]);
  });

  test("A pause queues new events.", async () => {
    const before = await rows().count();
    await page.getByRole("button", { name: "Pause" }).click();
    await node.client.dev.mine({ blocks: 2 });
    await page.getByRole("button", { name: "Resume (2 new)" }).click();
    await expect.poll(() => rows().count()).toBe(before + 2);
    await page.getByRole("button", { name: "Empty" }).click();
    await page.getByText("Waiting for the next event").waitFor();
    expect(faults).toEqual([]);
  });

  test("A filter that the node does not know is refused with a message.", async () => {
    await page.goto("/console/live?events=nothing.at.all");
    await page.getByRole("alert").getByText("nothing.at.all").waitFor();
    // The browser logs every response that is not a success.
    expect(faults.splice(0)).toEqual([expect.stringContaining("422")]);
  });

  test("The node shows its checks, its figures, its options, and that it has no peers.", async () => {
    await page.goto("/console/node");
    await page.getByText("ready", { exact: true }).waitFor();
    await page.getByRole("heading", { name: "Forger" }).waitFor();
    expect(await page.getByRole("list", { name: "Checks" }).getByText("passes").count()).toBe(5);
    await page.getByText("No known peers").waitFor();
    await page.getByRole("table", { name: "Options" }).getByText("--http-port").waitFor();
    await page.getByRole("heading", { name: "The last hours" }).waitFor();
    expect(await faultsInEveryView(page, "node")).toEqual([]);
    const options = page.getByRole("table", { name: "Options" }).locator("tbody tr");
    expect(await options.filter({ hasText: "default" }).count()).toBe(0);
    await page.getByRole("searchbox", { name: "Search the options" }).fill("POOLSIZE");
    await page.getByText(/^1 of \d+ options/).waitFor();
    expect(await options.locator("td:first-child").allInnerTexts()).toEqual(["poolSize"]);
    await page.getByRole("searchbox", { name: "Search the options" }).fill("no such option");
    await page.getByText("No option matches").waitFor();
    await page.getByRole("searchbox", { name: "Search the options" }).fill("");
    await page.getByRole("button", { name: "Show all" }).click();
    await expect.poll(() => options.filter({ hasText: "default" }).count()).toBeGreaterThan(40);
    expect(await faultsInEveryView(page, "node-options")).toEqual([]);
  });

  test("The chart of the head's age omits the first sample, the time for which the node was stopped.", async () => {
    await page.route("**/operations/series*", async (route) => {
      const response = await route.fetch();
      const { data } = (await response.json()) as { data: { figures: object } };
      const figures = { ...data.figures, headAgeSeconds: [86_400, 3, 9] };
      await route.fulfill({ response, json: { data: { ...data, times: [1, 2, 3], figures } } });
    });
    await page.reload();
    await page.getByRole("img", { name: /^Age of the head .*: 3 s to 9 s/ }).waitFor();
    await page.unroute("**/operations/series*");
  });

  test("A failed check is in the header, with its reason.", async () => {
    await page.route("**/operations/node", async (route) => {
      const response = await route.fetch();
      const { data } = (await response.json()) as { data: { checks: object } };
      const checks = { ...data.checks, disk: { ok: false, detail: "not writable" } };
      await route.fulfill({ response, json: { data: { ...data, checks } } });
    });
    // A chain that stands still would be the first reason.
    await node.client.dev.forge({ enabled: true });
    await page.reload();
    await page.getByRole("link", { name: "The node is not ready: not writable" }).waitFor();
    await page.unroute("**/operations/node");
  });

  test("A slot that this node missed is shown with its reason.", async () => {
    await page.route("**/operations/node", async (route) => {
      const response = await route.fetch();
      const { data } = (await response.json()) as { data: { forger: object } };
      const timestamp = { epoch: 0, unix: Math.floor(Date.now() / 1_000), human: "" };
      const lastMissed = [{ publicKey: `02${"ab".repeat(32)}`, slot: 7, timestamp, reason: "signed_before" }];
      await route.fulfill({ response, json: { data: { ...data, forger: { ...data.forger, lastMissed } } } });
    });
    await page.reload();
    await page.getByText("already signed this slot or a later one").waitFor();
    await page.getByRole("heading", { name: "Missed slots of this node, also before the start" }).waitFor();
    await page.getByText("Missed since the start", { exact: true }).waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    expect(faults).toEqual([]);
  });
});
