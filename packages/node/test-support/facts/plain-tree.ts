/** The tree of RFC 6962, implemented literally and slowly: reference for the optimised implementations. */
import { createHash } from "node:crypto";
import { present } from "../../src/platform/present.ts";

const sha256 = (...parts: Uint8Array[]): Buffer => createHash("sha256").update(Buffer.concat(parts)).digest();

export function plainRoot(leaves: readonly string[]): Buffer {
  if (leaves.length === 0) return sha256();
  if (leaves.length === 1) return sha256(Buffer.of(0), Buffer.from(present(leaves[0])));
  const left = splitOf(leaves.length);
  return sha256(Buffer.of(1), plainRoot(leaves.slice(0, left)), plainRoot(leaves.slice(left)));
}

/** PATH(m, D[n]). */
export function plainPath(index: number, leaves: readonly string[]): Buffer[] {
  if (leaves.length === 1) return [];
  const left = splitOf(leaves.length);
  return index < left
    ? [...plainPath(index, leaves.slice(0, left)), plainRoot(leaves.slice(left))]
    : [...plainPath(index - left, leaves.slice(left)), plainRoot(leaves.slice(0, left))];
}

/** PROOF(m, D[n]). */
export function plainConsistency(from: number, leaves: readonly string[], isWhole = true): Buffer[] {
  if (from === leaves.length) return isWhole ? [] : [plainRoot(leaves)];
  const left = splitOf(leaves.length);
  return from <= left
    ? [...plainConsistency(from, leaves.slice(0, left), isWhole), plainRoot(leaves.slice(left))]
    : [...plainConsistency(from - left, leaves.slice(left), false), plainRoot(leaves.slice(0, left))];
}

/** Largest power of two below the size. */
const splitOf = (size: number): number => 2 ** (Math.ceil(Math.log2(size)) - 1);
