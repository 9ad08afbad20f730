/**
 * Follows the feed of a node: writes its blocks as they arrive, and returns to an earlier block if the node requires it. Each
 * transaction first moves `head` from the block that the bundles continue: a bundle that arrives twice, out of order, or from a
 * mirror that was replaced changes nothing (docs/decisions/0043).
 */
import type { Network } from "@uniknode/protocol";
import type { Logger } from "pino";
import type { Position } from "../feed/line.ts";
import type { Postgres } from "../postgres/connection.ts";
import {
  appendBlocks,
  applyChanges,
  type DecodedBundle,
  decodeBundle,
  removeBlocks,
  restoreRecords,
} from "./blocks.ts";
import { catchUpFacts, FactComparison, type FactMark, growFacts, removeFactsAbove } from "./facts/tree.ts";
import { type AheadOptions, type FeedClient, readAhead } from "./feed-client.ts";
import { type Epoch, markLog, moveHead } from "./head.ts";
import type { Bundle, Checkpoint, FeedLine, LogMark } from "./line.ts";
import { MirrorError } from "./mirror-error.ts";

export type FollowDeps = {
  readonly postgres: Postgres;
  readonly feed: Pick<FeedClient, "follow">;
  readonly network: Network;
  readonly epoch: Epoch;
  /** Number of blocks below the head that can be reverted. */
  readonly undoDepth: number;
  readonly signal: AbortSignal;
  /** Called with each new head. */
  readonly onHead: (head: Position) => void;
  /** Called with the height of the tree of final facts while it lacks many blocks. */
  readonly onFacts: (height: number) => void;
  readonly logger: Pick<Logger, "info" | "debug">;
};

/** Bounds of the lines that are read while others are written: their number, and the bytes of their transactions. */
const AHEAD: AheadOptions<Line> = {
  maxItems: 1_000,
  maxSize: 2 * 1024 * 1024,
  sizeOf: (line) =>
    "block" in line ? line.block.transactions.reduce((sum, { bytes }) => sum + bytes.length, 0) : 0,
};
/** Maximum number of positions. Their distance from the head doubles with each, so that 20 reach a million blocks back. */
const MAX_STEPS = 20;

/**
 * Completes the tree of final facts, then follows. Resolves when the node ends the response.
 *
 * @throws {MirrorError} MIRROR_DIFFERS if the facts are not those of the node
 */
export async function follow(deps: FollowDeps): Promise<void> {
  const { postgres, feed, network, epoch, signal, onHead } = deps;
  const comparison = new FactComparison(deps.logger);
  comparison.add(await catchUpFacts(deps));
  const positions = await positionsOf(postgres);
  for await (const lines of readAhead(decoded(feed.follow(positions, signal), network), AHEAD)) {
    const [first] = lines;
    if (first && "back" in first) {
      await revertTo(postgres, first.back, epoch);
      onHead(first.back);
      lines.shift();
      comparison.add(await catchUpFacts(deps));
    }
    const { bundles, checkpoints, logMark } = split(lines);
    comparison.add(await appendBundles(postgres, bundles, deps, logMark));
    const last = bundles.at(-1);
    if (last) onHead({ height: last.height, id: last.id });
    for (const checkpoint of checkpoints) comparison.compare(checkpoint);
  }
}

/** A line of the feed; blocks are decoded. */
type Line = DecodedBundle | Exclude<FeedLine, Bundle>;

/** Decodes blocks as they arrive, while earlier blocks are written. */
async function* decoded(lines: AsyncIterable<FeedLine>, network: Network): AsyncIterable<Line> {
  for await (const line of lines) yield "block" in line ? decodeBundle(line, network) : line;
}

type Parts = {
  readonly bundles: DecodedBundle[];
  readonly checkpoints: Checkpoint[];
  /** The last mark. */
  readonly logMark: LogMark | undefined;
};

/** @throws {MirrorError} MIRROR_FEED_INVALID */
function split(lines: readonly Line[]): Parts {
  let logMark: LogMark | undefined;
  const bundles: DecodedBundle[] = [];
  const checkpoints: Checkpoint[] = [];
  for (const line of lines) {
    if ("block" in line) bundles.push(line);
    else if ("checkpoint" in line) checkpoints.push(line.checkpoint);
    else if ("log" in line) logMark = line.log;
    else throw new MirrorError("MIRROR_FEED_INVALID", "a line of the feed is not a block");
  }
  const isKnown = ({ id }: LogMark) => bundles.some((bundle) => bundle.id === id || bundle.parent === id);
  if (logMark && bundles.length > 0 && !isKnown(logMark)) {
    throw new MirrorError("MIRROR_FEED_INVALID", `the log is that of another block: ${logMark.id}`);
  }
  return { bundles, checkpoints, logMark };
}

/**
 * Returns the head, older blocks at growing distances, and the oldest block to which the mirror can return; newest
 * first.
 */
async function positionsOf(postgres: Postgres): Promise<Position[]> {
  const rows = await postgres.query<{ height: string; id: string }>(
    `WITH oldest AS (SELECT coalesce(min(undo.height) - 1, max(head.height)) AS height FROM head LEFT JOIN undo ON true)
     SELECT height, id FROM blocks
     WHERE height >= (SELECT height FROM oldest) AND height IN (
       SELECT head.height - (2 ^ step)::bigint + 1 FROM head, generate_series(0, $1) AS step
       UNION SELECT height FROM oldest)
     ORDER BY height DESC`,
    [MAX_STEPS],
  );
  return rows.map(({ height, id }) => ({ height: Number(height), id }));
}

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
