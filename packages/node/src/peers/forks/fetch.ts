/** Fetching a branch that is to take the place of blocks of ours: all of it is held until it is on the chain. */
import { download } from "../sync/download.ts";
import type { Fetch, Source } from "../sync/source.ts";

export type BranchDeps = {
  readonly fetch: Fetch;
  /** Ends the download early. */
  readonly signal: AbortSignal;
};

export type FetchedBranch = {
  /** From the first block that our chain does not have, without a gap. */
  readonly blocks: readonly Uint8Array[];
  /** Who gave each of them. */
  readonly givers: readonly Source[];
  /** Sources that did not give what they claim to have. */
  readonly failing: readonly Source[];
};

/** Bytes of a branch that are held at most: 5,000 blocks of fifty transfers are 42 MB. */
const MAX_BYTES = 128 * 1024 * 1024;

/** Fetches as much of the range as the sources give, up to the bound on its bytes. */
export async function fetchBranch(
  range: { readonly after: number; readonly to: number },
  sources: readonly Source[],
  { fetch, signal }: BranchDeps,
): Promise<FetchedBranch> {
  const blocks: Uint8Array[] = [];
  const givers: Source[] = [];
  const failing = new Set<Source>();
  const ending = new AbortController();
  let bytes = 0;
  await download(range, sources, {
    fetch,
    async accept(some, giver) {
      for (const block of some) {
        bytes += block.length;
        if (bytes > MAX_BYTES) ending.abort();
        if (ending.signal.aborted) break;
        blocks.push(block);
        givers.push(giver);
      }
      return [];
    },
    onFailure: (source) => failing.add(source),
    signal: AbortSignal.any([signal, ending.signal]),
  });
  return { blocks, givers, failing: [...failing] };
}
