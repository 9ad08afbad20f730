/** The verifier of proofs in a browser, where neither Node.js nor WebAssembly is needed. */
import { verifyProof } from "@uniknode/client/proofs";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { provenExample } from "../../../client/test-support/proofs/example.ts";
import { createRandom } from "../../../client/test-support/proofs/scene.ts";
import { closePages, findBrowser, openPage, shareBrowser } from "../../test-support/browser.ts";
import { buildVerifier, verifyInPage } from "../../test-support/proofs.ts";

const executable = findBrowser();

describe.skipIf(executable === undefined)("In Chromium,", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await shareBrowser(executable ?? "");
  });
  afterAll(() => closePages(browser));

  test("A proof has the same verdict in Chromium as in Node.js, and so does an altered one.", async () => {
    const { page, faults } = await openPage(browser, "http://127.0.0.1");
    await page.addScriptTag({ content: await buildVerifier(), type: "module" });
    await page.waitForFunction("globalThis.verifyProof !== undefined");
    const example = provenExample(createRandom(3), 1);
    const { proof, checkpoint, nowMs, id } = example;
    const altered = {
      ...proof,
      headers: proof.headers.with(-1, (proof.headers.at(-1) ?? "").replace(/.$/, "0")),
    };
    for (const [given, verdict] of [
      [proof, "final"],
      [altered, "refused"],
    ] as const) {
      const seen = await verifyInPage(page, { ...example, proof: given });
      expect(seen.verdict).toEqual(JSON.parse(JSON.stringify(verifyProof(given, checkpoint, { nowMs, id }))));
      expect(seen.verdict.verdict).toBe(verdict);
    }
    expect(faults).toEqual([]);
  });
});
