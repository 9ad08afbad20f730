/**
 * Builds a mirror. The blocks come first, in consecutive transactions, so that a mirror that is killed resumes at its
 * last block. One more transaction then writes the state after the last block of the node, the blocks up to it, and the
 * indexes.
 */
import type { Network } from "@uniknode/protocol";
import type { Position } from "../feed/line.ts";
import type { Postgres, Transaction } from "../postgres/connection.ts";
import { indexSql } from "../postgres/migrations.ts";
import { appendBlocks, type DecodedBundle, decodeBundle, insertRecords, removeAbove } from "./blocks.ts";
import { removeFactsAbove } from "./facts/tree.ts";
import { type AheadOptions, type FeedClient, readAhead } from "./feed-client.ts";
import { deposed, type Epoch, enterPhase, lockHead, moveHead, NO_BLOCK, type Phase } from "./head.ts";
import type { FeedLine } from "./line.ts";
import { MirrorError } from "./mirror-error.ts";
import { RECORD_TABLES } from "./records.ts";

type BootstrapDeps = {
  readonly postgres: Postgres;
  readonly feed: Pick<FeedClient, "height" | "blocks" | "state">;
  readonly network: Network;
  readonly epoch: Epoch;
  readonly signal: AbortSignal;
  /** Called with the height of the last stored block, and the height of the node when the blocks were requested. */
  readonly onProgress: (height: number, target: number | undefined) => void;
};

/** Bounds of one transaction: blocks, and characters of their bytes in base64. */
const MAX_BLOCKS = 1_000;
const MAX_CHARACTERS = 4 * 1024 * 1024;
/** The next blocks are read and decoded while a transaction is written. */
const AHEAD: AheadOptions<unknown> = { maxItems: 1, maxSize: 0, sizeOf: () => 0 };
/** Number of blocks that are removed when the node has switched to another branch; doubled with each further attempt. */
const FIRST_STEP_BACK = 100;

/**
 * Resolves when the mirror can follow the feed.
 *
 * @param head last stored block
 * @throws {MirrorError}
 */
export async function bootstrap(head: Position, deps: BootstrapDeps): Promise<void> {
  let position = head;
  for (let back = FIRST_STEP_BACK; ; back *= 2) {
    try {
      position = await fetchBlocks(position, deps);
      return await fetchState(position, deps);
    } catch (error) {
      if (!(error instanceof MirrorError) || error.code !== "MIRROR_BRANCH_LEFT") throw error;
      position = await stepBack(back, deps);
    }
  }
}

/** Stores the blocks after the head, up to the head of the node. */
async function fetchBlocks(head: Position, deps: BootstrapDeps): Promise<Position> {
  const { postgres, feed, signal, epoch } = deps;
  let position = head;
  const target = await feed.height(signal);
  const lines = feed.blocks(head.height, Number.MAX_SAFE_INTEGER, signal);
  for await (const [bundles = []] of readAhead(batchesOf(lines, deps.network), AHEAD)) {
    await postgres.transaction("READ WRITE", async (transaction) => {
      position = await append(transaction, position, bundles, { epoch, phase: "blocks" });
    });
    deps.onProgress(position.height, target);
  }
  return position;
}

type AppendOptions = Pick<BootstrapDeps, "epoch"> & { readonly phase: Phase };

/** @throws {MirrorError} MIRROR_BRANCH_LEFT if the blocks do not continue the position, or each other */
async function append(
  transaction: Transaction,
  position: Position,
  bundles: readonly DecodedBundle[],
  { epoch, phase }: AppendOptions,
): Promise<Position> {
  const [first] = bundles;
  const last = bundles.at(-1);
  if (!first || !last) return position;
  // The node reads the blocks of a response in several steps: between two of them, it can switch to another branch.
  if (bundles.some(({ parent }, index) => parent !== (bundles[index - 1] ?? position).id)) {
    throw branchLeft(position);
  }
  const blocks = bundles.map(({ block }) => block);
  const before = await moveHead(transaction, { from: first.parent, to: last, epoch, phase }, blocks);
  await appendBlocks(transaction, blocks, before);
  return { height: last.height, id: last.id };
}

const branchLeft = ({ height }: Position): MirrorError =>
  new MirrorError("MIRROR_BRANCH_LEFT", `the node has switched from the branch of block ${height}`);

/** Decodes the blocks of a response as they arrive, and yields them in batches. */
export async function* batchesOf(
  lines: AsyncIterable<FeedLine>,
  network: Network,
): AsyncIterable<readonly DecodedBundle[]> {
  let bundles: DecodedBundle[] = [];
  let characters = 0;
  for await (const line of lines) {
    if ("end" in line) {
      if (bundles.length > 0) yield bundles;
      return;
    }
    if (!("block" in line)) throw new MirrorError("MIRROR_FEED_INVALID", "a line of the feed is not a block");
    bundles.push(decodeBundle(line, network));
    characters += line.block.length;
    if (bundles.length < MAX_BLOCKS && characters < MAX_CHARACTERS) continue;
    yield bundles;
    bundles = [];
    characters = 0;
  }
  throw new MirrorError("MIRROR_NODE_UNREACHABLE", "the node ended a response before its last line");
}

async function fetchState(head: Position, deps: BootstrapDeps): Promise<void> {
  const { postgres, feed, signal, epoch } = deps;
  await postgres.transaction("READ WRITE", async (transaction) => {
    for (const { name } of RECORD_TABLES) await transaction.change(`DELETE FROM ${name}`);
    const target = await writeState(transaction, feed.state(signal));
    let position = head;
    for await (const bundles of batchesOf(feed.blocks(head.height, target.height, signal), deps.network)) {
      position = await append(transaction, position, bundles, { epoch, phase: "blocks" });
    }
    if (position.id !== target.id) throw branchLeft(position);
    await transaction.build(indexSql());
    await enterPhase(transaction, "ready", epoch);
  });
}

/** Writes the records of the state, and returns the block after which they were read. */
async function writeState(transaction: Transaction, lines: AsyncIterable<FeedLine>): Promise<Position> {
  let position: Position | undefined;
  let count = 0;
  for await (const line of lines) {
    if ("state" in line) position = line.state;
    else if ("rows" in line) {
      await insertRecords(transaction, line.rows);
      count += line.rows.length;
    } else if ("end" in line && position && line.end === count) return position;
    else throw new MirrorError("MIRROR_FEED_INVALID", "the records of the state are incomplete");
  }
  throw new MirrorError(
    "MIRROR_NODE_UNREACHABLE",
    "the node ended the records of the state before the last one",
  );
}

/** Removes the last blocks, which may belong to another branch, and returns the last remaining one. */
async function stepBack(count: number, { postgres, epoch }: BootstrapDeps): Promise<Position> {
  return postgres.transaction("READ WRITE", async (transaction) => {
    const height = Math.max((await lockHead(transaction, epoch)) - count, 0);
    const [block] = await transaction.query<{ id: string; total: string }>(
      "SELECT id, transactions_up_to AS total FROM blocks WHERE height = $1",
      [height],
    );
    const target = block ? { height, id: block.id } : NO_BLOCK;
    await removeAbove(transaction, target.height);
    await removeFactsAbove(transaction, target.height);
    const moved = await transaction.change(
      "UPDATE head SET height = $1, id = $2, transactions = $3 WHERE epoch = $4 AND phase = 'blocks'",
      [target.height, target.id, block?.total ?? 0, epoch],
    );
    if (moved !== 1) throw deposed();
    return target;
  });
}
