/** The fact tree in the database. Its content can be derived from the chain. */
import { present } from "../../platform/present.ts";
import type { Database } from "../../store/engine/database.ts";
import { foldHashes, HASH_BYTES, type Nodes } from "../merkle/proofs.ts";
import { hashesAt, nodesOfTiles, TILE_BYTES, TILE_WIDTH } from "../merkle/tiles.ts";

/** A block up to which the tree has all facts. */
export type Mark = {
  readonly height: number;
  readonly blockId: string;
  /** Leaves of the tree up to this block. */
  readonly size: number;
};

/** Number of levels of tiles in a position: enough for 2^64 leaves. */
const LEVELS = 8;

export class FactTree {
  readonly #statements: ReturnType<typeof prepareStatements>;

  constructor(database: Database) {
    this.#statements = prepareStatements(database);
  }

  /** Returns the mark of the last block; undefined if the tree is empty. */
  last(): Mark | undefined {
    return this.#statements.last.get();
  }

  /** Returns the last mark at or below a height. */
  markAt(height: number): Mark | undefined {
    return this.#statements.atHeight.get(height);
  }

  /** Returns the last mark whose tree does not have the leaf. */
  markBefore(leaf: number): Mark | undefined {
    return this.#statements.before.get(leaf);
  }

  tile(level: number, number: number): Uint8Array | undefined {
    return this.#statements.tile.get(positionOf(level, number))?.hashes;
  }

  /** Returns a function that reads the nodes of the tree. */
  nodes(): Nodes {
    return nodesOfTiles((level, number) => this.tile(level, number));
  }

  /**
   * Adds the leaves of the blocks after `last`, inside the caller's transaction.
   *
   * @param marks some of the blocks, the last one included; their sizes count from the first of the leaves
   * @param leaves concatenated hashes of the leaves
   */
  append(marks: readonly Mark[], leaves: Uint8Array): void {
    const before = this.last()?.size ?? 0;
    this.#appendHashes(0, before, leaves);
    for (const { height, blockId, size } of marks)
      this.#statements.putMark.run(height, blockId, before + size);
  }

  /** Truncates the tree to one of its marks, or to the empty tree, inside the caller's transaction. */
  truncate(to: Mark | undefined): void {
    const { height = 0, size = 0 } = to ?? {};
    this.#statements.removeMarks.run(height);
    for (let level = 0; level < LEVELS; level++) {
      const count = hashesAt(level, size);
      const number = Math.floor(count / TILE_WIDTH);
      const held = (count % TILE_WIDTH) * HASH_BYTES;
      const part = held === 0 ? undefined : this.#startOfTile(level, number, held);
      this.#statements.removeTiles.run(level, positionOf(level, number));
      if (part) this.#statements.putTile.run(positionOf(level, number), part);
    }
  }

  /** @param count number of hashes that the level has */
  #appendHashes(level: number, count: number, hashes: Uint8Array): void {
    const number = Math.floor(count / TILE_WIDTH);
    const held = (count % TILE_WIDTH) * HASH_BYTES;
    const all = held === 0 ? hashes : Buffer.concat([this.#startOfTile(level, number, held), hashes]);
    const whole: Uint8Array[] = [];
    for (let offset = 0; offset < all.length; offset += TILE_BYTES) {
      const part = all.subarray(offset, offset + TILE_BYTES);
      this.#statements.putTile.run(positionOf(level, number + offset / TILE_BYTES), part);
      if (part.length === TILE_BYTES) whole.push(foldHashes(part));
    }
    if (whole.length > 0) this.#appendHashes(level + 1, number, Buffer.concat(whole));
  }

  #startOfTile(level: number, number: number, bytes: number): Uint8Array {
    return present(this.tile(level, number), `tile ${level}/${number}`).subarray(0, bytes);
  }
}

function prepareStatements(database: Database) {
  const mark = (condition: string) =>
    database.prepare<Mark>(`SELECT height, block_id AS blockId, size FROM fact_sizes ${condition} LIMIT 1`);
  return {
    last: mark("ORDER BY height DESC"),
    atHeight: mark("WHERE height <= ? ORDER BY height DESC"),
    before: mark("WHERE size <= ? ORDER BY size DESC"),
    tile: database.prepare<{ hashes: Uint8Array }>("SELECT hashes FROM fact_tiles WHERE position = ?"),
    putTile: database.prepare("INSERT OR REPLACE INTO fact_tiles VALUES (?, ?)"),
    putMark: database.prepare("INSERT INTO fact_sizes VALUES (?, ?, ?)"),
    removeMarks: database.prepare("DELETE FROM fact_sizes WHERE height > ?"),
    removeTiles: database.prepare("DELETE FROM fact_tiles WHERE position % 8 = ? AND position >= ?"),
  };
}

const positionOf = (level: number, number: number): number => number * LEVELS + level;
