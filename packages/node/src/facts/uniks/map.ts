/**
 * A Merkle map (facts.md 10), of uniks or of the properties of one: a binary tree over the bits of keys, in pages of four levels. A subtree
 * with one leaf is this leaf, so that equal contents give equal roots.
 */
import { hash } from "node:crypto";

/** A SHA-256 digest as text with one character for each byte: creating such small buffers takes longer than hashing. */
export type Digest = string;

export type Leaf = {
  /** SHA-256 of the id or of the name: these can be chosen, and similar keys would make paths long. */
  readonly key: Digest;
  /** SHA-256 of the value. */
  readonly value: Digest;
};

/** A new value of a key; undefined removes its leaf. */
export type LeafChange = { readonly key: Digest; readonly value: Digest | undefined };

/** A subtree: a leaf, or the hash of a larger subtree; undefined if it is empty. */
export type Node = Leaf | Digest | undefined;

/** The nodes of four levels: the root at 1, the nodes below the one at i at 2i and 2i + 1, and 16 subtrees from 16 on. */
export type Page = readonly Node[];

/** Pages by path: the hexadecimal digits that all keys of the page begin with. */
export type Pages = {
  read(path: string): Page | undefined;
  /** Removes the page if it is undefined. */
  write(path: string, page: Page | undefined): void;
};

export type PageReader = Pick<Pages, "read">;

/** The nodes beside the way to a key, from the root down, and the leaf at its end; hexadecimal. */
export type Path = { readonly siblings: readonly (string | null)[]; readonly end: Leaf | undefined };

const SLOTS = 16;
const NODES = 2 * SLOTS;
const DIGEST_BYTES = 32;
/** Hash of an empty subtree. */
const EMPTY: Digest = "\0".repeat(DIGEST_BYTES);
/** Root of the map without leaves, hexadecimal. */
export const EMPTY_MAP = "0".repeat(2 * DIGEST_BYTES);

export const keyOf = (unik: string): Digest => hash("sha256", Buffer.from(unik, "hex"), "binary");

/** Returns the digest of a text in UTF-8. */
export const textDigest = (text: string): Digest => hash("sha256", text, "binary");

export const toHex = (digest: Digest): string => Buffer.from(digest, "latin1").toString("hex");

/** Returns the hexadecimal digits of a key, by which pages are found. */
export const pathOf = toHex;

/** Returns a digit of a key. */
const slotOf = (key: Digest, depth: number): number => {
  const byte = key.charCodeAt(depth >> 1);
  return depth % 2 === 0 ? byte >> 4 : byte & 15;
};

/** Returns the root of the map, hexadecimal. */
export const rootOf = (pages: PageReader): string => toHex(hashOf(pages.read("")?.[1]));

/**
 * Inserts, replaces and removes leaves.
 *
 * @param changes with distinct keys
 * @returns the root of the map, hexadecimal
 */
export const changeLeaves = (pages: Pages, changes: readonly LeafChange[]): string =>
  toHex(hashOf(changePage(pages, "", changes)));

function changePage(pages: Pages, path: string, changes: readonly LeafChange[]): Node {
  const page: Node[] = [...(pages.read(path) ?? new Array<Node>(NODES).fill(undefined))];
  const changed = new Set<number>();
  for (const [slot, group] of Map.groupBy(changes, ({ key }) => slotOf(key, path.length))) {
    const at = SLOTS + slot;
    page[at] = changeSubtree(pages, path + slot.toString(SLOTS), page[at], group);
    changed.add(at >> 1);
  }
  // A set is iterated in the order of insertion, with what is added meanwhile: the levels one after the other.
  for (const at of changed) {
    page[at] = pair(page[2 * at], page[2 * at + 1]);
    if (at > 1) changed.add(at >> 1);
  }
  const [, root] = page;
  // The page above has a single leaf itself.
  const isKept = path === "" ? root !== undefined : typeof root === "string";
  pages.write(path, isKept ? page : undefined);
  return root;
}

function changeSubtree(pages: Pages, path: string, node: Node, changes: readonly LeafChange[]): Node {
  if (typeof node === "string") return changePage(pages, path, changes);
  const isKept = node !== undefined && changes.every(({ key }) => key !== node.key);
  const given = changes.filter((change): change is Leaf => change.value !== undefined);
  const leaves = isKept ? [node, ...given] : given;
  return leaves.length <= 1 ? leaves[0] : changePage(pages, path, leaves);
}

/** Returns the way to a key in the map. */
export function pathTo(pages: PageReader, key: Digest): Path {
  const siblings: (string | null)[] = [];
  const digits = pathOf(key);
  for (let depth = 0; ; depth++) {
    const page = pages.read(digits.slice(0, depth)) ?? [];
    const slot = SLOTS + slotOf(key, depth);
    for (let level = 4; ; level--) {
      const at = slot >> level;
      const node = page[at];
      if (typeof node !== "string") return { siblings, end: node && hexLeaf(node) };
      if (level === 0) break;
      const sibling = page[(slot >> (level - 1)) ^ 1];
      siblings.push(sibling === undefined ? null : toHex(hashOf(sibling)));
    }
  }
}

const hexLeaf = ({ key, value }: Leaf): Leaf => ({ key: toHex(key), value: toHex(value) });

function pair(left: Node, right: Node): Node {
  if (left === undefined && typeof right !== "string") return right;
  if (right === undefined && typeof left !== "string") return left;
  return digest(1, hashOf(left), hashOf(right));
}

function hashOf(node: Node): Digest {
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

const HEADER_BYTES = 6;

/**
 * Encodes a page: two bits for each of its 16 subtrees (empty, leaf, hash), one for each node above that is a hash, and the digests in this
 * order. Other nodes above follow from the subtrees.
 */
export function encodePage(page: Page): Uint8Array {
  let [subtrees, above] = [0, 0];
  let digests = "";
  for (let slot = 0; slot < SLOTS; slot++) {
    const node = page[SLOTS + slot];
    if (node === undefined) continue;
    const isLeaf = typeof node !== "string";
    subtrees += (isLeaf ? 1 : 2) * 4 ** slot;
    digests += isLeaf ? node.key + node.value : node;
  }
  for (let at = SLOTS - 1; at > 0; at--) {
    const node = page[at];
    if (typeof node !== "string") continue;
    above += 2 ** at;
    digests += node;
  }
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + digests.length);
  bytes.writeUInt32BE(subtrees, 0);
  bytes.writeUInt16BE(above, 4);
  bytes.write(digests, HEADER_BYTES, "latin1");
  return bytes;
}

export function decodePage(encoded: Uint8Array): Page {
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  const [subtrees, above] = [bytes.readUInt32BE(0), bytes.readUInt16BE(4)];
  const page = new Array<Node>(NODES).fill(undefined);
  let offset = HEADER_BYTES;
  const next = (): Digest => {
    offset += DIGEST_BYTES;
    return bytes.toString("latin1", offset - DIGEST_BYTES, offset);
  };
  for (let slot = 0; slot < SLOTS; slot++) {
    const kind = Math.floor(subtrees / 4 ** slot) % 4;
    if (kind > 0) page[SLOTS + slot] = kind === 1 ? { key: next(), value: next() } : next();
  }
  for (let at = SLOTS - 1; at > 0; at--) {
    page[at] = (above & (1 << at)) > 0 ? next() : pair(page[2 * at], page[2 * at + 1]);
  }
  return page;
}
