/** Roots of earlier versions of the tree of facts, which snapshots and clients have. */
import { readFileSync } from "node:fs";
import { createNetwork } from "@uniknode/protocol";
import { expect, test } from "vitest";
import { earlierLogRoot } from "../../src/facts/earlier-logs.ts";
import { blocksOf, openChain, readChain, temporaryFolder } from "../../test-support/chain/fixtures.ts";

test("Version 2 of the log has the root that its nodes signed.", async () => {
  const url = new URL("../../../../test/vectors/resolutions/version-2.json", import.meta.url);
  const [{ cases }] = JSON.parse(readFileSync(url, "utf8"));
  const { size, root, height } = cases[0].resolution.checkpoint;
  const folder = temporaryFolder();
  const content = readChain("chain-random-2");
  const { chain, database, close } = openChain(content, `${folder.path}/node.sqlite`);
  await chain.accept(blocksOf(content));
  const work = earlierLogRoot(database, createNetwork(content.network), { height, version: 2 });
  let step = work.next();
  while (!step.done) step = work.next();
  expect(step.value).toEqual({ size, root });
  await close();
  folder.remove();
});
