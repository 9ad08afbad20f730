/** The right edge of a Merkle tree: enough to add leaves and to compute the root, but not for proofs. */
import { present } from "../../platform/present.ts";
import { EMPTY_ROOT, HASH_BYTES, type Hash, nodeHash } from "./hashes.ts";

export type Edge = {
  /** Number of leaves of the tree. */
  readonly size: number;
  /** Concatenated hashes of the largest complete subtrees, from the left: one for each bit of the size. */
  readonly hashes: Uint8Array;
};

export const EMPTY_EDGE: Edge = { size: 0, hashes: new Uint8Array() };

/**
 * Returns the edge of the tree with further leaves.
 *
 * @param leaves concatenated hashes of the leaves
 */
export function extendEdge({ size, hashes }: Edge, leaves: Uint8Array): Edge {
  const edge = toList(hashes);
  let count = size;
  for (let node of toList(leaves)) {
    // Each trailing bit of the size is a complete subtree that the leaf completes to a larger one.
    for (let rest = count; rest % 2 === 1; rest = Math.floor(rest / 2)) {
      node = nodeHash(present(edge.pop(), "a subtree of the edge"), node);
    }
    edge.push(node);
    count++;
  }
  return { size: count, hashes: Buffer.concat(edge) };
}

export function edgeRoot({ hashes }: Edge): Hash {
  const edge = toList(hashes);
  let root = edge.pop();
  if (!root) return EMPTY_ROOT;
  for (let left = edge.pop(); left; left = edge.pop()) root = nodeHash(left, root);
  return root;
}

function toList(hashes: Uint8Array): Hash[] {
  const list: Hash[] = [];
  for (let offset = 0; offset < hashes.length; offset += HASH_BYTES) {
    list.push(hashes.subarray(offset, offset + HASH_BYTES));
  }
  return list;
}
