/**
 * Child process of kill.test.ts: continues a recorded chain in a database file, in batches of a few blocks, and prints
 * the height of its head after each. Occasionally it first reverts two blocks, or replaces two by a longer branch.
 * Ends with the chain.
 *
 *   node replaying.ts NAME FILE DELIVERY [HEIGHT:ID UNDO_DEPTH]
 *
 * With a pin, signatures are not checked up to it, and nothing is reverted. Blocks deeper below it than the depth get no
 * undo records.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { present } from "../../src/platform/present.ts";
import { blocksOf, openChain, readChain } from "../../test-support/chain/fixtures.ts";

const [name, path, delivery, pin, undoDepth] = process.argv.slice(2);
const MINUTE_MS = 60_000;
let heightsLeft = Number(process.env.UNIKNODE_TEST_HEIGHTS);
const content = readChain(present(name, "name"));
const blocks = blocksOf(content);
const [height, id] = pin?.split(":") ?? [];
const { chain, close } = openChain(content, present(path, "path"), {
  ...(id !== undefined && {
    deps: { assumeValid: { height: Number(height), id } },
    undoDepth: Number(undoDepth),
  }),
  recordsHistory: true,
  recordedNames: new Set(["block.applied", "block.reverted"]),
});
/** Waits for the kill if the program has run long enough. */
async function report(): Promise<void> {
  console.log(chain.head().height);
  heightsLeft--;
  while (heightsLeft === 0) await sleep(MINUTE_MS);
}

await report();
while (chain.head().height <= blocks.length) {
  const { height } = chain.head();
  const dice = pin === undefined ? Math.random() : 1;
  if (height > 3 && dice < 0.2) await chain.revertTo(height - 2);
  // The recorded chain has one branch only.
  else if (height > 3 && height <= blocks.length && dice < 0.4) {
    await chain.switchTo(height - 2, blocks.slice(height - 3, height));
  }
  const next = chain.head().height - 1;
  const part = blocks.slice(next, next + Number(delivery));
  await (pin === undefined ? chain.accept(part) : chain.acceptFetched(part));
  await report();
}
await close();
console.log("end");
