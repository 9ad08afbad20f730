/** Feeds a long run of blocks to the chain, for import, replay and benchmarks. */
import type { Chain } from "./chain.ts";
import type { Outcome } from "./outcome.ts";

export type ReplayOptions = {
  /** Maximum bytes of submitted blocks that are not committed yet. */
  readonly maxBytesInFlight?: number;
  /** Height of the last block, if known: blocks far below get no undo records. */
  readonly targetHeight?: number | undefined;
  /** Called after each batch with the blocks accepted so far. */
  readonly onProgress?: (accepted: number) => void;
};

export type Replayed = {
  readonly accepted: number;
  /** Outcome of the block that ended the replay early. */
  readonly refusal?: Exclude<Outcome, { kind: "Accepted" }>;
};

/** Enough to keep every verifier busy during a commit, and negligible in memory usage. */
const MAX_BYTES_IN_FLIGHT = 2 * 1024 * 1024;
const BATCH_BYTES = 128 * 1024;
const BATCH_BLOCKS = 400;

/**
 * Submits serialized blocks, beginning with the one above the head, until they end or one is refused.
 *
 * @throws {ChainError} as `Chain.acceptFetched`, or what the source of the blocks throws; the blocks before
 * it have an outcome by then
 */
export async function replay(
  chain: Chain,
  blocks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  { maxBytesInFlight = MAX_BYTES_IN_FLIGHT, targetHeight, onProgress }: ReplayOptions = {},
): Promise<Replayed> {
  let accepted = 0;
  let bytesInFlight = 0;
  let refusal: Replayed["refusal"];
  let failure: { error: unknown } | undefined;
  const inFlight = new Set<Promise<void>>();

  function hand(batch: readonly Uint8Array[], bytes: number): void {
    bytesInFlight += bytes;
    const settled = chain
      .acceptFetched(batch, { targetHeight })
      .then((outcomes) => {
        const stop = outcomes.findIndex(({ kind }) => kind !== "Accepted");
        accepted += stop === -1 ? outcomes.length : stop;
        if (stop !== -1) refusal ??= outcomes[stop] as Replayed["refusal"];
        onProgress?.(accepted);
      })
      .catch((error) => {
        failure ??= { error };
      })
      .finally(() => {
        bytesInFlight -= bytes;
        inFlight.delete(settled);
      });
    inFlight.add(settled);
  }

  let batch: Uint8Array[] = [];
  let bytes = 0;
  const flush = () => {
    if (batch.length > 0) hand(batch, bytes);
    batch = [];
    bytes = 0;
  };
  try {
    for await (const block of blocks) {
      if (refusal || failure) break;
      batch.push(block);
      bytes += block.length;
      if (bytes < BATCH_BYTES && batch.length < BATCH_BLOCKS) continue;
      flush();
      while (bytesInFlight > maxBytesInFlight) await Promise.race(inFlight);
    }
  } catch (error) {
    // The blocks that arrived before their source failed are valid.
    flush();
    failure ??= { error };
  }
  if (!refusal && !failure) flush();
  await Promise.all(inFlight);
  if (failure) throw failure.error;
  return { accepted, ...(refusal && { refusal }) };
}
