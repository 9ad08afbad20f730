/** Rounds by which the trusted keys of a verifier advance (proofs.md 3). */
import { quorumOf } from "@uniknode/protocol";
import type { StoredBlock } from "../read/rows.ts";
import { type BlocksAbove, type Trust, trustOf, upToQuorum } from "./blocks-above.ts";

export type Advance = { readonly blocks: readonly StoredBlock[]; readonly trust: Trust };

/** Rounds above a round in which a quorum must have signed. */
const ROUNDS_ABOVE = 2;

/**
 * Finds the highest round, up to that of a height, to which trusted keys can advance at once. Delegates change slowly, so
 * that a binary search finds it, or a round somewhat below; each of its steps reads three rounds.
 */
export async function furthestAdvance(
  trust: Trust,
  upTo: number,
  above: BlocksAbove,
): Promise<Advance | undefined> {
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
  const blocks = await above.blocks(roundHeight, (1 + ROUNDS_ABOVE) * maxDelegates);
  const round = blocks.slice(0, maxDelegates);
  const final = upToQuorum(blocks.slice(maxDelegates - 1), trust);
  if (round.length < maxDelegates || !final) return undefined;
  const reached = trustOf(round, roundHeight + maxDelegates, maxDelegates);
  const added = reached.keys.difference(trust.keys).size;
  if (added > maxDelegates - quorumOf(maxDelegates) || reached.keys.size < reached.quorum) return undefined;
  return { blocks: [...round.slice(0, -1), ...final], trust: reached };
}
