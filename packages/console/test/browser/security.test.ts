/** Foreign pages, names and texts cannot affect a signed-in browser. */
import { createServer, type IncomingHttpHeaders, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { present } from "@uniknode/protocol";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { signIn } from "../../test-support/browser.ts";
import { describeConsole } from "../../test-support/console-tests.ts";
import { createPayer } from "../../test-support/payments.ts";

/** Name of another owner that resolves to this machine. */
const FOREIGN_NAME = "evil.example";
const ARGUMENTS = [`--host-resolver-rules=MAP ${FOREIGN_NAME} 127.0.0.1`];
const MARKUP = `"><img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`;

describeConsole({ browserArguments: ARGUMENTS }, ({ node, openForAll, openSignedIn }) => {
  /** Server of another owner, on another port of the same machine: to cookies, that is the same host. */
  let other: Server;
  let otherUrl: string;
  /** Requests that browsers have sent to it. */
  const received: IncomingHttpHeaders[] = [];

  beforeAll(async () => {
    other = createServer(({ headers }, response) => {
      received.push(headers);
      response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>other</title>");
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    otherUrl = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    await node.client.dev.forge({ enabled: false });
  });
  afterAll(async () => {
    other?.closeAllConnections();
    other?.close();
  });

  const heightOf = async () => (await node.client.dev.snapshot()).data.head.height;
  const webhooksOf = async () => (await node.client.webhooks.list().page()).meta.totalCount;

  test("A page of another origin cannot show the console in a frame.", async () => {
    const { page } = await openSignedIn();
    await page.goto(otherUrl);
    await page.evaluate((url) => {
      const frame = document.createElement("iframe");
      frame.src = url;
      document.body.append(frame);
      return new Promise((resolve) => frame.addEventListener("load", resolve));
    }, `${node.url}/console/dev`);
    const [, frame] = page.frames();
    expect(frame?.url()).toMatch(/^chrome-error:/);
  });

  test.each([
    ["another port", () => otherUrl],
    ["another site", () => otherUrl.replace("127.0.0.1", "localhost")],
  ])("A page of %s reads nothing and changes nothing with the session.", async (_what, address) => {
    const { page } = await openSignedIn();
    const before = [await heightOf(), await webhooksOf()];
    await page.goto(address());
    const outcomes = await page.evaluate(async (operations) => {
      const webhook = {
        event: "block.applied",
        target: "http://127.0.0.1:9/",
        conditions: [{ key: "id", condition: "ne", value: "" }],
      };
      const ask = (path: string, init: RequestInit) =>
        fetch(operations + path, { credentials: "include", ...init }).then(
          (response) => `${response.type} ${response.status}`,
          () => "refused",
        );
      const body = JSON.stringify(webhook);
      const json = { "content-type": "application/json" };
      const outcomes = [
        await ask("/api/v2/webhooks", {}),
        await ask("/metrics", { mode: "no-cors" }),
        await ask("/api/v2/webhooks", { method: "POST", headers: json, body }),
        await ask("/api/v2/webhooks", { method: "POST", mode: "no-cors", body }),
        await ask("/api/v2/dev/mine", { method: "POST", mode: "no-cors", body: "{}" }),
        await ask("/api/v2/webhooks/1", { method: "DELETE" }),
      ];
      const form = document.createElement("form");
      form.method = "post";
      form.enctype = "text/plain";
      form.action = `${operations}/api/v2/dev/mine`;
      const frame = document.createElement("iframe");
      frame.name = "target";
      form.target = "target";
      document.body.append(frame, form);
      const sent = new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
      form.submit();
      await sent;
      return outcomes;
    }, `${node.url}/console/operations`);
    expect(outcomes.filter((outcome) => outcome !== "refused" && outcome !== "opaque 0")).toEqual([]);
    expect([await heightOf(), await webhooksOf()]).toEqual(before);
  });

  test("A server on another port receives the cookie, and gains no access with it, whatever headers it sets.", async () => {
    const { page } = await openSignedIn();
    const { data: webhook } = await node.client.webhooks.create({
      event: "block.applied",
      target: "http://127.0.0.1:9/",
      conditions: [{ key: "id", condition: "ne", value: "" }],
    });
    const before = [await heightOf(), await webhooksOf()];
    await page.goto(`${otherUrl}/console/`);
    // A link on a page of another site leads there too.
    await page.goto(`${otherUrl.replace("127.0.0.1", "localhost")}/`);
    await page.evaluate((url) => location.assign(url), `${otherUrl}/console/operations/`);
    await page.waitForURL(/operations/);
    const stolen = received.findLast(({ cookie }) => cookie !== undefined);
    expect(stolen?.cookie).toMatch(/^uniknode_console_\d+=/);

    const statuses: number[] = [];
    for (const [method, path] of [
      ["POST", `/operations/api/v2/webhooks/${webhook.id}/rotate`],
      ["DELETE", `/operations/api/v2/webhooks/${webhook.id}`],
      ["POST", "/operations/api/v2/dev/mine"],
      ["GET", "/operations/api/v2/webhooks"],
      ["GET", "/operations/api/v2/operations/options"],
      ["GET", "/operations/metrics"],
      ["POST", "/links"],
    ] as const) {
      statuses.push(await forged(method, path, String(stolen?.cookie)));
    }
    expect(statuses).toEqual(statuses.map(() => 401));
    expect([await heightOf(), await webhooksOf()]).toEqual(before);
    // It cannot sign out either.
    await forged("DELETE", "/session", String(stolen?.cookie));
    await page.goto(`${node.url}/console/webhooks`);
    await page.getByText("127.0.0.1:9").first().waitFor();
    await node.client.webhooks.remove(webhook.id);
  });

  /** Request of a program that pretends to be a page of the console. */
  const forged = (method: string, path: string, cookie: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = {
        cookie,
        origin: node.url,
        "content-type": "application/json",
        "sec-fetch-site": "same-origin",
      };
      request(`${node.url}/console${path}`, { method, headers }, (response) => {
        response.resume().on("end", () => resolve(present(response.statusCode)));
      })
        .on("error", reject)
        .end(method === "POST" ? "{}" : undefined);
    });

  test("Under a foreign name the page does not sign in, and a session of the real name is not sent there.", async () => {
    const { page } = await openSignedIn();
    const foreign = node.url.replace("127.0.0.1", FOREIGN_NAME);
    await page.goto(`${foreign}/console/sign-in`);
    await page.getByLabel("Webhook token").fill(node.token);
    await page.getByRole("main").getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    const status = await page.evaluate(async () => (await fetch("/console/operations/metrics")).status);
    expect(status).toBe(403);
  });

  test("Scripts cannot read the cookie, and stored data of a page contains no secret.", async () => {
    const { page } = await openSignedIn();
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({
      name: `uniknode_console_${new URL(node.url).port}`,
      httpOnly: true,
      sameSite: "Strict",
      path: "/console",
    });
    const visible = await page.evaluate(() =>
      JSON.stringify([
        document.cookie,
        { ...localStorage },
        { ...sessionStorage },
        location.href,
        history.state,
      ]),
    );
    expect(visible).not.toContain(present(cookie).value);
    expect(visible).not.toContain(node.token);
  });

  describe("Text that looks like markup is text", () => {
    let page: Page;
    let faults: string[];
    beforeAll(async () => {
      ({ page, faults } = await openForAll());
      await signIn(page, node.token);
    });

    async function expectText(path: string, shown: string): Promise<void> {
      await page.goto(path);
      await page.getByText(shown).first().waitFor();
      expect(await page.locator("main img[src=x], main script").count()).toBe(0);
      expect(await page.title()).not.toBe("taken");
      expect(faults).toEqual([]);
    }

    test("Markup in the conditions and target of a webhook, and in the body of its delivery, is shown as text.", async () => {
      const { data } = await node.client.webhooks.create({
        event: "block.applied",
        target: `http://127.0.0.1:9/${encodeURI("<script>")}?${"<b>bold</b>"}`,
        conditions: [{ key: "id", condition: "ne", value: MARKUP }],
      });
      await expectText(`/console/webhooks/${data.id}`, "onerror");
      await expectText("/console/webhooks", "127.0.0.1:9");
      const { data: pinged } = await node.client.webhooks.ping(data.id);
      await expectText(`/console/webhooks/${data.id}/${pinged.id}`, "ping");
      // The page of a removed webhook would request it once more.
      await page.goto("/console/blocks");
      await node.client.webhooks.remove(data.id);
    });

    test("Markup in the vendor field of a transaction is shown as text on every screen that shows it.", async () => {
      const pay = await createPayer(node);
      const id = await pay(MARKUP);
      await expectText(`/console/transactions/${id}`, "onerror");
      const { height } = (await node.client.dev.mine()).data.head;
      await expectText(`/console/transactions/${id}?view=json`, "onerror");
      await expectText(`/console/live?events=transaction.applied&from=${height}`, "transaction.applied");
      await page.locator("summary").first().click();
      await page.getByText("onerror").first().waitFor();
      expect(faults).toEqual([]);
    });

    test("Markup in the address of a page, and in the search, is shown as text.", async () => {
      await page.goto(`/console/transactions?senderId=${encodeURIComponent(MARKUP)}`);
      await page.locator("h1").waitFor();
      await page.goto(`/console/webhooks/new?events=${encodeURIComponent(MARKUP)}`);
      await page.getByText("onerror").first().waitFor();
      await page.locator("#search").fill(MARKUP);
      await page.getByText("No match for this").waitFor();
      expect(await page.locator("main img[src=x], main script").count()).toBe(0);
      expect(await page.title()).not.toBe("taken");
      // The node refuses such filters, and the browser logs every response that is not a success.
      expect(faults.filter((fault) => !/\b4\d\d\b/.test(fault))).toEqual([]);
    });
  });
});
