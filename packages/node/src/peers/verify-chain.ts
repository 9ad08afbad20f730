/** Verifies that the chain of a peer is one of this network, and finds the common block (p2p.md 10.4). */
import type { StateReader } from "@uniknode/ledger";
import {
  type BlockHeader,
  decodeHeader,
  delegateOfSlot,
  headerSignatureJob,
  type Network,
  type Rounds,
  type Slots,
} from "@uniknode/protocol";
import { CodedError } from "../platform/coded-error.ts";
import type { Verifier } from "../verification/verifier.ts";
import { headerFromPeer, type Verification } from "./peer-table.ts";
import type { CallLimits } from "./transport/calls.ts";
import type { ArgumentOf } from "./wire/events.ts";
import {
  blocksMessageBytes,
  CLIENT_MESSAGE_BYTES,
  MAX_BLOCKS,
  MAX_PACKED_BLOCKS,
  TIMES_MS,
} from "./wire/limits.ts";
import type { PeerEvent, Received, ReceivedStatus } from "./wire/replies.ts";

/** Creates the error of a peer that failed the verification. */
export const unverified = (reason: string): CodedError<"PEER_UNVERIFIED"> =>
  new CodedError("PEER_UNVERIFIED", reason, { isRetryable: false });

/** Sends a request to the peer that is being verified. */
export type RequestPeer = <E extends PeerEvent>(
  event: E,
  argument: ArgumentOf<E>,
  limits: CallLimits,
) => Promise<Received[E]>;

export type VerifyDeps = {
  readonly network: Network;
  readonly slots: Slots;
  readonly rounds: Rounds;
  /** State at the head. */
  readonly state: StateReader;
  readonly verify: Verifier["verify"];
  /** Network time in seconds. */
  readonly now: () => number;
  readonly head: () => BlockHeader;
  /** Header of our chain at a height. */
  readonly header: (height: number) => BlockHeader | undefined;
};

/**
 * Compares the chain of a peer with ours.
 *
 * @throws {CodedError} PEER_UNVERIFIED with the reason
 * @throws {PeerError} if the peer does not reply
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
    const highestCommonHeight = Math.min(myHeight, hisHeight);
    return { myHeight, hisHeight, verifiedHeight: hisHeight, highestCommonHeight };
  }
  await checkSigned(claimed, deps);
  const requested = new Set<string>();
  const highestCommonHeight = await findCommonHeight(
    { highest: Math.min(myHeight, hisHeight), requested },
    request,
    deps,
  );
  const last = Math.min(hisHeight, lastCheckableHeight(highestCommonHeight, deps));
  await checkBranch(
    { common: highestCommonHeight, last, claimed, requested },
    isUniknode ? packedHeaders(request, deps) : plainHeaders(request, deps),
    deps,
  );
  return { myHeight, hisHeight, verifiedHeight: last, highestCommonHeight };
}

/** Step 1. */
function claimedHead({ height, header }: ReceivedStatus["state"], { network }: VerifyDeps): BlockHeader {
  if (!header || header.height !== height) throw unverified("it does not send its head");
  return headerFromPeer(header, network);
}

/** Step 2, for a head that is not on our chain. */
async function checkSigned(claimed: BlockHeader, { network, verify }: VerifyDeps): Promise<void> {
  const [isSigned] = await verify([headerCheck(claimed, network)]);
  if (!isSigned) throw unverified("its head is not signed by its generator");
}

/** Step 4. `requested` gets the ids that the peer was requested for. */
async function findCommonHeight(
  { highest, requested }: { readonly highest: number; readonly requested: Set<string> },
  request: RequestPeer,
  { header }: VerifyDeps,
): Promise<number> {
  const idAt = (height: number) => {
    const own = header(height);
    // A peer would refuse a request without the id.
    if (!own) throw unverified("the chain of this node became shorter");
    return own.id;
  };
  const search = searchCommonHeight(1, highest);
  let step = search.next();
  while (!step.done) {
    const ids = new Map(step.value.map((height) => [idAt(height), height]));
    for (const id of ids.keys()) requested.add(id);
    step = search.next(await requestHighest(ids, request));
  }
  if (step.value === undefined) throw unverified("it has no block in common with this node");
  return step.value;
}

/** The highest of the requested heights that the peer has. */
async function requestHighest(
  ids: ReadonlyMap<string, number>,
  request: RequestPeer,
): Promise<number | undefined> {
  const limits = { timeoutMs: TIMES_MS.smallReply, maxBytes: CLIENT_MESSAGE_BYTES.other };
  const common = await request("p2p.peer.getCommonBlocks", { ids: [...ids.keys()] }, limits).catch(
    (error) => {
      // The reply for "none" is an error.
      if (error.code === "PEER_REFUSED") return null;
      throw error;
    },
  );
  if (!common) return undefined;
  if (ids.get(common.id) !== common.height) {
    throw unverified("it names a common block that was not requested");
  }
  return common.height;
}

/** Headers after a height, at most `blockLimit`. */
type FetchHeaders = (lastBlockHeight: number, blockLimit: number) => Promise<BlockHeader[]>;

