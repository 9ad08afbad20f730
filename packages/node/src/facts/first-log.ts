/**
 * The first version of the tree of facts (uniknode-facts-v1), whose leaves did not include the roots of the map of uniks. Snapshots
 * and databases of earlier versions contain its root, which verifies their blocks.
 */
import type { Network } from "@uniknode/protocol";
import { createPastFacts } from "../event-log/past-facts.ts";
import { present } from "../platform/present.ts";
import { createBlockStore } from "../store/chain/blocks.ts";
import { createFactLookups } from "../store/chain/fact-lookups.ts";
import type { Database } from "../store/engine/database.ts";
import { leafText, leavesOf } from "./leaf.ts";
import { EMPTY_EDGE, edgeRoot, extendEdge } from "./merkle/edge.ts";
import { hashLeaves } from "./merkle/hashes.ts";

/** Size and root of a tree; the root is hexadecimal. */
export type FirstLogRoot = { readonly size: number; readonly root: string };

const BATCH_BLOCKS = 500;

/** Computes the root of the first version up to a height, or up to the head; yields the height between two batches of blocks. */
export function* firstLogRoot(
  database: Database,
  network: Network,
  height: number,
): Generator<number, FirstLogRoot> {
  const blocks = createBlockStore(database);
  const pastFacts = createPastFacts(createFactLookups(database), network);
  const end = Math.min(height, blocks.head()?.height ?? 0);
  let edge = EMPTY_EDGE;
  for (let first = 1; first <= end; first += BATCH_BLOCKS) {
    const last = Math.min(first + BATCH_BLOCKS - 1, end);
    const texts: string[] = [];
    for (let at = first; at <= last; at++) {
      const block = present(blocks.block(at), `block ${at}`);
      texts.push(...leavesOf(block.header, pastFacts.of(block), network).map(leafText));
    }
    edge = extendEdge(edge, hashLeaves(texts));
    if (last < end) yield last;
  }
  return { size: edge.size, root: Buffer.from(edgeRoot(edge)).toString("hex") };
}
