/**
 * Lifetime and scope of a session: across restarts, in other tabs, beside another node of the same machine.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { present } from "@uniknode/protocol";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { freePort } from "../../../node/test-support/peers/world.ts";
import { type Running, spawnUniknode } from "../../../node/test-support/process/uniknode.ts";
import { closePages, findBrowser, openPage, shareBrowser } from "../../test-support/browser.ts";

const executable = findBrowser();
/** Webhook token of each node. */
const TOKENS = ["first-node", "second-node"] as const;
type Index = 0 | 1;

describe.skipIf(!executable)("In a browser", () => {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-sessions-"));
  const ports: number[] = [];
  let nodes: Running[] = [];
  let browser: Browser;
  let context: BrowserContext;
  const urlOf = (node: Index) => `http://127.0.0.1:${ports[node]}`;

  async function startNode(number: Index): Promise<Running> {
    const data = ["--data", join(folder, `${number}`), "--http-port", `${ports[number]}`];
    const node = spawnUniknode(["dev", ...data, "--webhook-token", TOKENS[number]]);
    await node.printed(/Ctrl-C stops/);
    return node;
  }

  async function stopNode({ child, ended }: Running): Promise<void> {
    child.kill("SIGTERM");
    await ended;
  }

  beforeAll(async () => {
    // A restarted node keeps its port, as a session needs it.
    for (const _ of TOKENS) ports.push(await freePort());
    [browser, ...nodes] = await Promise.all([shareBrowser(present(executable)), startNode(0), startNode(1)]);
  });
  beforeEach(async () => {
    context = (await openPage(browser, urlOf(0))).page.context();
  });
  afterEach(() => context.close());
  afterAll(async () => {
    await closePages(browser);
    await Promise.all(nodes.map(stopNode));
    rmSync(folder, { recursive: true, force: true });
  });

  async function signIn(number: Index): Promise<Page> {
    const page = await context.newPage();
    await page.goto(`${urlOf(number)}/console/sign-in`);
    await page.getByLabel("Webhook token").fill(TOKENS[number]);
    await page.getByRole("main").getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    return page;
  }

  /** The page of the dev chain has its commands only while it is signed in. */
  async function expectSignedIn(page: Page, number: Index): Promise<void> {
    await page.goto(`${urlOf(number)}/console/dev`);
    await page.getByRole("button", { name: "Sign out" }).waitFor();
    const [cookies, status] = [
      await context.cookies(),
      await page.evaluate(async () => (await fetch("/console/operations/metrics")).status),
    ];
    expect(cookies.map(({ name }) => name)).toContain(`uniknode_console_${ports[number]}`);
    // A request of the page without the key is refused.
    expect(status).toBe(401);
  }

  test("Two nodes on one machine keep their sign-ins.", async () => {
    const [one, other] = [await signIn(0), await signIn(1)];
    await expectSignedIn(one, 0);
    await expectSignedIn(other, 1);
    await other.getByRole("button", { name: "Sign out" }).click();
    await other.getByRole("button", { name: "Sign out" }).waitFor({ state: "detached" });
    await expectSignedIn(one, 0);
  });

  test("A second tab is signed in as well, and signs out with the first one.", async () => {
    const one = await signIn(0);
    const beside = await context.newPage();
    await expectSignedIn(beside, 0);
    await one.getByRole("button", { name: "Sign out" }).click();
    await beside.getByRole("button", { name: "Sign out" }).waitFor({ state: "detached" });
  });

  test("After a restart of a dev chain the page is still signed in, and can make changes.", async () => {
    const page = await signIn(0);
    await stopNode(present(nodes[0]));
    nodes[0] = await startNode(0);
    await page.reload();
    await expectSignedIn(page, 0);
    await page.goto(`${urlOf(0)}/console/docs/api`);
    const mined = await page.evaluate(async () => {
      const key = sessionStorage.getItem("uniknode-session-key") ?? "";
      const headers = { "content-type": "application/json", "x-session-key": key };
      const path = "/console/operations/api/v2/dev/mine";
      return (await fetch(path, { method: "POST", headers, body: "{}" })).status;
    });
    expect(mined).toBe(200);
  });
});
