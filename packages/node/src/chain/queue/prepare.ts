/** Receiving and verifying the blocks of a part, before the writer reaches them. */

import { type BlockInput, type ReceivedBlock, receive } from "../pipeline/receive.ts";
import { type VerifyDeps, verifyBlocks } from "../pipeline/verify.ts";
import type { Assumes, BatchPart, PreparedBlock } from "./block-batch.ts";

/** Begins the preparation of a part, unless it has begun. */
export function prepare(part: BatchPart, deps: VerifyDeps): void {
  const { batch, blocks } = part;
  const isSkipped = batch.isStopped || batch.signal?.aborted;
  part.preparing ??= prepareBlocks(isSkipped ? [] : blocks, deps, batch.assumes).then(
    (prepared) => {
      part.prepared = prepared;
    },
    (error: unknown) => {
      // No verdict without a verifier.
      batch.failure ??= error;
      batch.isStopped = true;
      part.prepared = [];
    },
  );
}

/** Blocks behind one that cannot be read are left out: the batch stops there. */
async function prepareBlocks(
  blocks: readonly BlockInput[],
  deps: VerifyDeps,
  assumes: Assumes,
): Promise<PreparedBlock[]> {
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
  const verified = await verifyBlocks(received, deps, assumes);
  return failure ? [...verified, failure] : verified;
}
