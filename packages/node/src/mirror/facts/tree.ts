/**
 * The Merkle tree of final facts in the database of a mirror: one row with its right edge. The leaves are derived from the rows of the
 * mirror, not from the feed: the root is therefore evidence that these rows are correct.
 */
import { type Block, createRounds, type Network } from "@uniknode/protocol";
import type { Logger } from "pino";
import { HistoryError } from "../../event-log/history.ts";
import { type BlockRange, readFacts, readStoredBlocks } from "../../event-log/postgres/facts.ts";
import { finalHeight } from "../../facts/final.ts";
import { endsRound, leafText, leavesOf, withUniksRoot } from "../../facts/leaf.ts";
import { type Hash, hashLeaves } from "../../facts/merkle/proofs.ts";
import { type Edge, EMPTY_EDGE, edgeRoot, extendEdge } from "../../facts/merkle/tiles.ts";
import type { Position } from "../../feed/line.ts";
import type { Postgres, Query, Transaction } from "../../postgres/connection.ts";
import { type Epoch, lockHead, NO_BLOCK } from "../head.ts";
import type { Checkpoint } from "../line.ts";
import { MirrorError } from "../mirror-error.ts";
import { addRounds, emptyMap } from "./uniks.ts";

/** The tree up to and including a block. */
type FactTree = Position & { readonly edge: Edge };

type TreeRow = { height: string; id: string; size: string; edge: Uint8Array };

export async function readTree(query: Query): Promise<FactTree> {
  const [row] = await query<TreeRow>("SELECT height, id, size, edge FROM facts");
  if (!row) return { ...NO_BLOCK, edge: EMPTY_EDGE };
  return { height: Number(row.height), id: row.id, edge: { size: Number(row.size), hashes: row.edge } };
}

async function writeTree(transaction: Transaction, { height, id, edge }: FactTree): Promise<void> {
  await transaction.change(
    `INSERT INTO facts (height, id, size, edge) VALUES ($1, $2, $3, $4)
     ON CONFLICT (is_single) DO UPDATE SET height = $1, id = $2, size = $3, edge = $4`,
    [height, id, edge.size, edge.hashes],
  );
}

/** Empties the tree and the map of uniks if they have facts of blocks above a height. The next growth begins at the first block. */
export async function removeFactsAbove(transaction: Transaction, height: number): Promise<void> {
  const removed = await transaction.change("DELETE FROM facts WHERE height > $1", [height]);
  if (removed > 0) await emptyMap(transaction);
}

/** Size and root of the tree up to and including a block. */
export type FactMark = Position & { readonly size: number; readonly root: Hash };

/** Number of last final blocks whose marks are returned: the node's tree can be this far behind the tree of the mirror. */
const MARKED_BLOCKS = 1_000;
/** Bounds of one step. */
const BOUNDS = { maxBlocks: 500, maxTransactions: 5_000 };

/**
 * Adds the leaves of all final blocks, in the caller's transaction. Returns the last marks that the tree has passed.
 *
 * @param head height of the last block of the mirror
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

type CatchUpDeps = {
  readonly postgres: Postgres;
  readonly network: Network;
  readonly epoch: Epoch;
  readonly signal: AbortSignal;
  /** Called after each step with the height of the tree. */
  readonly onFacts: (height: number) => void;
};

/**
 * Adds the leaves of all final blocks, in steps with one transaction each. For a newly built mirror, this is the whole
 * chain. Returns the initial mark of the tree, and the last marks that it has passed.
 *
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

/** Maximum number of cached marks. */
const MAX_MARKS = 1_000;

/** Compares the tree of the mirror with the tree of its node. */
export class FactComparison {
  readonly #logger: Pick<Logger, "info" | "debug">;
  /** Marks by height, oldest first. */
  readonly #marks = new Map<number, FactMark>();
  #isFirst = true;

  constructor(logger: Pick<Logger, "info" | "debug">) {
    this.#logger = logger;
  }

  /** Adds marks of blocks that the tree of the mirror has passed. */
  add(passed: readonly FactMark[]): void {
    for (const mark of passed.slice(-MAX_MARKS)) {
      this.#marks.delete(mark.height);
      this.#marks.set(mark.height, mark);
    }
    for (const height of this.#marks.keys()) {
      if (this.#marks.size <= MAX_MARKS) return;
      this.#marks.delete(height);
    }
  }

  /**
   * Compares a checkpoint of the node with the mark of the same block. Ignores it if there is none: the two trees grow
   * at different times.
   *
   * @throws {MirrorError} MIRROR_DIFFERS
   */
  compare({ height, id, size, root }: Checkpoint): void {
    const own = this.#marks.get(height);
    if (own?.id !== id) return;
    const ownRoot = Buffer.from(own.root).toString("hex");
    if (own.size !== size || ownRoot !== root) {
      throw new MirrorError(
        "MIRROR_DIFFERS",
        `the facts of the blocks up to ${height} differ: ${own.size} facts with the root ${ownRoot} in the mirror, ` +
          `${size} with the root ${root} in the node; run "uniknode mirror --check", which names the rows that differ, ` +
          "and start the mirror with an empty database",
      );
    }
    const level = this.#isFirst ? "info" : "debug";
    this.#logger[level]({ height, size, root }, "the facts agree with those of the node");
    this.#isFirst = false;
  }
}
