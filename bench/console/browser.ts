/** Cost of a page of the console for the browser. */
import {
  builders,
  bytesToHex,
  createNetwork,
  keysFromPassphrase,
  networkFilesFromJson,
  signTransaction,
  transactionToJson,
} from "@uniknode/protocol";
import type { Browser, CDPSession, Page } from "playwright-core";
import type { DevNode } from "../../packages/console/test-support/dev-node.ts";
import { present } from "../../packages/node/src/platform/present.ts";
import { percentile } from "../node/node.ts";

const median = (numbers: readonly number[]): number => percentile(numbers, 0.5);
const RUNS = 5;
const TRANSACTIONS = 500;
const BATCH = 40;
/** Blocks per request of the command `mine`. */
const BLOCKS_AT_ONCE = 500;
const STEPS = 4;
/** Time for a page to show a new head and become idle again. */
const SETTLE_MS = 2_000;

async function open(browser: Browser, path: string): Promise<{ page: Page; cdp: CDPSession }> {
  // Animation frames follow the block if the user enables them: they are not part of its cost.
  const context = await browser.newContext({
    viewport: { width: 1_400, height: 900 },
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  // CPU time of the main thread: wall time would include the node and the rest of the browser.
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.goto(path);
  await page.locator("h1").waitFor();
  await page.waitForTimeout(SETTLE_MS);
  return { page, cdp };
}

export async function measureFirstPaint(node: DevNode, browser: Browser): Promise<void> {
  const paints: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const { page } = await open(browser, `${node.url}/console/`);
    const [entry] = await page.evaluate(() =>
      performance.getEntriesByName("first-contentful-paint").map(({ startTime }) => startTime),
    );
    paints.push(present(entry, "the first paint"));
    await page.context().close();
  }
  console.log(
    `first paint: median ${median(paints).toFixed(0)} ms of ${RUNS} empty caches (${paints.map((ms) => ms.toFixed(0)).join(", ")})`,
  );
}

/** CPU time of the main thread of the page by kind of work, in seconds. */
async function workedSeconds(cdp: CDPSession): Promise<Readonly<Record<string, number>>> {
  const { metrics } = await cdp.send("Performance.getMetrics");
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}

async function heapBytes(cdp: CDPSession): Promise<number> {
  await cdp.send("HeapProfiler.collectGarbage");
  return present((await workedSeconds(cdp)).JSHeapUsedSize);
}

async function fillPool(node: DevNode): Promise<void> {
  const [{ data: files }, { data: accounts }] = await Promise.all([
    node.client.node.cryptoConfiguration(),
    node.client.dev.accounts(),
  ]);
  const network = createNetwork(networkFilesFromJson(files));
  const [account] = accounts.accounts;
  const { address, passphrase } = present(account);
  const keys = keysFromPassphrase(passphrase);
  const senderPublicKey = bytesToHex(keys.publicKey);
  const { data: wallet } = await node.client.wallets.get(address);
  let nonce = BigInt(wallet.nonce);
  for (let made = 0; made < TRANSACTIONS; ) {
    const batch = [];
    for (; batch.length < BATCH && made < TRANSACTIONS; made++) {
      nonce += 1n;
      const body = builders.transfer({ network, senderPublicKey, nonce, recipientId: address, amount: 1n });
      batch.push(transactionToJson(signTransaction(body, keys)));
    }
    const { data } = await node.client.transactions.submit(
      batch as Parameters<typeof node.client.transactions.submit>[0],
    );
    if (data.invalid.length > 0) throw new Error("the pool refused a transaction");
  }
}

/**
 * Work of the main thread from the arrival of a block until the page is idle, in milliseconds. `page` is script, style and
 * layout, which the console determines; `all` includes painting, which runs without a graphics card.
 */
async function workOfBlock(
  node: DevNode,
  cdp: CDPSession,
  page: Page,
): Promise<{ readonly page: number; readonly all: number }> {
  const before = await workedSeconds(cdp);
  // Waiting for a text would cause work in the page.
  await node.client.dev.mine();
  await page.waitForTimeout(SETTLE_MS);
  const after = await workedSeconds(cdp);
  await page.waitForTimeout(SETTLE_MS);
  const idle = await workedSeconds(cdp);
  // The clock of the page and its requests continue without a block.
  const of = (name: string) => {
    const [start, middle, end] = [before, after, idle].map((seconds) => present(seconds[name], name)) as [
      number,
      number,
      number,
    ];
    return Math.max(0, middle - start - (end - middle)) * 1_000;
  };
  return {
    page: of("ScriptDuration") + of("LayoutDuration") + of("RecalcStyleDuration"),
    all: of("TaskDuration"),
  };
}

export async function measureBlock(node: DevNode, browser: Browser): Promise<void> {
  for (const path of ["/console/", "/console/blocks", "/console/transactions"]) {
    const { page, cdp } = await open(browser, node.url + path);
    for (const transactions of [0, TRANSACTIONS]) {
      const works: { readonly page: number; readonly all: number }[] = [];
      for (let run = 0; run < RUNS; run++) {
        if (transactions > 0) await fillPool(node);
        await page.waitForTimeout(SETTLE_MS);
        works.push(await workOfBlock(node, cdp, page));
      }
      const [ofPage, all] = [works.map((work) => work.page), works.map((work) => work.all)];
      console.log(
        `${path}: a block of ${transactions} transactions, processor time of the main thread, medians of ${RUNS}: ` +
          `script, style and layout ${median(ofPage).toFixed(1)} ms, with drawing ${median(all).toFixed(1)} ms`,
      );
    }
    await page.context().close();
  }
}

export async function measureHeap(node: DevNode, browser: Browser, blocks: number): Promise<void> {
  const { page, cdp } = await open(browser, `${node.url}/console/`);
  const heaps = [await heapBytes(cdp)];
  for (let step = 0; step < STEPS; step++) {
    for (let mined = 0; mined < blocks / STEPS; mined += BLOCKS_AT_ONCE) {
      await node.client.dev.mine({ blocks: Math.min(BLOCKS_AT_ONCE, blocks / STEPS - mined) });
      await page.waitForTimeout(500);
    }
    await page.waitForTimeout(SETTLE_MS);
    heaps.push(await heapBytes(cdp));
  }
  console.log(
    `heap over ${blocks} blocks, after a collection, MiB: ${heaps.map((bytes) => (bytes / 2 ** 20).toFixed(1)).join(", ")}`,
  );
  await page.context().close();
}
