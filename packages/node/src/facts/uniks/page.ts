/** Nodes of a Merkle map (facts.md 10), and its pages: five levels of nodes, with the leaves of small subtrees. */
import { hash } from "node:crypto";

/** A SHA-256 digest as text with one character for each byte: creating such small buffers takes longer than hashing. */
export type Digest = string;

export type Leaf = {
  /** SHA-256 of the id or of the name: these can be chosen, and similar keys would make paths long. */
  readonly key: Digest;
  /** SHA-256 of the value. */
  readonly value: Digest;
  /** Stored with the leaf, with one character for each byte; at most 255 bytes. */
  readonly text: string;
};

/** A subtree: a leaf, or the hash of a larger subtree; undefined if it is empty. */
export type Node = Leaf | Digest | undefined;

/** A few leaves, in the order of their keys. */
export type Leaves = readonly Leaf[];

export type Page = {
  /** The root at 1, the nodes below the one at i at 2i and 2i + 1, and 32 subtrees from 32 on. */
  readonly nodes: readonly Node[];
  /** The leaves of those of the 32 subtrees that have no page of their own, although they have several. */
  readonly groups: readonly (Leaves | undefined)[];
};

/** Levels below the root of a page: more of them make pages larger, fewer make paths longer. */
export const LEVELS = 5;
export const SLOTS = 2 ** LEVELS;
const DIGEST_BYTES = 32;
/** Hash of an empty subtree. */
const EMPTY: Digest = "\0".repeat(DIGEST_BYTES);

/** Returns the node above two others. */
export function pair(left: Node, right: Node): Node {
  if (left === undefined && typeof right !== "string") return right;
  if (right === undefined && typeof left !== "string") return left;
  return digest(1, hashOf(left), hashOf(right));
}

export function hashOf(node: Node): Digest {
  if (node === undefined) return EMPTY;
  return typeof node === "string" ? node : digest(0, node.key, node.value);
}

const input = Buffer.alloc(1 + 2 * DIGEST_BYTES);

function digest(kind: 0 | 1, left: Digest, right: Digest): Digest {
  input[0] = kind;
  input.write(left, 1, "latin1");
  input.write(right, 1 + DIGEST_BYTES, "latin1");
  return hash("sha256", input, "binary");
}

const HEADER_BYTES = 14;

/**
 * Encodes a page: the number of its bytes, two bits for each subtree (empty, leaf, group, page), one bit for each node above that is a hash;
 * then the subtrees and these hashes in this order. Other nodes above follow from the subtrees. A group is the number of its leaves, the
 * leaves, and its hash.
 */
export function encodePage({ nodes, groups }: Page): Uint8Array {
  const header = Buffer.alloc(HEADER_BYTES);
  let body = "";
  for (let slot = 0; slot < SLOTS; slot++) {
    const node = nodes[SLOTS + slot];
    if (node === undefined) continue;
    const group = groups[slot];
    const kind = typeof node !== "string" ? 1 : group ? 2 : 3;
    setBits(header, 2 * slot, kind);
    if (group) body += String.fromCharCode(group.length) + group.map(leafText).join("");
    body += typeof node === "string" ? node : leafText(node);
  }
  for (let at = 1; at < SLOTS; at++) {
    const node = nodes[at];
    if (typeof node !== "string") continue;
    setBits(header, 2 * SLOTS + at, 1);
    body += node;
  }
  header.writeUInt16BE(HEADER_BYTES + body.length, 0);
  return Buffer.from(header.toString("latin1") + body, "latin1");
}

const leafText = ({ key, value, text }: Leaf): string =>
  key + value + String.fromCharCode(text.length) + text;

/** The bits follow the number of bytes. */
function setBits(header: Buffer, bit: number, value: number): void {
  const at = 2 + (bit >> 3);
  header[at] = (header[at] ?? 0) | (value << (bit & 7));
}

export function decodePage(encoded: Uint8Array): Page {
  // Parts of one text share its memory.
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength).toString("latin1");
  const bits = (bit: number, mask: number) => (bytes.charCodeAt(2 + (bit >> 3)) >> (bit & 7)) & mask;
  const nodes = new Array<Node>(2 * SLOTS).fill(undefined);
  const groups = new Array<Leaves | undefined>(SLOTS).fill(undefined);
  let offset = HEADER_BYTES;
  const text = (length: number): string => {
    offset += length;
    return bytes.slice(offset - length, offset);
  };
  const leaf = (): Leaf => ({
    key: text(DIGEST_BYTES),
    value: text(DIGEST_BYTES),
    text: text(text(1).charCodeAt(0)),
  });
  for (let slot = 0; slot < SLOTS; slot++) {
    const kind = bits(2 * slot, 3);
    if (kind === 2) groups[slot] = Array.from({ length: text(1).charCodeAt(0) }, leaf);
    if (kind > 0) nodes[SLOTS + slot] = kind === 1 ? leaf() : text(DIGEST_BYTES);
  }
  for (let at = 1; at < SLOTS; at++) if (bits(2 * SLOTS + at, 1) > 0) nodes[at] = text(DIGEST_BYTES);
  // All other nodes follow from the nodes below them.
  for (let at = SLOTS - 1; at > 0; at--) nodes[at] ??= pair(nodes[2 * at], nodes[2 * at + 1]);
  return { nodes, groups };
}
