/**
 * A Merkle map (facts.md 10), of uniks or of the properties of one: a binary tree over the bits of keys, in pages. A subtree with one leaf is
 * this leaf, so that equal contents give equal roots. A subtree with few leaves is in the page above, so that equal contents give equal pages.
 */
import { hash } from "node:crypto";
import {
  type Digest,
  hashOf,
  LEVELS,
  type Leaf,
  type Leaves,
  type Node,
  type Page,
  pair,
  SLOTS,
} from "./page.ts";

/** A new value of a key; undefined removes its leaf. */
export type LeafChange = Leaf | { readonly key: Digest; readonly value: undefined };

/** Pages by path: a digit of five bits for each page above, with which all keys of the page begin. */
export type Pages = {
  read(path: string): Page | undefined;
  /** Removes the page if it is undefined. */
  write(path: string, page: Page | undefined): void;
  /** Called with each leaf that is replaced or removed. */
  readonly onRemoved?: (leaf: Leaf) => void;
};

export type PageReader = Pick<Pages, "read">;

/** The nodes beside the way to a key, from the root down, and the leaf at its end; hexadecimal. */
export type Path = {
  readonly siblings: readonly (string | null)[];
  readonly end: { readonly key: string; readonly value: string } | undefined;
};

/** Leaves of a subtree without a page of its own. */
const MAX_GROUP = 3;
/** Root of the map without leaves, hexadecimal. */
export const EMPTY_MAP = "0".repeat(64);

export const keyOf = (unik: string): Digest => hash("sha256", Buffer.from(unik, "hex"), "binary");

/** Returns the digest of a text in UTF-8. */
export const textDigest = (text: string): Digest => hash("sha256", text, "binary");

export const toHex = (digest: Digest): string => Buffer.from(digest, "latin1").toString("hex");

/** Returns the slot of a key in a page at a depth. */
function slotOf(key: Digest, depth: number): number {
  const bit = LEVELS * depth;
  const bits = (key.charCodeAt(bit >> 3) << 8) | key.charCodeAt((bit >> 3) + 1);
  return (bits >> (16 - LEVELS - (bit & 7))) & (SLOTS - 1);
}

const bitOf = (key: Digest, bit: number): number => (key.charCodeAt(bit >> 3) >> (7 - (bit & 7))) & 1;

const below = (path: string, slot: number): string => path + slot.toString(SLOTS);

/** Returns the path of the page below a page on the way to a key. */
export const nextPath = (path: string, key: Digest): string => below(path, slotOf(key, path.length));

/** Returns the root of the map, hexadecimal. */
export const rootOf = (pages: PageReader): string => toHex(hashOf(pages.read("")?.nodes[1]));

/**
 * Inserts, replaces and removes leaves.
 *
 * @param changes with distinct keys
 * @returns the root of the map, hexadecimal
 */
export const changeLeaves = (pages: Pages, changes: readonly LeafChange[]): string =>
  toHex(hashOf(changePage(pages, "", changes).node));

/** A subtree, and its leaves if it has a few of them and no page. */
type Subtree = { readonly node: Node; readonly leaves: Leaves | undefined };

function changePage(pages: Pages, path: string, changes: readonly LeafChange[]): Subtree {
  const before = pages.read(path);
  const nodes: Node[] = before ? [...before.nodes] : new Array<Node>(2 * SLOTS).fill(undefined);
  const groups = before ? [...before.groups] : new Array<Leaves | undefined>(SLOTS).fill(undefined);
  const changed = new Set<number>();
  for (const [slot, some] of Map.groupBy(changes, ({ key }) => slotOf(key, path.length))) {
    const at = SLOTS + slot;
    const subtree = changeSubtree(pages, below(path, slot), { node: nodes[at], leaves: groups[slot] }, some);
    nodes[at] = subtree.node;
    groups[slot] = subtree.leaves;
    changed.add(at >> 1);
  }
  // The loop also visits what it adds to the set, in order of insertion: it completes one level before the next.
  for (const at of changed) {
    nodes[at] = pair(nodes[2 * at], nodes[2 * at + 1]);
    if (at > 1) changed.add(at >> 1);
  }
  const page = { nodes, groups };
  const leaves = fewLeaves(page);
  const isKept = leaves === undefined || (path === "" && leaves.length > 0);
  pages.write(path, isKept ? page : undefined);
  return subtreeOf(nodes[1], leaves);
}

