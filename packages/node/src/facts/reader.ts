/** Reads the fact tree: checkpoints, leaves, proofs and tiles, each from one state of the database. */
import type { Leaf } from "./leaf.ts";
import type { Hash } from "./merkle/proofs.ts";
import type { Checkpoint } from "./note.ts";
import type { ReadUnik } from "./uniks/reader.ts";
import type { MapRoot } from "./uniks/state.ts";

/** A leaf, and the proof that the tree of this size and root has it. */
export type Inclusion = {
  readonly leaf: Leaf;
  readonly size: number;
  readonly root: Hash;
  readonly proof: Hash[];
};

/** The state of a unik after a final round, with its proof. */
export type Resolution = ReadUnik & {
  /** The map that the path leads to: last block and number of the round, root, and number of uniks. */
  readonly map: MapRoot & { readonly height: number; readonly blockId: string; readonly round: number };
  /** The leaf with the root of the map. */
  readonly leaf: { readonly index: number; readonly indexInBlock: number; readonly proof: Hash[] };
  readonly checkpoint: Checkpoint;
};

export type FactReader = {
  checkpoint(): Promise<Checkpoint>;
  /** Returns an inclusion proof; undefined if there is no tree of this size or it does not have the leaf. */
  inclusion(index: number, size: number | undefined): Promise<Inclusion | undefined>;
  /** Returns a consistency proof; undefined if the tree never had one of the sizes. */
  consistency(from: number, to: number): Promise<Hash[] | undefined>;
  /** Resolves a unik, with the properties from some digests of names on; undefined if the tree has no root of the map yet. */
  resolution(unik: string, from: readonly string[]): Promise<Resolution | undefined>;
  /** Returns `count` adjacent leaves; undefined if the tree has fewer. */
  leaves(first: number, count: number): Promise<Leaf[] | undefined>;
  /** Returns the first `width` hashes of a tile; undefined if it has fewer. */
  tile(level: number, number: number, width: number): Promise<Uint8Array | undefined>;
};
