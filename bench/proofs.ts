/** `npm run bench -- proofs`: bytes of proofs of 23 delegates, and the time of their verification in Node.js and in Chromium. */
import { gzipSync } from "node:zlib";
import { verifyProof } from "@uniknode/client/proofs";
import { provenExample } from "../packages/client/test-support/proofs/example.ts";
import { createRandom } from "../packages/client/test-support/proofs/scene.ts";
import { findBrowser, openPage, startBrowser } from "../packages/console/test-support/browser.ts";
import { buildVerifier, verifyInPage } from "../packages/console/test-support/proofs.ts";

const RUNS = 100;
const executable = findBrowser();
const browser = executable === undefined ? undefined : await startBrowser(executable);
const { page } = browser ? await openPage(browser, "http://127.0.0.1") : {};
if (page) {
  const script = await buildVerifier();
  console.log(`script for browsers: ${script.length} bytes, ${gzipSync(script).length} compressed`);
  await page.addScriptTag({ content: script, type: "module" });
  await page.waitForFunction("globalThis.verifyProof !== undefined");
}

for (const advances of [0, 1, 4]) {
  const example = provenExample(createRandom(1), advances);
  const { proof, checkpoint, nowMs, id } = example;
  const headers = proof.headers.length + proof.advances.flat().length;
  const { length } = JSON.stringify(proof);
  const before = process.cpuUsage();
  for (let run = 0; run < RUNS; run++) verifyProof(proof, checkpoint, { nowMs, id });
  const { user, system } = process.cpuUsage(before);
  const node = ((user + system) / 1_000 / RUNS).toFixed(1);
  const chromium = page && (await verifyInPage(page, example, RUNS)).milliseconds.toFixed(1);
  console.log(
    `${advances} advances: ${headers} headers, ${length} bytes, ${gzipSync(JSON.stringify(proof)).length} compressed; Node.js ${node} ms of CPU time, Chromium ${chromium ?? "-"} ms`,
  );
}
await browser?.close();
