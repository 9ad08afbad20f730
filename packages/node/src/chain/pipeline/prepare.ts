/** Receiving and verifying the blocks of a part, ahead of their turn. */
import type { Part, PreparedBlock } from "../queue/block-batch.ts";
import { type ReceivedBlock, receiveBlock } from "./receive.ts";
import { type VerifyDeps, verifyBlocks } from "./verify.ts";

/** Begins the preparation of a part, unless it has begun. */
export function prepare(part: Part, deps: VerifyDeps): void {
  part.preparing ??= prepareBlocks(part.delivery.isStopped ? [] : part.blocks, deps).then(
    (prepared) => {
      part.prepared = prepared;
    },
    (error: unknown) => {
      // No verdict without a verifier.
      part.delivery.failure ??= error;
      part.delivery.isStopped = true;
      part.prepared = [];
    },
  );
}

/** Blocks behind one that cannot be read are left out: nobody will ask for them. */
async function prepareBlocks(blocks: readonly Uint8Array[], deps: VerifyDeps): Promise<PreparedBlock[]> {
  const received: ReceivedBlock[] = [];
  let failure: PreparedBlock | undefined;
  for (const bytes of blocks) {
    try {
      received.push(receiveBlock(bytes, deps.network));
    } catch (error) {
      failure = error as Error;
      break;
    }
  }
  const verified = await verifyBlocks(received, deps);
  return failure ? [...verified, failure] : verified;
}
