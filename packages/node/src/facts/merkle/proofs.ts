/**
 * Hashes, roots and proofs of a Merkle tree (RFC 6962, 2.1.1 and 2.1.2), made from the hashes of its complete subtrees.
 */
import { hash } from "node:crypto";

/** A SHA-256 digest. */
export type Hash = Uint8Array;

export const HASH_BYTES = 32;

/** Root of the tree without leaves. */
export const EMPTY_ROOT: Hash = hash("sha256", "", "buffer");

/** @param text ASCII text of the leaf */
export const leafHash = (text: string): Hash => Buffer.from(leafDigest(text), "binary");

export function nodeHash(left: Hash, right: Hash): Hash {
  node.set(left, 1);
  node.set(right, 1 + HASH_BYTES);
  return hash("sha256", node, "buffer");
}

/** Returns the concatenated hashes of leaves. */
export function hashLeaves(texts: readonly string[]): Uint8Array {
  const hashes = Buffer.alloc(texts.length * HASH_BYTES);
  for (const [index, text] of texts.entries()) hashes.write(leafDigest(text), index * HASH_BYTES, "binary");
  return hashes;
}

/** Returns the root of the complete subtree above concatenated hashes; their number is a power of two. */
export function foldHashes(hashes: Uint8Array): Hash {
  const row = Buffer.from(hashes);
  for (let length = row.length; length > HASH_BYTES; length /= 2) {
    for (let offset = 0; offset < length; offset += 2 * HASH_BYTES) {
      row.copy(node, 1, offset, offset + 2 * HASH_BYTES);
      row.write(hash("sha256", node, "binary"), offset / 2, "binary");
    }
  }
  return row.subarray(0, HASH_BYTES);
}

/** Input for the hash of an inner node: the byte 1 and the two child hashes. */
const node = Buffer.alloc(1 + 2 * HASH_BYTES, 1);

/** Returns a digest as text with one character per byte: creating such small buffers takes longer than hashing. */
const leafDigest = (text: string): string => hash("sha256", `\0${text}`, "binary");

/** Returns the hash of the complete subtree over the `2 ** level` leaves from `index * 2 ** level` on. */
export type Nodes = (level: number, index: number) => Hash;

export const rootOf = (size: number, nodes: Nodes): Hash =>
  size === 0 ? EMPTY_ROOT : subtree(0, size, nodes);

/**
 * Returns the hashes that lead from the leaf to the root, lowest first.
 *
 * @param index less than `size`
 */
export function inclusionProof(index: number, size: number, nodes: Nodes): Hash[] {
  const path = (index: number, start: number, size: number): Hash[] => {
    if (size === 1) return [];
    const left = leftSize(size);
    return index < left
      ? [...path(index, start, left), subtree(start + left, size - left, nodes)]
      : [...path(index - left, start + left, size - left), subtree(start, left, nodes)];
  };
  return path(index, 0, size);
}

/**
 * Returns the hashes that prove that the tree of the first `from` leaves is a prefix of the tree of the first `to` leaves.
 *
 * @param from at most `to`
 */
export function consistencyProof(from: number, to: number, nodes: Nodes): Hash[] {
  const path = (from: number, start: number, size: number, isWhole: boolean): Hash[] => {
    if (from === size) return isWhole ? [] : [subtree(start, size, nodes)];
    const left = leftSize(size);
    return from <= left
      ? [...path(from, start, left, isWhole), subtree(start + left, size - left, nodes)]
      : [...path(from - left, start + left, size - left, false), subtree(start, left, nodes)];
  };
  return from === 0 ? [] : path(from, 0, to, true);
}

export type Inclusion = { readonly leaf: Hash; readonly index: number; readonly size: number };

/** Returns whether the leaf is at the index of the tree with this root; never throws. */
export function isIncluded({ leaf, index, size }: Inclusion, root: Hash, proof: readonly Hash[]): boolean {
  if (!isCount(index) || !isCount(size) || index >= size) return false;
  const rest = [...proof];
  const climb = (index: number, size: number): Hash | undefined => {
    if (size === 1) return leaf;
    const left = leftSize(size);
    const sibling = rest.pop();
    const hash = index < left ? climb(index, left) : climb(index - left, size - left);
    if (!sibling || !hash) return undefined;
    return index < left ? nodeHash(hash, sibling) : nodeHash(sibling, hash);
  };
  const climbed = climb(index, size);
  return rest.length === 0 && climbed !== undefined && areEqual(climbed, root);
}

export type Root = { readonly size: number; readonly root: Hash };

/** Returns whether the first tree is a prefix of the second; never throws. */
export function isConsistent(from: Root, to: Root, proof: readonly Hash[]): boolean {
  if (!isCount(from.size) || !isCount(to.size) || from.size > to.size) return false;
  if (from.size === 0) return proof.length === 0 && areEqual(from.root, EMPTY_ROOT);
  const rest = [...proof];
  const climb = (size: number, total: number, isWhole: boolean): readonly [Hash, Hash] | undefined => {
    if (size === total) {
      const hash = isWhole ? from.root : rest.pop();
      return hash && [hash, hash];
    }
    const left = leftSize(total);
    const sibling = rest.pop();
    const pair = size <= left ? climb(size, left, isWhole) : climb(size - left, total - left, false);
    if (!sibling || !pair) return undefined;
    const [before, after] = pair;
    return size <= left
      ? [before, nodeHash(after, sibling)]
      : [nodeHash(sibling, before), nodeHash(sibling, after)];
  };
  const pair = climb(from.size, to.size, true);
  return (
    rest.length === 0 && pair !== undefined && areEqual(pair[0], from.root) && areEqual(pair[1], to.root)
  );
}

/** Returns the hash over adjacent leaves; `start` is a multiple of a power of two that is at least `size`. */
function subtree(start: number, size: number, nodes: Nodes): Hash {
  const level = Math.round(Math.log2(size));
  if (2 ** level === size) return nodes(level, start / size);
  const left = leftSize(size);
  return nodeHash(subtree(start, left, nodes), subtree(start + left, size - left, nodes));
}

/** Returns the largest power of two below a size of at least two. */
function leftSize(size: number): number {
  let left = 1;
  while (left * 2 < size) left *= 2;
  return left;
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

const areEqual = (a: Hash, b: Hash): boolean => Buffer.compare(a, b) === 0;
