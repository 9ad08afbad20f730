/** Builds proofs that a block is final (docs/spec/proofs.md). */
import { createSlots, type Network } from "@uniknode/protocol";
import type { Snapshot } from "../../read/port.ts";
import type { StoredBlock } from "../../read/rows.ts";
import { HttpError } from "../core/error.ts";
import type { Proof } from "../responses/proof.ts";
import { type Advance, furthestAdvance } from "./advances.ts";
import {
  type BlocksAbove,
  createBlocksAbove,
  headerText,
  type Trust,
  trustOf,
  upToQuorum,
} from "./blocks-above.ts";

/** Maximum number of advances, and of headers of all of them, in a response; the client requests further ones. */
const MAX_ADVANCES = 4;
const MAX_ADVANCE_HEADERS = 768;
/** Rounds above a block in which a quorum must have signed. */
const ROUNDS_ABOVE = 3;
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

/** @throws {HttpError} PROOF_UNAVAILABLE */
export async function buildProof(
  snapshot: Snapshot,
  network: Network,
  { block, transaction, checkpoint }: ProofRequest,
): Promise<Proof> {
  const above = createBlocksAbove(snapshot, network);
  if (!above.isProvable(block.height)) {
    throw new HttpError(
      "PROOF_UNAVAILABLE",
      `The block at height ${block.height} or its parent has no full id`,
    );
  }
  const start = { block, checkpoint: checkpoint && checkpoint <= above.head.height ? checkpoint : undefined };
  const { blocks, advances } = await selectBlocks(start, above, network);
  return {
    nethash: network.description.nethash,
    ...(transaction && { transaction: Buffer.from(transaction).toString("hex") }),
    ids: [...(await snapshot.transactions.idsInBlock(block.height))],
    headers: blocks.map((one) => headerText(one, network)),
    advances: advances.map(({ blocks }) => blocks.map((one) => headerText(one, network))),
    rounds: await readRounds(snapshot, above, [...advances.flatMap(({ blocks }) => blocks), ...blocks]),
  };
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

/** Names the delegates of the rounds of blocks, as far as they generated these blocks. */
async function readRounds(
  { rounds }: Snapshot,
  { roundAt }: BlocksAbove,
  blocks: readonly StoredBlock[],
): Promise<Proof["rounds"]> {
  const byRound = Map.groupBy(blocks, ({ height }) => roundAt(height).round);
  const named: { round: number; delegates: (string | null)[] }[] = [];
  for (const [round, ofRound] of [...byRound].sort(([one], [other]) => one - other)) {
    const generators = new Set(ofRound.map(({ generatorPublicKey }) => generatorPublicKey));
    const ranked = (await rounds.delegates(round)) ?? [];
    const delegates = ranked.map(({ publicKey }) => (generators.has(publicKey) ? publicKey : null));
    named.push({ round, delegates });
  }
  return named;
}
