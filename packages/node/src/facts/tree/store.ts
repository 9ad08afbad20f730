/** The fact tree in the database. Its content can be derived from the chain. */
import { present } from "../../platform/present.ts";
import type { Database } from "../../store/engine/database.ts";
import { foldHashes, HASH_BYTES } from "../merkle/proofs.ts";
import { hashesAt, type ReadTile, TILE_BYTES, TILE_WIDTH } from "../merkle/tiles.ts";

/** A block up to which the tree has all facts. */
export type Mark = {
  readonly height: number;
  readonly blockId: string;
  /** Leaves of the tree up to this block. */
  readonly size: number;
};

export type FactTree = {
  /** Returns the mark of the last block; undefined if the tree is empty. */
  last(): Mark | undefined;
  /** Returns the last mark at or below a height. */
  markAt(height: number): Mark | undefined;
  /** Returns the last mark whose tree does not have the leaf. */
  markBefore(leaf: number): Mark | undefined;
  readonly tile: ReadTile;
  /**
   * Adds the leaves of the blocks after `last`, inside the caller's transaction.
   *
   * @param marks some of the blocks, the last one included; their sizes count from the first of the leaves
   * @param leaves concatenated hashes of the leaves
   */
  append(marks: readonly Mark[], leaves: Uint8Array): void;
  /** Truncates the tree to one of its marks, or to the empty tree, inside the caller's transaction. */
  truncate(to: Mark | undefined): void;
};

/** Number of levels of tiles in a position: enough for 2^64 leaves. */
const LEVELS = 8;

export function createFactTree(database: Database): FactTree {
  const mark = (condition: string) =>
    database.prepare<{ height: number; blockId: string; size: number }>(
      `SELECT height, block_id AS blockId, size FROM fact_sizes ${condition} LIMIT 1`,
    );
  const last = mark("ORDER BY height DESC");
  const atHeight = mark("WHERE height <= ? ORDER BY height DESC");
  const before = mark("WHERE size <= ? ORDER BY size DESC");
  const tile = database.prepare<{ hashes: Uint8Array }>("SELECT hashes FROM fact_tiles WHERE position = ?");
  const putTile = database.prepare("INSERT OR REPLACE INTO fact_tiles VALUES (?, ?)");
  const putMark = database.prepare("INSERT INTO fact_sizes VALUES (?, ?, ?)");
  const removeMarks = database.prepare("DELETE FROM fact_sizes WHERE height > ?");
  const removeTiles = database.prepare("DELETE FROM fact_tiles WHERE position % 8 = ? AND position >= ?");

  const positionOf = (level: number, number: number) => number * LEVELS + level;
  const readTile: ReadTile = (level, number) => tile.get(positionOf(level, number))?.hashes;

  const startOfTile = (level: number, number: number, bytes: number): Uint8Array =>
    present(readTile(level, number), `tile ${level}/${number}`).subarray(0, bytes);

  /** @param count number of hashes that the level has */
  function appendHashes(level: number, count: number, hashes: Uint8Array): void {
    const number = Math.floor(count / TILE_WIDTH);
    const held = (count % TILE_WIDTH) * HASH_BYTES;
    const all = held === 0 ? hashes : Buffer.concat([startOfTile(level, number, held), hashes]);
    const whole: Uint8Array[] = [];
    for (let offset = 0; offset < all.length; offset += TILE_BYTES) {
      const part = all.subarray(offset, offset + TILE_BYTES);
      putTile.run(positionOf(level, number + offset / TILE_BYTES), part);
      if (part.length === TILE_BYTES) whole.push(foldHashes(part));
    }
    if (whole.length > 0) appendHashes(level + 1, number, Buffer.concat(whole));
  }

  return {
    last: () => last.get(),
    markAt: (height) => atHeight.get(height),
    markBefore: (leaf) => before.get(leaf),
    tile: readTile,
    append(marks, leaves) {
      const before = last.get()?.size ?? 0;
      appendHashes(0, before, leaves);
      for (const { height, blockId, size } of marks) putMark.run(height, blockId, before + size);
    },
    truncate(to) {
      const { height = 0, size = 0 } = to ?? {};
      removeMarks.run(height);
      for (let level = 0; level < LEVELS; level++) {
        const count = hashesAt(level, size);
        const number = Math.floor(count / TILE_WIDTH);
        const held = (count % TILE_WIDTH) * HASH_BYTES;
        const part = held === 0 ? undefined : startOfTile(level, number, held);
        removeTiles.run(level, positionOf(level, number));
        if (part) putTile.run(positionOf(level, number), part);
      }
    },
  };
}
