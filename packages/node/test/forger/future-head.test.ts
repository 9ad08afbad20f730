/** A head in the future of the clock, in the real process of a node that does not forge. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@uniknode/client";
import { expect, onTestFinished, test } from "vitest";
import { clockOptions, setClock } from "../../test-support/process/clock.ts";
import { runUniknode, spawnUniknode } from "../../test-support/process/uniknode.ts";
import { WAIT_MS } from "../../test-support/process/until.ts";

const TWO_HOURS_MS = 7_200_000;

test("A node without delegates whose clock is set back by two hours says so in log, health and status until it is right.", async () => {
  const folder = mkdtempSync(join(tmpdir(), "uniknode-future-head-"));
  const network = join(folder, "network");
  await runUniknode(["network", "init", network, "--name", "clocks", "--nodes", "1", "--block-time", "1"]);
  setClock(folder, 0);
  const start = (...args: string[]) =>
    spawnUniknode(
      [
        ...["run", "--network-dir", network, "--data", join(folder, "data"), "--http-port", "0", "--alone"],
        ...["--rate-limit", "0"],
        ...args,
      ],
      clockOptions(folder),
    );
  const forging = start("--delegates", join(network, "delegates-1.json"), "--watch-rounds", "0");
  onTestFinished(async () => {
    for (const { child, ended } of [forging, node]) {
      child.kill("SIGKILL");
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  });
  const statusOf = async (base: string) =>
    (await createClient({ url: base, timeoutMs: WAIT_MS }).node.status()).data;
  const urlOf = async ({ printed }: typeof forging) => (await printed(/http:[^\s"]+/))[0];
  const forgingUrl = await urlOf(forging);
  const height = async () => (await statusOf(forgingUrl)).now;
  await expect.poll(height).toBeGreaterThan(2);
  forging.child.kill("SIGTERM");
  await forging.ended;

  const node = start();
  const url = await urlOf(node);
  const log = () => node.stdout() + node.stderr();
  const future = /the head is in the future: block \d+ is \d+ s ahead of the clock of this node/;
  setClock(folder, -TWO_HOURS_MS);
  await expect.poll(log).toMatch(future);
  const chain = async () => {
    const response = await fetch(`${url}/health/ready`);
    return ((await response.json()) as { checks: { chain: object } }).checks.chain;
  };
  await expect.poll(chain).toMatchObject({ ok: false, detail: expect.stringMatching(future) });
  expect((await statusOf(url)).futureHead).toMatch(future);
  expect(log().match(new RegExp(future, "g"))).toHaveLength(1);
  setClock(folder, 0);
  await expect.poll(log).toContain("the head is no longer in the future");
  await expect.poll(chain).toMatchObject({ ok: true });
});
