/**
 * `npm run pictures`
 *
 * Creates the pictures of docs/guides/console.md in Chromium, from a dev chain with some activity.
 */

import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { EVERY_EVENT } from "@uniknode/client";
import type { Page } from "playwright-core";
import { findBrowser } from "../packages/console/test-support/browser.ts";
import { startConsole } from "../packages/console/test-support/console.ts";
import type { DevNode } from "../packages/console/test-support/dev-node.ts";
import { present } from "../packages/node/src/platform/present.ts";

const FOLDER = join(import.meta.dirname, "../docs/pictures");
const VIEW = { width: 1_200, height: 750 };
/** Waits until a page has loaded all data. */
const SETTLE_MS = 2_500;

const executable = findBrowser();
if (!executable) throw new Error("no Chromium: install Debian's package chromium");
mkdirSync(FOLDER, { recursive: true });
const { node, browser, stop } = await startConsole(executable);
// Refuses every third delivery.
let received = 0;
const receiver = createServer((request, response) => {
  request.resume();
  response.writeHead(received++ % 3 === 0 ? 503 : 204).end();
});
try {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  await pay(node, `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`);
  const context = await browser.newContext({ viewport: VIEW, locale: "en-US", reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.goto(node.consoleUrl);
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  await quietRound(node, page);
  await save(page, "overview");
  const delivery = await revert(node);
  const [transaction] = (await node.client.transactions.list().page({ limit: 1 })).data;
  await picture(page, "bytes", `${node.url}/console/transactions/${present(transaction).id}?view=bytes`);
  await page.emulateMedia({ colorScheme: "dark" });
  await picture(page, "webhook", `${node.url}/console/webhooks/1`);
  await picture(page, "retraction", `${node.url}/console/webhooks/1/${delivery}`);
} finally {
  receiver.closeAllConnections();
  receiver.close();
  await stop();
}

/** Causes transfers, and deliveries that partly fail. */
async function pay({ client, command }: DevNode, target: string): Promise<void> {
  const conditions = [EVERY_EVENT];
  await client.webhooks.create({ events: ["block.applied", "transaction.*"], target, conditions });
  for (let count = 0; count < 3; count++) await command(["trigger", "transaction.applied"]);
}

/** Shows the overview of a round without a missed slot, for which a busy machine may need several rounds. */
async function quietRound({ client, url }: DevNode, page: Page): Promise<void> {
  do {
    // Mined blocks have one slot after the other.
    await client.dev.mine({ blocks: 2 * (await client.node.configuration()).data.constants.activeDelegates });
    await show(page, `${url}/console/`);
  } while ((await page.locator(".slot.missed").count()) > 0);
}

/** Causes a reorganization. Returns the number of a retracted delivery. */
async function revert({ client }: DevNode): Promise<number> {
  await client.dev.forge({ enabled: false });
  const { head } = (await client.dev.mine({ blocks: 12 })).data;
  for (;;) {
    const { data } = await client.webhooks.deliveries(1, { height: head.height, state: "delivered" }).page();
    const [delivered] = data;
    if (delivered) {
      await client.dev.reorg({ depth: 1 });
      return delivered.id;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function picture(page: Page, name: string, url: string): Promise<void> {
  await show(page, url);
  await save(page, name);
}

async function show(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.locator("h1").waitFor();
  await page.waitForTimeout(SETTLE_MS);
}

async function save(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(FOLDER, `${name}.png`) });
  console.log(`docs/pictures/${name}.png`);
}
