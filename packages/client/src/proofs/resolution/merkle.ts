/** Merkle paths: of the tree of facts (RFC 6962), and of the map of uniks (facts.md 10). */
import { bytesToHex, hexToBytes, sha256 } from "@uniknode/protocol";

function digest(kind: 0 | 1, left: Uint8Array, right: Uint8Array = new Uint8Array()): Uint8Array {
  const bytes = new Uint8Array(1 + left.length + right.length);
  bytes[0] = kind;
  bytes.set(left, 1);
  bytes.set(right, 1 + left.length);
  return sha256(bytes);
}

export const textHash = (text: string): Uint8Array => sha256(new TextEncoder().encode(text));

/**
 * Returns the root of a tree of facts, from the text of a leaf and its inclusion proof; undefined if the proof has another length than
 * that of such a leaf (RFC 9162, 2.1.3.2).
 */
export function rootOfLeaf(
  text: string,
  { index, size, proof }: { index: number; size: number; proof: readonly string[] },
): string | undefined {
  let hash = digest(0, new TextEncoder().encode(text));
  let [position, last] = [index, size - 1];
  for (const sibling of proof) {
    if (last === 0) return undefined;
    if (position % 2 === 1 || position === last) {
      hash = digest(1, hexToBytes(sibling), hash);
      while (position % 2 === 0 && position !== 0) [position, last] = [position / 2, Math.floor(last / 2)];
    } else {
      hash = digest(1, hash, hexToBytes(sibling));
    }
    [position, last] = [Math.floor(position / 2), Math.floor(last / 2)];
  }
  return last === 0 ? bytesToHex(hash) : undefined;
}

type MapLeaf = { readonly key: string; readonly value: string };

const EMPTY = "0".repeat(64);

/**
 * Returns the root of a map from the end of the path of a key.
 *
 * @param siblings from the root down; null: an empty subtree
 */
export const rootOfMap = (key: string, end: MapLeaf | null, siblings: readonly (string | null)[]): string =>
  rootOfSubtree(key, end ? [end] : [], siblings);

/**
 * Returns the root of a map from all leaves of a subtree.
 *
 * @param key any with the first bits of the leaves, one for each sibling
 * @param leaves with distinct keys
 * @param siblings from the root down; null: an empty subtree
 */
export function rootOfSubtree(
  key: string,
  leaves: readonly MapLeaf[],
  siblings: readonly (string | null)[],
): string {
  const bits = hexToBytes(key);
  const hash = hashOfLeaves(
    leaves.map((leaf) => ({ key: hexToBytes(leaf.key), value: hexToBytes(leaf.value) })),
    siblings.length,
  );
  return bytesToHex(
    siblings.reduceRight<Uint8Array>((below, sibling, depth) => {
      const beside = hexToBytes(sibling ?? EMPTY);
      return isRight(bits, depth) ? digest(1, beside, below) : digest(1, below, beside);
    }, hash),
  );
}

type Leaf = { readonly key: Uint8Array; readonly value: Uint8Array };

function hashOfLeaves(leaves: readonly Leaf[], depth: number): Uint8Array {
  const [first] = leaves;
  if (!first) return hexToBytes(EMPTY);
  if (leaves.length === 1) return digest(0, first.key, first.value);
  const { left = [], right = [] } = Object.groupBy(leaves, ({ key }) =>
    isRight(key, depth) ? "right" : "left",
  );
  return digest(1, hashOfLeaves(left, depth + 1), hashOfLeaves(right, depth + 1));
}

/** Returns true if two keys have the same first bits. */
export const agree = (a: string, b: string, count: number): boolean => {
  const [left, right] = [hexToBytes(a), hexToBytes(b)];
  return Array.from({ length: count }, (_, depth) => depth).every(
    (depth) => isRight(left, depth) === isRight(right, depth),
  );
};

const isRight = (bits: Uint8Array, depth: number): boolean =>
  ((bits[Math.floor(depth / 8)] ?? 0) >> (7 - (depth % 8))) % 2 === 1;
