/** Hashes of a Merkle tree as in RFC 6962. */
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
