/** Compares the fact tree with the chain. */
import type { BlockStore } from "../../store/chain/blocks.ts";
import type { FactTree, Mark } from "./store.ts";

/** Returns the last mark whose block is on the chain: after a reorganisation, the tree has facts of reverted blocks. */
export function lastMarkOnChain(tree: FactTree, blocks: Pick<BlockStore, "header">): Mark | undefined {
  let mark = tree.last();
  while (mark && blocks.header(mark.height)?.id !== mark.blockId) mark = tree.markAt(mark.height - 1);
  return mark;
}
