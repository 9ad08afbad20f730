/** Checkpoints of a release, from a running node. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseCheckpoint } from "@uniknode/client/proofs";
import { expect, onTestFinished, test } from "vitest";
import { servedChain } from "../../packages/node/test-support/facts/served.ts";
import { staleCheckpoints, writeCheckpoints } from "../../tools/release/checkpoints.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

test("The checkpoint of each network is written, and reported when it is old or missing.", async () => {
  const node = await servedChain();
  const folder = mkdtempSync(join(tmpdir(), "uniknode-checkpoints-"));
  onTestFinished(async () => {
    rmSync(folder, { recursive: true });
    await node.stop();
  });
  expect(staleCheckpoints(folder, Date.now())).toEqual([expect.stringContaining("contains no checkpoint")]);
  await expect(writeCheckpoints([node.url, node.url], folder)).rejects.toThrow(
    "two nodes are of the network",
  );
  expect(readdirSync(folder)).toEqual([]);
  const [path = ""] = await writeCheckpoints([node.url], folder);
  expect(path).toBe(join(folder, `${node.nethash}.txt`));
  const { network, timestamp } = parseCheckpoint(readFileSync(path, "utf8"));
  const madeMs = Date.parse(network.epoch) + timestamp * 1_000;
  expect(staleCheckpoints(folder, madeMs + 6 * DAY_MS)).toEqual([]);
  expect(staleCheckpoints(folder, madeMs + 8 * DAY_MS)).toEqual([expect.stringContaining("is 8 days old")]);
});
