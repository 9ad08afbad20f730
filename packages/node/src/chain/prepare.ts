/** Receives and verifies the blocks of a part before the writer reaches them. */
import { type BlockInput, type ReceivedBlock, receive } from "./pipeline/receive.ts";
import { type VerifyDeps, verifyBlocks } from "./pipeline/verify.ts";
import type { Assumes, BatchPart, PreparedBlock } from "./queue/block-batch.ts";

/** Begins the preparation of a part if it has not begun. */
export function prepare(part: BatchPart, deps: VerifyDeps): void {
  const { batch, blocks } = part;
  const isSkipped = batch.isStopped || batch.signal?.aborted;
  part.preparing ??= prepareBlocks(isSkipped ? [] : blocks, deps, batch.assumes).then(
    (prepared) => {
      part.prepared = prepared;
    },
    (error: unknown) => {
      // The verifier failed: the blocks have no verdict.
      batch.failure ??= error;
      batch.isStopped = true;
      part.prepared = [];
    },
  );
}

/** Blocks after an unreadable one are omitted: the batch stops there. */
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
