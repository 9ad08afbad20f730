/**
 * The tree of final facts of a snapshot: its root is in the manifest, and is recomputed from the blocks when
 * the snapshot is checked, if its block is final there.
 */
import { setImmediate as nextTick } from "node:timers/promises";
import type { Network } from "@uniknode/protocol";
import { finalHeight } from "../facts/final.ts";
import { Growth } from "../facts/growth.ts";
import { rootOf } from "../facts/merkle/proofs.ts";
import { FactTree } from "../facts/tree/store.ts";
import { BlockStore } from "../store/chain/blocks.ts";
import { createReadTogether, type Database, openDatabase } from "../store/engine/database.ts";
import { openReader } from "../store/engine/migrations.ts";
import { ArchiveError } from "./archive-error.ts";
import type { Manifest } from "./manifest.ts";

type Facts = NonNullable<Manifest["facts"]>;

/** Interval of progress reports, between which no signal is handled. */
const STEP_MS = 100;

/** Returns the fact tree of a database that a node may use; undefined if it has no leaves. */
export function readFacts(path: string): Facts | undefined {
  const database = openReader(path);
  try {
    return createReadTogether(database)(() => {
      const tree = new FactTree(database);
      const last = tree.last();
      if (!last) return undefined;
      const root = rootOf(last.size, tree.nodes());
      return {
        version: 3,
        height: last.height,
        id: last.blockId,
        size: last.size,
        root: Buffer.from(root).toString("hex"),
      };
    });
  } finally {
    database.close();
  }
}

/** Returns true if the chain has the block up to which the tree was made. */
export const areOfChain = ({ height, id }: Facts, database: Database): boolean =>
  new BlockStore(database).header(height)?.id === id;

/**
 * Builds the fact tree of a database from its blocks, and compares it with the manifest.
 *
 * @throws {ArchiveError} ARCHIVE_INVALID when they differ
 */
export async function buildFacts(
  path: string,
  { facts }: Manifest,
  network: Network,
  onPart: (part: number) => void,
): Promise<void> {
  const database = openDatabase(path);
  try {
    const growth = new Growth({ database, network, onTruncated: () => {} });
    while (growth.step(performance.now() + STEP_MS)) {
      const { height, lag } = growth.figures();
      onPart(height / (height + lag));
      await nextTick();
    }
    // The close ignores an error of its checkpoint, and a restore then removes the log.
    database.checkpoint();
    if (!facts) return;
    const head = new BlockStore(database).head()?.height ?? 0;
    // Blocks that are no longer final keep their leaves in the tree of the author (facts.md 3), and are not in this tree.
    const isGrown = facts.height <= finalHeight(head, network);
    const isOther = isGrown && rootAt(database, facts.size) !== facts.root;
    if (isOther || !areOfChain(facts, database)) {
      throw new ArchiveError("ARCHIVE_INVALID", "the facts of its blocks do not match the manifest");
    }
  } finally {
    database.close();
  }
}

/** Returns the root of the tree when it had a size; undefined if it has fewer leaves. */
function rootAt(database: Database, size: number): string | undefined {
  const tree = new FactTree(database);
  if (size > (tree.last()?.size ?? 0)) return undefined;
  return Buffer.from(rootOf(size, tree.nodes())).toString("hex");
}
