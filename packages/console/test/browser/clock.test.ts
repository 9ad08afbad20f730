/** Pages of a node whose clock is set back. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test, vi } from "vitest";
import { describeConsole } from "../../test-support/console-tests.ts";

const CLOCK = new URL("../../../node/test-support/process/shifted-clock.mjs", import.meta.url).href;
const TWO_HOURS_MS = 7_200_000;

const folder = mkdtempSync(join(tmpdir(), "uniknode-console-clock-"));
const shift = join(folder, "shift");
writeFileSync(shift, "0");
vi.stubEnv("CLOCK_SHIFT_FILE", shift);
vi.stubEnv("NODE_OPTIONS", `--import ${CLOCK}`);
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

describeConsole({}, ({ open }) => {
  test("The overview says why no block follows a head in the future, and stops when the clock is right.", async () => {
    const { page } = await open();
    await page.goto("/console/");
    await page.getByText("The chain is growing.").waitFor();
    writeFileSync(shift, `${-TWO_HOURS_MS}`);
    const reason = page.getByText(
      /The chain has stopped growing: the head is in the future: block \d+ is 7\d+ s ahead/,
    );
    await page.reload();
    await reason.waitFor();
    writeFileSync(shift, "0");
    await page.getByText("The chain is growing.").waitFor();
  });
});
