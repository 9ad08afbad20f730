/** Refuses to copy another chain of the same network into the database of a mirror. */
import type { Network } from "@uniknode/protocol";
import { finalHeight } from "../facts/final.ts";
import type { Postgres } from "../postgres/connection.ts";
import { MirrorError } from "./error.ts";
import type { FeedClient } from "./feed-client.ts";
import { readHead } from "./head.ts";

type ComparedDeps = {
  readonly postgres: Postgres;
  readonly feed: Pick<FeedClient, "blocks">;
  readonly network: Network;
};

/** The first block that two chains of one network can differ in. */
const AFTER_GENESIS = 2;

/**
 * Compares the newest block of the database that no node can have reverted. Otherwise, following another chain would remove every
 * block of the database. A chain of which no block is final yet is not compared.
 *
 * @param undoDepth maximum number of blocks that a node reverts
 * @throws {MirrorError} MIRROR_DATABASE if the node has another block; MIRROR_BEHIND if it does not have that height yet
 */
export async function refuseOtherChain(
  undoDepth: number,
  { postgres, feed, network }: ComparedDeps,
  signal: AbortSignal,
): Promise<void> {
  const head = await readHead(postgres);
  if (!head || finalHeight(head.height, network) < AFTER_GENESIS) return;
  const height = Math.max(head.height - undoDepth, AFTER_GENESIS);
  const [block] = await postgres.query<{ id: string }>("SELECT id FROM blocks WHERE height = $1", [height]);
  if (!block) return;
  const id = await idAt(height, feed, signal);
  if (id === block.id) return;
  if (id === undefined)
    throw new MirrorError(
      "MIRROR_BEHIND",
      `the node does not have block ${height} yet, and the database has ${head.height} blocks: wait until the node is synchronised, or check --node`,
    );
  throw new MirrorError(
    "MIRROR_DATABASE",
    `the node has another chain than the database: block ${height} is ${id}, and ${block.id} in the database; check --node, or copy this chain into an empty database`,
  );
}

/** Returns the id of the node's block; undefined if it has none. */
async function idAt(height: number, feed: ComparedDeps["feed"], signal: AbortSignal) {
  for await (const line of feed.blocks(height - 1, height, signal))
    return "block" in line ? line.id : undefined;
  return undefined;
}
