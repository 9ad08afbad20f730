/** Receiving and verifying the blocks of a part, before the writer reaches them. */
import type { BatchPart, PreparedBlock } from "../queue/block-batch.ts";
import { type BlockInput, type ReceivedBlock, receive } from "./receive.ts";
import { type VerifyDeps, verifyBlocks } from "./verify.ts";

/** Begins the preparation of a part, unless it has begun. */
export function prepare(part: BatchPart, deps: VerifyDeps): void {
  part.preparing ??= prepareBlocks(part.batch.isStopped ? [] : part.blocks, deps).then(
    (prepared) => {
      part.prepared = prepared;
    },
    (error: unknown) => {
      // No verdict without a verifier.
      part.batch.failure ??= error;
      part.batch.isStopped = true;
      part.prepared = [];
    },
  );
}

/** Blocks behind one that cannot be read are left out: the batch stops there. */
async function prepareBlocks(blocks: readonly BlockInput[], deps: VerifyDeps): Promise<PreparedBlock[]> {
  const received: ReceivedBlock[] = [];
  let failure: PreparedBlock | undefined;
  for (const block of blocks) {
    try {
      received.push(receive(block, deps.network));
    } catch (error) {
      failure = error as Error;
      break;
    }
  }
  const verified = await verifyBlocks(received, deps);
  return failure ? [...verified, failure] : verified;
}
