/**
 * Writes the bundles of a feed to PostgreSQL. Each transaction first moves `head` from the block that the bundles
 * continue: a bundle that arrives twice, out of order, or from a mirror that was replaced changes nothing
 * (docs/decisions/0043).
 */
import type { Network } from "@uniknode/protocol";
import type { Position } from "../feed/line.ts";
import type { Postgres } from "../postgres/connection.ts";
import { appendBlocks, type DecodedBundle, removeBlocks } from "./blocks.ts";
import { type FactMark, growFacts, removeFactsAbove } from "./facts/tree.ts";
import { type Epoch, markLog, moveHead } from "./head.ts";
import type { LogMark } from "./line.ts";
import { applyChanges, restoreRecords } from "./state.ts";

/**
 * Writes blocks that continue the head, with the records that they wrote and the facts that became final, and the position
 * of the log.
 *
 * @param undoDepth number of blocks below the head that can be reverted
 * @param logMark newest event in the log after one of the blocks, or after the head before them
 * @returns marks of the blocks that the tree of final facts has passed
 * @throws {MirrorError} MIRROR_FEED_INVALID, MIRROR_DEPOSED, MIRROR_DIFFERS; then nothing is written
 */
export async function appendBundles(
  postgres: Postgres,
  bundles: readonly DecodedBundle[],
  {
    network,
    epoch,
    undoDepth,
  }: { readonly network: Network; readonly epoch: Epoch; readonly undoDepth: number },
  logMark?: LogMark,
): Promise<FactMark[]> {
  const [first] = bundles;
  const last = bundles.at(-1);
  if (!first || !last) {
    if (logMark) await markLog(postgres, logMark, epoch);
    return [];
  }
  const blocks = bundles.map(({ block }) => block);
  return postgres.transaction("READ WRITE", async (transaction) => {
    const total = await moveHead(
      transaction,
      { from: first.parent, to: last, epoch, phase: "ready", logSequence: logMark?.sequence },
      blocks,
    );
    await appendBlocks(transaction, blocks, total);
    await applyChanges(transaction, bundles);
    await transaction.change("DELETE FROM undo WHERE height <= $1", [last.height - undoDepth]);
    return growFacts(transaction, last.height, network);
  });
}

/**
 * Returns to a block below the head. The position of the log stays: the remaining blocks are the beginning of
 * the chain that the node had then.
 *
 * @throws {MirrorError} MIRROR_GONE if the undo records do not reach that far; MIRROR_DEPOSED
 */
export async function revertTo(postgres: Postgres, target: Position, epoch: Epoch): Promise<void> {
  await postgres.transaction("READ WRITE", async (transaction) => {
    const [head] = await transaction.query<{ id: string }>("SELECT id FROM head");
    const removed = await removeBlocks(transaction, target);
    await moveHead(transaction, { from: head?.id ?? "", to: target, epoch, phase: "ready" }, [], -removed);
    await restoreRecords(transaction, target.height);
    await removeFactsAbove(transaction, target.height);
  });
}
