/**
 * Child process of catch-up.ts: replays the generated chain into a database without verifying signatures, as a node that is far
 * behind does. Prints the height after each commit, and `end` after the last block.
 *
 *   node catching-up.ts PATH
 */

import { openPipeline } from "../../bench/pipeline.ts";
import { replay } from "../../packages/node/src/chain/replay.ts";
import { present } from "../../packages/node/src/platform/present.ts";
import { loadCatchUp } from "./catch-up-chain.ts";

const { fixture, last } = await loadCatchUp();
const path = present(process.argv[2], "the path of the database");
const pipeline = openPipeline(path, fixture, { threads: 1, assumeValid: last });
const { height } = pipeline.chain.head();
console.log(height);

async function* blocksAbove(from: number): AsyncIterable<Uint8Array> {
  let next = 2;
  for await (const block of fixture.blocks()) if (next++ > from) yield block;
}

const { refusal } = await replay(pipeline.chain, blocksAbove(height), {
  targetHeight: last.height,
  onProgress: (accepted) => console.log(height + accepted),
});
if (refusal) throw new Error(`a block was refused: ${refusal.kind}`);
await pipeline.close();
await pipeline.verifier.close();
console.log("end");
