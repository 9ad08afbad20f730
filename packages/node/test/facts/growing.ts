/**
 * Child process of growth.test.ts: continues a recorded chain and its tree in a database file, and prints a line after
 * each step. Occasionally it first reverts some blocks. Ends with the chain.
 *
 *   node growing.ts NAME FILE
 */

import { createNetwork } from "@uniknode/protocol";
import { Growth } from "../../src/facts/growth.ts";
import { present } from "../../src/platform/present.ts";
import { blocksOf, openChain, readChain } from "../../test-support/chain/fixtures.ts";

const [name, path] = process.argv.slice(2);
const content = readChain(present(name, "name"));
const blocks = blocksOf(content);
const { chain, database, close } = openChain(content, present(path, "path"));
const growth = new Growth({ database, network: createNetwork(content.network), onTruncated: () => {} });
chain.subscribe(({ applied, revertedBlocks }) => {
  if (revertedBlocks > 0) growth.reverted();
  growth.applied(applied);
  setImmediate(() => growth.step(0));
});
while (chain.head().height <= blocks.length) {
  const { height } = chain.head();
  if (Math.random() < 0.2) await chain.revertTo(Math.max(1, height - Math.floor(Math.random() * 5)));
  const next = chain.head().height - 1;
  await chain.accept(blocks.slice(next, next + 6));
  growth.step(0);
  console.log(chain.head().height);
}
while (growth.step(0)) console.log("grown");
await close();
console.log("end");
