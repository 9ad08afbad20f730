/**
 * The Merkle map of uniks (facts.md 10): a binary tree over the bits of keys, in pages of four levels. A subtree with one leaf is this leaf,
 * so that equal contents give equal roots. Leaves are replaced, never removed.
 */
import { hash } from "node:crypto";
import { present } from "../../platform/present.ts";

/** Digests are 64 hexadecimal digits. */
export type Leaf = {
  /** SHA-256 of the id of the unik: ids can be chosen, and similar keys would make paths long. */
  readonly key: string;
  /** SHA-256 of the canonical value. */
  readonly value: string;
};

/** A part of a page: a leaf, or the hash of a subtree; undefined if it is empty. */
export type Node = Leaf | string | undefined;

/** The 16 subtrees below four levels. */
export type Page = readonly Node[];

/** Pages by path: the hexadecimal digits that all keys of the page begin with. */
export type Pages = {
  read(path: string): Page | undefined;
  write(path: string, page: Page): void;
};

/** The nodes beside the way to a key, from the root down, and the node at its end. */
export type Path = { readonly siblings: readonly (string | null)[]; readonly end: Leaf | undefined };

const SLOTS = 16;
const LEVELS = 4;
/** Hash of an empty subtree. */
const EMPTY = "0".repeat(64);
/** Root of the map without leaves. */
export const EMPTY_MAP = EMPTY;

export const keyOf = (unik: string): string => hash("sha256", Buffer.from(unik, "hex"), "hex");

/**
 * Inserts or replaces leaves.
 *
 * @param leaves with distinct keys
 * @returns the root of the map
 */
export const putLeaves = (pages: Pages, leaves: readonly Leaf[]): string => hashOf(put(pages, "", leaves));

function put(pages: Pages, path: string, leaves: readonly Leaf[]): Node {
  const page: Node[] = [...(pages.read(path) ?? new Array<Node>(SLOTS).fill(undefined))];
  for (const [digit, group] of Map.groupBy(leaves, ({ key }) => present(key[path.length], "a digit"))) {
    const slot = Number.parseInt(digit, SLOTS);
    page[slot] = insert(pages, path + digit, page[slot], group);
  }
  pages.write(path, page);
  return rootOf(page);
}

function insert(pages: Pages, path: string, node: Node, leaves: readonly Leaf[]): Node {
  if (typeof node === "string") return put(pages, path, leaves);
  const isKept = node !== undefined && leaves.every(({ key }) => key !== node.key);
  const all = isKept ? [node, ...leaves] : leaves;
  return all.length === 1 ? all[0] : put(pages, path, all);
}

/** Returns the way to a key in the map. */
export function pathTo(pages: Pages, key: string): Path {
  const siblings: (string | null)[] = [];
  let path = "";
  for (;;) {
    const levels = levelsOf(pages.read(path) ?? []);
    const slot = Number.parseInt(present(key[path.length], "a digit"), SLOTS);
    for (let depth = 0; ; depth++) {
      const index = slot >> (LEVELS - depth);
      const node = levels[depth]?.[index];
      if (typeof node !== "string") return { siblings, end: node };
      if (depth === LEVELS) break;
      const sibling = levels[depth + 1]?.[(slot >> (LEVELS - depth - 1)) ^ 1];
      siblings.push(sibling === undefined ? null : hashOf(sibling));
    }
    path += key[path.length];
  }
}

const rootOf = (page: Page): Node => levelsOf(page)[0]?.[0];

/** Returns the nodes of the levels of a page, from its root to its slots. */
function levelsOf(page: Page): Page[] {
  const levels = [page];
  for (let below = page; below.length > 1; ) {
    const level: Node[] = [];
    for (let index = 0; index < below.length; index += 2) level.push(pair(below[index], below[index + 1]));
    levels.unshift(level);
    below = level;
  }
  return levels;
}

function pair(left: Node, right: Node): Node {
  if (left === undefined && typeof right !== "string") return right;
  if (right === undefined && typeof left !== "string") return left;
  return digest(1, hashOf(left), hashOf(right));
}

function hashOf(node: Node): string {
  if (node === undefined) return EMPTY;
  return typeof node === "string" ? node : digest(0, node.key, node.value);
}

const input = Buffer.alloc(65);

function digest(kind: 0 | 1, left: string, right: string): string {
  input[0] = kind;
  input.write(left, 1, "hex");
  input.write(right, 33, "hex");
  return hash("sha256", input, "hex");
}

/** Encodes a page: two bits for each slot (empty, leaf, subtree), then the digests of the slots. */
export function encodePage(page: Page): Uint8Array {
  let kinds = 0;
  let digests = "";
  for (const [slot, node] of page.entries()) {
    if (node === undefined) continue;
    const isLeaf = typeof node !== "string";
    kinds += (isLeaf ? 1 : 2) * 4 ** slot;
    digests += isLeaf ? node.key + node.value : node;
  }
  return Buffer.from(kinds.toString(16).padStart(8, "0") + digests, "hex");
}

export function decodePage(bytes: Uint8Array): Page {
  const text = Buffer.from(bytes).toString("hex");
  const kinds = Number.parseInt(text.slice(0, 8), 16);
  const digests = (text.slice(8).match(/.{64}/g) ?? []).values();
  const next = () => present(digests.next().value, "a digest of the page");
  return Array.from({ length: SLOTS }, (_, slot): Node => {
    const kind = Math.floor(kinds / 4 ** slot) % 4;
    if (kind === 0) return undefined;
    return kind === 1 ? { key: next(), value: next() } : next();
  });
}