const plainHeaders =
  (request: RequestPeer, { network }: VerifyDeps): FetchHeaders =>
  async (lastBlockHeight, limit) => {
    const blockLimit = Math.min(limit, MAX_BLOCKS);
    const received = await request(
      "p2p.peer.getBlocks",
      { lastBlockHeight, blockLimit, headersOnly: true, serialized: true },
      { timeoutMs: TIMES_MS.smallReply, maxBytes: blocksMessageBytes(blockLimit, true) },
    );
    return received.slice(0, blockLimit).map((header) => headerFromPeer(header, network));
  };

/** Requests headers from a Uniknode, which has no rate limit that matters here. */
const packedHeaders =
  (request: RequestPeer, { network }: VerifyDeps): FetchHeaders =>
  async (lastBlockHeight, limit) => {
    const blockLimit = Math.min(limit, MAX_PACKED_BLOCKS);
    const blocks = await request(
      "uniknode.peer.getBlocks",
      { lastBlockHeight, blockLimit },
      { timeoutMs: TIMES_MS.smallReply, maxBytes: CLIENT_MESSAGE_BYTES.blocks },
    );
    return blocks.slice(0, blockLimit).map((bytes) => decodeHeader(bytes, network).header);
  };

type ClaimedBranch = {
  readonly common: number;
  /** Height of the last header to check. */
  readonly last: number;
  /** Its head. */
  readonly claimed: BlockHeader;
  /** Ids for which the peer was requested: it denied those above the common block. */
  readonly requested: ReadonlySet<string>;
};

/** Step 5: checks the headers after the common block whose delegates are known. */
async function checkBranch(
  { common, last, claimed, requested }: ClaimedBranch,
  fetch: FetchHeaders,
  deps: VerifyDeps,
): Promise<void> {
  const headers: BlockHeader[] = [];
  while (common + headers.length < last) {
    const height = common + headers.length;
    const received = await fetch(height, last - height);
    if (received.length === 0) throw unverified("it does not send the blocks that it claims");
    headers.push(...received);
  }
  const below = deps.header(common);
  if (!below) throw unverified("this node's chain changed in the meantime");
  const branch = headers.slice(0, last - common);
  const fault = await branchFault(below, branch, deps);
  if (fault) throw unverified(`its branch is wrong: ${fault}`);
  // With our own blocks above a common block that is too low, the peer would count as forked.
  if (branch.some(({ id }) => requested.has(id))) throw unverified("it sends a block that it denied to have");
  const top = branch.at(-1) ?? below;
  if (top.height === claimed.height && top.id !== claimed.id) throw unverified("it does not send its head");
}

/**
 * The last height above `common` whose delegate is known: the end of the round of the block after `common`. The order
 * of this round follows from blocks that both chains have, so it is the same on both.
 *
 * An old node checks one block more, against the delegates of the wrong round.
 */
function lastCheckableHeight(common: number, { rounds }: VerifyDeps): number {
  const { roundHeight, maxDelegates } = rounds.roundAt(common + 1);
  return roundHeight + maxDelegates - 1;
}

/**
 * Returns the reason why the headers do not continue the block `common`; undefined if they do. An old node
 * accepts any delegate of the round; this node requires the delegate of the slot, so that no branch can be
 * forged with a single key.
 */
async function branchFault(
  common: BlockHeader,
  headers: readonly BlockHeader[],
  deps: VerifyDeps,
): Promise<string | undefined> {
  const { network, slots, rounds, state, now } = deps;
  const { round } = rounds.roundAt(common.height + 1);
  const order = state.get("rounds", String(round))?.order;
  let previous = common;
  for (const header of headers) {
    const slot = slots.slotAt(header.timestamp);
    if (header.height !== previous.height + 1) return `a header has height ${header.height}`;
    if (header.previousBlock !== previous.id)
      return `block ${header.height} does not follow the previous block`;
    if (slot <= slots.slotAt(previous.timestamp)) return `block ${header.height} is too early`;
    if (slot > slots.slotAt(now())) return `block ${header.height} is in the future`;
    if (order && delegateOfSlot(order, slot) !== header.generatorPublicKey) {
      return `block ${header.height} was not forged by the delegate of its slot`;
    }
    previous = header;
  }
  const valid = await deps.verify(headers.map((header) => headerCheck(header, network)));
  const wrong = headers[valid.indexOf(false)];
  return wrong && `block ${wrong.height} is not signed by its generator`;
}

const headerCheck = (header: BlockHeader, network: Network) => ({
  ...headerSignatureJob(header, network),
  scheme: "ecdsa" as const,
});

/** Parts into which a step of the search divides the heights. */
const PARTS = 8;

/**
 * Searches the highest block that two nodes have in common (p2p.md 10.4 step 4). Yields the heights to request, ascending and
 * at most nine. Receives the highest of them that the peer has, or undefined. Returns the highest common height found.
 */
export function* searchCommonHeight(
  lowest: number,
  highest: number,
): Generator<number[], number | undefined, number | undefined> {
  let [low, high] = [lowest, highest];
  let best: number | undefined;
  while (low <= high) {
    const heights = probeHeights(low, high);
    const common = yield heights;
    if (common === undefined) return best;
    best = common;
    const next = heights[heights.indexOf(common) + 1];
    if (low + PARTS >= high || next === undefined || next === common + 1) return best;
    [low, high] = [common + 1, next - 1];
  }
  return best;
}

function probeHeights(low: number, high: number): number[] {
  const heights = Array.from(
    { length: PARTS + 1 },
    (_, part) => low + Math.round(((high - low) * part) / PARTS),
  );
  return [...new Set(heights)];
}
