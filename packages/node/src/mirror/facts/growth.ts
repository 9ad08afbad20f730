/**
 * Extends the Merkle tree of final facts of a mirror. The leaves are derived from the rows of the mirror, not from the
 * feed: the root is therefore evidence that these rows are correct.
 */
import { type Block, createRounds, type Network } from "@uniknode/protocol";
import { HistoryError } from "../../event-log/history.ts";
import { readFacts } from "../../event-log/postgres/facts.ts";
import { type BlockRange, readStoredBlocks } from "../../event-log/postgres/stored-blocks.ts";
import { finalHeight } from "../../facts/final.ts";
import { endsRound, leafText, leavesOf, withUniksRoot } from "../../facts/leaf.ts";
import { edgeRoot, extendEdge } from "../../facts/merkle/edge.ts";
import { type Hash, hashLeaves } from "../../facts/merkle/hashes.ts";
import type { Position } from "../../feed/position.ts";
import type { Postgres, Query, Transaction } from "../../postgres/connection.ts";
import { MirrorError } from "../error.ts";
import { type Epoch, lockHead } from "../head.ts";
import { type FactTree, readTree, writeTree } from "./tree.ts";
import { addRounds } from "./uniks.ts";

/** The tree up to and including a block. */
export type FactMark = Position & { readonly size: number; readonly root: Hash };

/** Number of last final blocks whose marks are returned: the node's tree can be this far behind the tree of the mirror. */
const MARKED_BLOCKS = 1_000;
/** Bounds of one step. */
const BOUNDS = { maxBlocks: 500, maxTransactions: 5_000 };

/**
 * Adds the leaves of all final blocks, in the caller's transaction.
 *
 * @param head height of the last block of the mirror
 * @returns the last marks that the tree has passed
 * @throws {MirrorError} MIRROR_DIFFERS if a row of a block cannot be read
 */
export async function growFacts(
  transaction: Transaction,
  head: number,
  network: Network,
): Promise<FactMark[]> {
  const marks: FactMark[] = [];
  for (;;) {
    const grown = await growStep(transaction, head, network);
    marks.push(...grown.marks);
    if (grown.isComplete) return marks;
  }
}

export type CatchUpDeps = {
  readonly postgres: Postgres;
  readonly network: Network;
  readonly epoch: Epoch;
  readonly signal: AbortSignal;
  /** Called after each step with the height of the tree. */
  readonly onFacts: (height: number) => void;
};

/**
 * Adds the leaves of all final blocks, in steps with one transaction each. For a newly built mirror, this is the whole
 * chain.
 *
 * @returns the initial mark of the tree, and the last marks that it has passed
 * @throws {MirrorError} MIRROR_DEPOSED, MIRROR_DIFFERS
 */
export async function catchUpFacts(deps: CatchUpDeps): Promise<FactMark[]> {
  const { postgres, network, epoch, signal, onFacts } = deps;
  const marks = [markOf(await readTree(postgres.query))];
  for (;;) {
    signal.throwIfAborted();
    const grown = await postgres.transaction("READ WRITE", async (transaction) =>
      growStep(transaction, await lockHead(transaction, epoch), network),
    );
    marks.push(...grown.marks);
    onFacts(grown.height);
    if (grown.isComplete) return marks;
  }
}

const markOf = ({ height, id, edge }: FactTree): FactMark => ({
  height,
  id,
  size: edge.size,
  root: edgeRoot(edge),
});

type Step = { readonly marks: FactMark[]; readonly height: number; readonly isComplete: boolean };

async function growStep(transaction: Transaction, head: number, network: Network): Promise<Step> {
  const end = finalHeight(head, network);
  const tree = await readTree(transaction.query);
  if (tree.height >= end) return { marks: [], height: tree.height, isComplete: true };
  const blocks = await readBlocks(transaction.query, { first: tree.height + 1, last: end });
  const facts = await readFacts(transaction.query, blocks, network);
  const { roundAt } = createRounds(network);
  const ends = blocks.map(({ header }) => header.height).filter((height) => endsRound(height, roundAt));
  const roots = await addRounds(transaction, ends, network);
  const marks: FactMark[] = [];
  let grown = tree;
  for (const [index, { header }] of blocks.entries()) {
    const map = roots.get(header.height);
    const { round } = roundAt(header.height);
    const ofBlock = facts[index] ?? [];
    const all = map ? withUniksRoot(ofBlock, { name: "uniks.root", round, ...map }) : ofBlock;
    const leaves = leavesOf(header, all, network).map(leafText);
    grown = { height: header.height, id: header.id, edge: extendEdge(grown.edge, hashLeaves(leaves)) };
    if (header.height > end - MARKED_BLOCKS) marks.push(markOf(grown));
  }
  await writeTree(transaction, grown);
  return { marks, height: grown.height, isComplete: grown.height === end };
}

/** @throws {MirrorError} MIRROR_DIFFERS if a block is missing, or its bytes cannot be decoded */
async function readBlocks(query: Query, range: BlockRange): Promise<Block[]> {
  try {
    return await readStoredBlocks(query, range, BOUNDS);
  } catch (error) {
    if (!(error instanceof HistoryError)) throw error;
    throw new MirrorError("MIRROR_DIFFERS", error.message, { cause: error });
  }
}