function changeSubtree(
  pages: Pages,
  path: string,
  { node, leaves }: Subtree,
  changes: readonly LeafChange[],
): Subtree {
  if (typeof node === "string" && !leaves) return changePage(pages, path, changes);
  const before = leaves ?? (typeof node === "object" ? [node] : []);
  const kept = before.filter((leaf) => {
    const isKept = changes.every(({ key }) => key !== leaf.key);
    if (!isKept) pages.onRemoved?.(leaf);
    return isKept;
  });
  const given = changes.filter((change): change is Leaf => change.value !== undefined);
  const after = [...kept, ...given];
  if (after.length > MAX_GROUP) return changePage(pages, path, after);
  after.sort((a, b) => (a.key < b.key ? -1 : 1));
  return subtreeOf(nodeOf(after, LEVELS * path.length), after);
}

const subtreeOf = (node: Node, leaves: Leaves | undefined): Subtree => ({
  node,
  leaves: typeof node === "string" ? leaves : undefined,
});

/** Returns the leaves of a page; undefined if it has more than those of a group. */
function fewLeaves({ nodes, groups }: Page): Leaves | undefined {
  const leaves: Leaf[] = [];
  for (let slot = 0; slot < SLOTS; slot++) {
    const some = leavesAt({ nodes, groups }, slot);
    if (!some || leaves.length + some.length > MAX_GROUP) return undefined;
    leaves.push(...some);
  }
  return leaves;
}

/** Returns the leaves of a slot; undefined if they are in pages below. */
function leavesAt({ nodes, groups }: Page, slot: number): Leaves | undefined {
  const node = nodes[SLOTS + slot];
  if (node === undefined) return [];
  return typeof node === "string" ? groups[slot] : [node];
}

/** Returns the root of a few leaves, from a bit of their keys on. */
function nodeOf(leaves: Leaves, bit: number): Node {
  if (leaves.length <= 1) return leaves[0];
  const [left, right] = [0, 1].map((side) => leaves.filter(({ key }) => bitOf(key, bit) === side));
  return pair(nodeOf(left ?? [], bit + 1), nodeOf(right ?? [], bit + 1));
}

/** Returns the way to a key in the map. */
export function pathTo(pages: PageReader, key: Digest): Path {
  const siblings: (string | null)[] = [];
  const add = (node: Node) => siblings.push(node === undefined ? null : toHex(hashOf(node)));
  let path = "";
  for (let depth = 0; ; depth++) {
    const { nodes, groups } = pages.read(path) ?? { nodes: [], groups: [] };
    const slot = slotOf(key, depth);
    for (let level = LEVELS; ; level--) {
      const at = (SLOTS + slot) >> level;
      const node = nodes[at];
      if (typeof node !== "string") return { siblings, end: node && hexLeaf(node) };
      if (level === 0) break;
      add(nodes[((SLOTS + slot) >> (level - 1)) ^ 1]);
    }
    let leaves = groups[slot];
    for (let bit = LEVELS * (depth + 1); leaves; bit++) {
      if (leaves.length <= 1) return { siblings, end: leaves[0] && hexLeaf(leaves[0]) };
      const side = bitOf(key, bit);
      add(
        nodeOf(
          leaves.filter((leaf) => bitOf(leaf.key, bit) !== side),
          bit + 1,
        ),
      );
      leaves = leaves.filter((leaf) => bitOf(leaf.key, bit) === side);
    }
    path = below(path, slot);
  }
}

const hexLeaf = ({ key, value }: Leaf) => ({ key: toHex(key), value: toHex(value) });

/** Returns the leaves from a key on, in the order of keys. */
export function* leavesFrom(pages: PageReader, from: Digest, path = ""): Generator<Leaf> {
  const page = pages.read(path);
  if (!page) return;
  const first = slotOf(from, path.length);
  for (let slot = first; slot < SLOTS; slot++) {
    const leaves = leavesAt(page, slot);
    if (!leaves) yield* leavesFrom(pages, slot === first ? from : "", below(path, slot));
    else yield* leaves.filter(({ key }) => key >= from);
  }
}

/** Returns the leaf of a key. */
export function leafOf(pages: PageReader, key: Digest): Leaf | undefined {
  const { value: leaf } = leavesFrom(pages, key).next();
  return leaf?.key === key ? leaf : undefined;
}
