/**
 * Tiles of a Merkle tree (C2SP tlog-tiles): 256 concatenated hashes. Tiles of level 0 have the hashes of leaves, tiles of
 * each higher level have the hashes of whole tiles of the level below.
 */
import { foldHashes, HASH_BYTES, type Hash } from "./hashes.ts";
import type { Nodes } from "./proofs.ts";

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
