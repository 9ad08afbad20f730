/** Receives and verifies the blocks of a part before the writer reaches them. */
import type { Network } from "@uniknode/protocol";
import type { Steps, TimeSlices } from "../platform/threads/time-slices.ts";
import type { Assumes, BatchPart, PreparedBlock } from "./block-queue.ts";
import { type BlockInput, type ReceivedBlock, receiveGradually } from "./pipeline/receive.ts";
import { type VerifyDeps, verifyBlocks } from "./pipeline/verify.ts";

export type PrepareDeps = VerifyDeps & {
  /** Decodes the blocks of all parts, in their order. */
  readonly slices: TimeSlices;
};

/** Time for decoding blocks in an event-loop tick; a step is a few transactions, or a part of empty blocks. */
export const DECODING_SLICE_MS = 10;

/** Begins the preparation of a part if it has not begun. */
export function prepare(part: BatchPart, deps: PrepareDeps): void {
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

async function prepareBlocks(
  blocks: readonly BlockInput[],
  deps: PrepareDeps,
  assumes: Assumes,
): Promise<PreparedBlock[]> {
  if (blocks.length === 0) return [];
  const { received, failure } = await deps.slices.run(receiveEach(blocks, deps.network));
  const verified = await verifyBlocks(received, deps, assumes);
  return failure ? [...verified, failure] : verified;
}

type Received = { readonly received: readonly ReceivedBlock[]; readonly failure?: Error };

/** Blocks after an unreadable one are omitted: the batch stops there. */
function* receiveEach(blocks: readonly BlockInput[], network: Network): Steps<Received> {
  const received: ReceivedBlock[] = [];
  for (const block of blocks) {
    try {
      received.push(yield* receiveGradually(block, network));
    } catch (error) {
      return { received, failure: error as Error };
    }
  }
  return { received };
}
