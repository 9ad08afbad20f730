/** Hashes of a Merkle tree as in RFC 6962. */
import { hash } from "node:crypto";

/** A SHA-256 digest. */
export type Hash = Uint8Array;

export const HASH_BYTES = 32;

/** Root of the tree without leaves. */
export const EMPTY_ROOT: Hash = hash("sha256", "", "buffer");

/** @param text of the leaf, ASCII */
export const leafHash = (text: string): Hash => Buffer.from(leafDigest(text), "binary");

export function nodeHash(left: Hash, right: Hash): Hash {
  node.set(left, 1);
  node.set(right, 1 + HASH_BYTES);
  return hash("sha256", node, "buffer");
}

/** The hashes of leaves, side by side. */
export function hashLeaves(texts: readonly string[]): Uint8Array {
  const hashes = Buffer.alloc(texts.length * HASH_BYTES);
  for (const [index, text] of texts.entries()) hashes.write(leafDigest(text), index * HASH_BYTES, "binary");
  return hashes;
}

/** Hash of the complete subtree above hashes that lie side by side; their number is a power of two. */
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

/** What is hashed for the node above two hashes: 1, and both of them. */
const node = Buffer.alloc(1 + 2 * HASH_BYTES, 1);

/** As text of one character for each byte: buffers of so few bytes take longer to make than their hashes. */
const leafDigest = (text: string): string => hash("sha256", `\0${text}`, "binary");
