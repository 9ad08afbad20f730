/** Fetches a branch that should replace blocks of ours. It is kept in memory until it is on the chain. */
import { type FetchedBlock, inputByteLength } from "../../chain/pipeline/receive.ts";
import { download } from "../download/download.ts";
import type { Fetch, Source } from "../download/source.ts";

export type FetchBranchDeps = {
  readonly fetch: Fetch;
  /** Ends the download early. */
  readonly signal: AbortSignal;
};

export type FetchedBranch = {
  /** Blocks without gaps, beginning with the first that our chain does not have. */
  readonly blocks: readonly FetchedBlock[];
  /** Source of each block. */
  readonly providers: readonly Source[];
  /** Sources that did not send the blocks that they claim. */
  readonly failing: readonly Source[];
};

/** Maximum bytes of a branch in memory: 5,000 blocks of fifty transfers are 42 MB. */
const MAX_BYTES = 128 * 1024 * 1024;

/** Fetches as much of the range as the sources send, up to the bound on its bytes. */
export async function fetchBranch(
  range: { readonly after: number; readonly to: number },
  sources: readonly Source[],
  { fetch, signal }: FetchBranchDeps,
): Promise<FetchedBranch> {
  const blocks: FetchedBlock[] = [];
  const providers: Source[] = [];
  const failing = new Set<Source>();
  const full = new AbortController();
  let bytes = 0;
  await download(range, sources, {
    fetch,
    async accept(some, provider) {
      for (const block of some) {
        bytes += inputByteLength(block);
        if (bytes > MAX_BYTES) full.abort();
        if (full.signal.aborted) break;
        blocks.push(block);
        providers.push(provider);
      }
      return [];
    },
    onFailure: (source) => failing.add(source),
    signal: AbortSignal.any([signal, full.signal]),
  });
  return { blocks, providers, failing: [...failing] };
}
