/**
 * Parts of a Merkle tree. Tiles (C2SP tlog-tiles) have 256 concatenated hashes. Tiles of level 0 have the hashes of leaves, tiles of
 * each higher level have the hashes of whole tiles of the level below.
 */

import { present } from "../../platform/present.ts";
import { EMPTY_ROOT, foldHashes, HASH_BYTES, type Hash, type Nodes, nodeHash } from "./proofs.ts";

/** Levels of the tree that a tile spans. */
const TILE_HEIGHT = 8;
/** Number of hashes of a whole tile. */
export const TILE_WIDTH = 2 ** TILE_HEIGHT;
export const TILE_BYTES = TILE_WIDTH * HASH_BYTES;

/** Reads the hashes of a tile, at least as many as its tree has; undefined if the tile does not exist. */
export type ReadTile = (level: number, number: number) => Uint8Array | undefined;

/** Returns the number of hashes that a level of tiles has in a tree. */
export const hashesAt = (level: number, size: number): number => Math.floor(size / TILE_WIDTH ** level);

/** Returns the number of hashes of a tile in a tree: 0 to 256. */
export const widthOf = (level: number, number: number, size: number): number =>
  Math.min(Math.max(hashesAt(level, size) - number * TILE_WIDTH, 0), TILE_WIDTH);

/** Creates a reader of subtrees that reads each tile once. */
export function nodesOfTiles(read: ReadTile): Nodes {
  const tiles = new Map<string, Uint8Array>();
  function tile(level: number, number: number): Uint8Array {
    const key = `${level}/${number}`;
    const known = tiles.get(key) ?? read(level, number);
    if (!known) throw new Error(`the Merkle tree of facts has no tile ${key}`);
    tiles.set(key, known);
    return known;
  }
  return (level, index): Hash => {
    const width = 2 ** (level % TILE_HEIGHT);
    const first = index * width;
    const hashes = tile(Math.floor(level / TILE_HEIGHT), Math.floor(first / TILE_WIDTH));
    const offset = (first % TILE_WIDTH) * HASH_BYTES;
    return foldHashes(hashes.subarray(offset, offset + width * HASH_BYTES));
  };
}

/** Parts of a path below `tile/`: `0/x001/x234/067`, and `0/x001/x234/067.p/12` for a partial tile. */
export type TilePath = {
  /** Level of the tile; `entries` for the leaves themselves. */
  readonly level: number | "entries";
  readonly number: number;
  /** Number of hashes or leaves, from 1 to 256. */
  readonly width: number;
};

/** Upper bound on the levels of a tree. */
const MAX_LEVEL = 6;
const PATH = /^(\d|entries)\/((?:x\d{3}\/)*\d{3})(?:\.p\/([1-9]\d{0,2}))?$/;
const MAX_PATH_LENGTH = 60;

/** Parses a path; undefined if it is not the path of a tile. */
export function readTilePath(path: string): TilePath | undefined {
  const match = path.length <= MAX_PATH_LENGTH ? PATH.exec(path) : null;
  if (!match) return undefined;
  const [, levelText, digits, widthText] = match as unknown as [string, string, string, string?];
  const level = levelText === "entries" ? levelText : Number(levelText);
  const number = Number(digits.replaceAll(/[x/]/g, ""));
  const width = widthText === undefined ? TILE_WIDTH : Number(widthText);
  // A whole tile has only one path.
  const isPart = width < TILE_WIDTH || widthText === undefined;
  if (!isPart || !Number.isSafeInteger(number * TILE_WIDTH) || tilePath(level, number, width) !== path)
    return undefined;
  return level === "entries" || level <= MAX_LEVEL ? { level, number, width } : undefined;
}

export function tilePath(level: number | "entries", number: number, width = TILE_WIDTH): string {
  const groups: readonly string[] =
    String(number)
      .padStart(Math.ceil(String(number).length / 3) * 3, "0")
      .match(/\d{3}/g) ?? [];
  const digits = groups.map((group, index) => (index < groups.length - 1 ? `x${group}` : group)).join("/");
  return `${level}/${digits}${width < TILE_WIDTH ? `.p/${width}` : ""}`;
}

/** The right edge of a tree: enough to add leaves and to compute the root, but not for proofs. */
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
