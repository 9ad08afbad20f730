/** The verdict of pages on a chain without new blocks. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { clockOptions, setClock } from "../../../node/test-support/process/clock.ts";
import { describeConsole } from "../../test-support/console-tests.ts";

const TWO_HOURS_MS = 7_200_000;

const folder = mkdtempSync(join(tmpdir(), "uniknode-console-clock-"));
setClock(folder, 0);
const { nodeArguments, environment } = clockOptions(folder);
vi.stubEnv("NODE_OPTIONS", nodeArguments.join(" "));
for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

describeConsole({}, ({ open }) => {
  test("The overview and the header say why no block follows a head in the future, and stops when the clock is right.", async () => {
    const { page } = await open();
    await page.goto("/console/");
    await page.getByText("The chain is growing.").waitFor();
    setClock(folder, -TWO_HOURS_MS);
    const reason = /^The chain has stopped growing: the head is in the future: block \d+ is 7\d+ s ahead/;
    await page.reload();
    await page.locator(".verdict.stopped").getByText(reason).waitFor();
    const pulse = page.getByRole("link", { name: reason });
    await pulse.and(page.locator(".pulse.stopped")).waitFor();
    expect(await pulse.getAttribute("title")).toMatch(reason);
    // A phone has no pointer that shows the title: the overview has the reason.
    expect(await pulse.getAttribute("href")).toBe("/console/");
    setClock(folder, 0);
    await page.getByText("The chain is growing.").waitFor();
    await page.locator(".pulse.connected").waitFor();
  });
});

describeConsole({ nodeArguments: ["--instant"] }, ({ open }) => {
  test("A chain that forges for transactions only waits for them, and has not stopped.", async () => {
    setClock(folder, TWO_HOURS_MS);
    const { page } = await open();
    await page.goto("/console/");
    await page.getByText("The chain waits for transactions.").waitFor();
    await page.locator(".pulse.connected").waitFor();
  });
});
