/** Verification of a peer: that its chain is one of this network, and where the two chains part (p2p.md 10.4). */
import { type BlockHeader, decodeHeader } from "@uniknode/protocol";
import { type BranchDeps, branchFault, headerCheck, lastCheckableHeight } from "../forks/verify.ts";
import type { Verification } from "../table/peer.ts";
import type { CallLimits } from "../transport/connection.ts";
import {
  blocksMessageBytes,
  CLIENT_MESSAGE_BYTES,
  MAX_BLOCKS,
  MAX_PACKED_BLOCKS,
  TIMES_MS,
} from "../wire/limits.ts";
import type { PeerEvent, Received, ReceivedStatus } from "../wire/replies/received.ts";
import type { ArgumentOf } from "../wire/requests/arguments.ts";
import { searchCommonHeight } from "./common-height.ts";
import { headerFromPeer } from "./header.ts";

/** The peer is not one to talk to. */
export class VerificationError extends Error {
  readonly code = "PEER_UNVERIFIED";
  readonly isRetryable = false;
}

/** Asks the peer that is being verified. */
export type RequestPeer = <E extends PeerEvent>(
  event: E,
  argument: ArgumentOf<E>,
  limits: CallLimits,
) => Promise<Received[E]>;

export type VerifyDeps = BranchDeps & {
  readonly head: () => BlockHeader;
  /** Header of our chain. */
  readonly header: (height: number) => BlockHeader | undefined;
};

/**
 * Compares the chain of a peer with ours.
 *
 * @throws {VerificationError} saying what is wrong with the peer
 * @throws {PeerError} when it does not answer
 */
export async function verifyChain(
  { state, isUniknode }: ReceivedStatus,
  request: RequestPeer,
  deps: VerifyDeps,
): Promise<Verification> {
  const own = deps.head();
  const claimed = claimedHead(state, deps);
  const hisHeight = claimed.height;
  const myHeight = own.height;
  if (deps.header(hisHeight)?.id === claimed.id) {
    return { myHeight, hisHeight, highestCommonHeight: Math.min(myHeight, hisHeight) };
  }
  await checkSigned(claimed, deps);
  const highestCommonHeight = await commonHeight(Math.min(myHeight, hisHeight), request, deps);
  const last = Math.min(hisHeight, lastCheckableHeight(highestCommonHeight, deps));
  await checkBranch(
    highestCommonHeight,
    last,
    isUniknode ? bytesFrom(request, deps) : headersFrom(request, deps),
    deps,
  );
  return { myHeight, hisHeight, highestCommonHeight };
}

/** Step 1. */
function claimedHead({ height, header }: ReceivedStatus["state"], { network }: VerifyDeps): BlockHeader {
  if (!header || header.height !== height) throw new VerificationError("it does not show its head");
  return headerFromPeer(header, network);
}

/** Step 2, for a head that is not on our chain. */
async function checkSigned(claimed: BlockHeader, { network, verify }: VerifyDeps): Promise<void> {
  const [isSigned] = await verify([headerCheck(claimed, network)]);
  if (!isSigned) throw new VerificationError("its head is not signed by its generator");
}

/** Step 4. */
async function commonHeight(highest: number, request: RequestPeer, { header }: VerifyDeps): Promise<number> {
  const search = searchCommonHeight(1, highest);
  let step = search.next();
  while (!step.done) {
    const ids = new Map(step.value.map((height) => [header(height)?.id ?? "", height]));
    step = search.next(await highestOf(ids, request));
  }
  if (step.value === undefined) throw new VerificationError("it has no block in common with us");
  return step.value;
}

/** The highest of the asked heights that the peer has. */
async function highestOf(
  ids: ReadonlyMap<string, number>,
  request: RequestPeer,
): Promise<number | undefined> {
  const limits = { timeoutMs: TIMES_MS.smallReply, maxBytes: CLIENT_MESSAGE_BYTES.other };
  const common = await request("p2p.peer.getCommonBlocks", { ids: [...ids.keys()] }, limits).catch(
    (error) => {
      // "None" is told by an error.
      if (error.code === "PEER_REFUSED") return null;
      throw error;
    },
  );
  if (!common) return undefined;
  if (ids.get(common.id) !== common.height) {
    throw new VerificationError("it names a common block that nobody asked for");
  }
  return common.height;
}

/** Headers after a height, at most so many. */
type FetchHeaders = (lastBlockHeight: number, blockLimit: number) => Promise<BlockHeader[]>;

const headersFrom =
  (request: RequestPeer, { network }: VerifyDeps): FetchHeaders =>
  async (lastBlockHeight, limit) => {
    const blockLimit = Math.min(limit, MAX_BLOCKS);
    const received = await request(
      "p2p.peer.getBlocks",
      { lastBlockHeight, blockLimit, headersOnly: true, serialized: true },
      { timeoutMs: TIMES_MS.smallReply, maxBytes: blocksMessageBytes(blockLimit, true) },
    );
    return received.map((header) => headerFromPeer(header, network));
  };

/** From a node of this kind, which may be asked without a pause. */
const bytesFrom =
  (request: RequestPeer, { network }: VerifyDeps): FetchHeaders =>
  async (lastBlockHeight, limit) => {
    const blockLimit = Math.min(limit, MAX_PACKED_BLOCKS);
    const blocks = await request(
      "uniknode.peer.getBlocks",
      { lastBlockHeight, blockLimit },
      { timeoutMs: TIMES_MS.smallReply, maxBytes: CLIENT_MESSAGE_BYTES.blocks },
    );
    return blocks.map((bytes) => decodeHeader(bytes, network).header);
  };

/** Step 5: the headers after the common block, as far as their delegates are known. */
async function checkBranch(
  common: number,
  last: number,
  fetch: FetchHeaders,
  deps: VerifyDeps,
): Promise<void> {
  const headers: BlockHeader[] = [];
  while (common + headers.length < last) {
    const height = common + headers.length;
    const received = await fetch(height, last - height);
    if (received.length === 0) throw new VerificationError("it does not show the blocks that it has");
    headers.push(...received);
  }
  const below = deps.header(common);
  if (!below) throw new VerificationError("our own chain has changed meanwhile");
  const fault = await branchFault(below, headers.slice(0, last - common), deps);
  if (fault) throw new VerificationError(`its branch is wrong: ${fault}`);
}
