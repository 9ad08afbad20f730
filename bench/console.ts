/**
 * `npm run bench -- console [--blocks N] [--consoles N] [--seconds N]`
 *
 * Measures the cost of the console for browser and node: the first paint, a block of 500 transactions, the heap over many
 * blocks, and the speed of the API with and without open consoles, alternating.
 */
import { findBrowser } from "../packages/console/test-support/browser.ts";
import { startConsole } from "../packages/console/test-support/console.ts";
import { readArguments } from "../tools/arguments.ts";
import { measureBlock, measureFirstPaint, measureHeap } from "./console/browser.ts";
import { measureApi } from "./console/consoles.ts";

const { values } = readArguments("bench console", {
  options: {
    blocks: { type: "string", default: "10000" },
    consoles: { type: "string", default: "200" },
    seconds: { type: "string", default: "10" },
  },
});

const executable = findBrowser();
if (!executable) throw new Error("no Chromium: install Debian's package chromium");
const { node, browser, stop } = await startConsole(executable);
try {
  await node.client.dev.forge({ enabled: false });
  await measureFirstPaint(node, browser);
  await measureApi(node, { consoles: Number(values.consoles), seconds: Number(values.seconds) });
  await measureBlock(node, browser);
  await measureHeap(node, browser, Number(values.blocks));
} finally {
  await stop();
}
