/** Proofs for a client with a checkpoint, or with none (proofs.md 7). */
import type { Proof } from "@uniknode/client/proofs";
import { createSlots, type Network, quorumOf } from "@uniknode/protocol";
import type { Snapshot } from "../read/port.ts";
import type { StoredBlock } from "../read/rows.ts";
import {
  assembleProof,
  type BlocksAbove,
  createBlocksAbove,
  type Trust,
  trustOf,
  upToQuorum,
} from "./assemble.ts";

/** Maximum number of advances, and of headers of all of them, in a response; the client requests further ones. */
const MAX_ADVANCES = 4;
const MAX_ADVANCE_HEADERS = 768;
/** Rounds above a block in which a quorum must have signed. */
const ROUNDS_ABOVE = 3;
/** Rounds above a round in which a quorum must have signed. */
const ROUNDS_ABOVE_ROUND = 2;
/** Maximum number of headers that lead from a block to the checkpoint above it. */
const MAX_LEADING_HEADERS = 512;
/** Age of a checkpoint after which it is renewed: a quarter of the trusting period. */
const RENEWAL_MS = 7.5 * 24 * 60 * 60 * 1_000;

export type ProofRequest = {
  readonly block: StoredBlock;
  /** Signed bytes of the transaction; absent: the proof is of the block. */
  readonly transaction?: Uint8Array;
  /** Height of the checkpoint of the client. */
  readonly checkpoint?: number | undefined;
};

/** Rounds by which the trusted keys of a verifier advance (proofs.md 3). */
type Advance = { readonly blocks: readonly StoredBlock[]; readonly trust: Trust };

/** Returns undefined if the block has no proof, because its parent has no full id. */
export async function buildProof(
  snapshot: Snapshot,
  network: Network,
  { block, transaction, checkpoint }: ProofRequest,
): Promise<Proof | undefined> {
  const above = createBlocksAbove(snapshot, network);
  if (!above.isProvable(block.height)) return undefined;
  const start = { block, checkpoint: checkpoint && checkpoint <= above.head.height ? checkpoint : undefined };
  const selected = await selectBlocks(start, above, network);
  return assembleProof(snapshot, network, { ...selected, transaction });
}

type Start = { readonly block: StoredBlock; readonly checkpoint: number | undefined };
type Selected = { readonly blocks: readonly StoredBlock[]; readonly advances: readonly Advance[] };

async function selectBlocks(
  { block, checkpoint }: Start,
  above: BlocksAbove,
  network: Network,
): Promise<Selected> {
  const { maxDelegates } = above.roundAt(block.height);
  const following = await above.blocks(block.height, ROUNDS_ABOVE * maxDelegates);
  if (checkpoint === undefined) {
    // Any delegate may be trusted by the client.
    return { blocks: upToQuorum(following, trustOf(following, 0, maxDelegates)) ?? following, advances: [] };
  }
  const advances: Advance[] = [];
  let trust = await above.trustAt(checkpoint);
  let final = upToQuorum(following, trust);
  while (!final) {
    const advance = await nextAdvance(trust, block.height, { advances, above });
    if (!advance) break;
    advances.push(advance);
    trust = advance.trust;
    final = upToQuorum(following, trust);
  }
  if (await isOld(checkpoint, above, network)) {
    const advance = await nextAdvance(trust, above.head.height, { advances, above });
    if (advance) advances.push(advance);
  }
  return { blocks: final ?? (await leadingTo(checkpoint, block, above)) ?? following, advances };
}

async function nextAdvance(
  trust: Trust,
  upTo: number,
  { advances, above }: { advances: readonly Advance[]; above: BlocksAbove },
): Promise<Advance | undefined> {
  const headers = advances.reduce((sum, { blocks }) => sum + blocks.length, 0);
  if (advances.length >= MAX_ADVANCES || headers >= MAX_ADVANCE_HEADERS) return undefined;
  return furthestAdvance(trust, upTo, above);
}

/** Returns true if the checkpoint of a client should be renewed. */
async function isOld(height: number, { head, blocks }: BlocksAbove, network: Network): Promise<boolean> {
  const [block] = await blocks(height, 1);
  const { unixMsOf } = createSlots(network);
  return block !== undefined && unixMsOf(head.timestamp) - unixMsOf(block.timestamp) > RENEWAL_MS;
}

/** Returns the blocks from a block to the checkpoint above it, if there are not too many. */
async function leadingTo(
  checkpoint: number,
  { height }: StoredBlock,
  { blocks }: BlocksAbove,
): Promise<readonly StoredBlock[] | undefined> {
  const count = checkpoint - height + 1;
  return count > 0 && count <= MAX_LEADING_HEADERS ? blocks(height, count) : undefined;
}

/**
 * Finds the highest round, up to that of a height, to which trusted keys can advance at once. Delegates change slowly, so
 * that a binary search finds it, or a round somewhat below; each of its steps reads three rounds.
 */
async function furthestAdvance(trust: Trust, upTo: number, above: BlocksAbove): Promise<Advance | undefined> {
  let low = trust.nextRoundHeight;
  let high = above.roundAt(Math.max(upTo, 1)).roundHeight;
  let best: Advance | undefined;
  for (let height = high; low <= high; height = above.roundAt(Math.floor((low + high) / 2)).roundHeight) {
    const advance = await advanceTo(height, trust, above);
    if (advance) {
      best = advance;
      low = advance.trust.nextRoundHeight;
    } else {
      high = height - 1;
    }
  }
  return best;
}

/** Returns the advance to the round that begins at a height; undefined if a verifier would refuse it. */
async function advanceTo(
  roundHeight: number,
  trust: Trust,
  above: BlocksAbove,
): Promise<Advance | undefined> {
  if (roundHeight < trust.nextRoundHeight || !above.isProvable(roundHeight)) return undefined;
  const { maxDelegates } = above.roundAt(roundHeight);
  const blocks = await above.blocks(roundHeight, (1 + ROUNDS_ABOVE_ROUND) * maxDelegates);
  const round = blocks.slice(0, maxDelegates);
  const final = upToQuorum(blocks.slice(maxDelegates - 1), trust);
  if (round.length < maxDelegates || !final) return undefined;
  const reached = trustOf(round, roundHeight + maxDelegates, maxDelegates);
  const added = reached.keys.difference(trust.keys).size;
  if (added > maxDelegates - quorumOf(maxDelegates) || reached.keys.size < reached.quorum) return undefined;
  return { blocks: [...round.slice(0, -1), ...final], trust: reached };
}
