/** Rows of the map of uniks: the row that says which rounds it has, and its roots after the rounds that changed it. */
import type { Database, Statement } from "../../store/engine/database.ts";
import { EMPTY_MAP } from "./map.ts";

/** Index of the leaf of a root in the tree of facts, and among the leaves of its block. */
export type RootPlace = { readonly leaf: number; readonly indexInBlock: number };

/** A change of the chain: its block, the index of its transaction, and the index of the property in it. */
export type Position = { readonly height: number; readonly sequence: number; readonly change: number };

export type MapState = {
  /** Last block of the last complete round; 0: none is. */
  readonly height: number;
  /** Undefined if the tree of facts does not have its root. */
  readonly place: RootPlace | undefined;
  /** Id of the last block of the round that is being added; null: none is. */
  readonly roundId: string | null;
  /** The first change of this round that the map lacks. */
  readonly next: Position;
  /** Number of uniks, with those of this round. */
  readonly uniks: number;
  /** Rows that a revert left to remove. */
  readonly removes: "round" | "all" | null;
};

type Row = {
  readonly height: number;
  readonly leaf: number | null;
  readonly index_in_block: number | null;
  readonly round_id: string | null;
  readonly next_height: number;
  readonly next_sequence: number;
  readonly next_change: number;
  readonly uniks: number;
  readonly removes: MapState["removes"];
};

const START: Position = { height: 0, sequence: 0, change: 0 };
const EMPTY: MapState = { height: 0, place: undefined, roundId: null, next: START, uniks: 0, removes: null };

export class StoredMapState {
  readonly #get: Statement<Row>;
  readonly #put: Statement<unknown>;
  readonly #remove: Statement<unknown>;

  constructor(database: Database) {
    this.#get = database.prepare("SELECT * FROM unik_map");
    this.#put = database.prepare("INSERT OR REPLACE INTO unik_map VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    this.#remove = database.prepare("DELETE FROM unik_map");
  }

  read(): MapState {
    const row = this.#get.get();
    if (!row) return EMPTY;
    const { height, leaf, index_in_block, round_id, uniks, removes } = row;
    const place =
      leaf === null || index_in_block === null ? undefined : { leaf, indexInBlock: index_in_block };
    const next = { height: row.next_height, sequence: row.next_sequence, change: row.next_change };
    return { height, place, roundId: round_id, next, uniks, removes };
  }

  write({ height, place, roundId, next, uniks, removes }: MapState): void {
    const { leaf = null, indexInBlock = null } = place ?? {};
    this.#put.run(
      ...[height, leaf, indexInBlock, roundId, next.height, next.sequence, next.change, uniks, removes],
    );
  }

  /** Ends the round that is being added. */
  publish(height: number, place: RootPlace | undefined): void {
    this.write({ ...EMPTY, height, place });
  }

  clear(): void {
    this.#remove.run();
  }
}

/** Root of the map after a round, and its number of uniks. */
export type MapRoot = { readonly root: string; readonly uniks: number };

/** Rows that one transaction removes. */
const STEP_ROWS = 1_000;

export class MapRoots {
  readonly #last: Statement<MapRoot>;
  readonly #put: Statement<unknown>;
  readonly #remove: Statement<unknown>;

  constructor(database: Database) {
    this.#last = database.prepare(
      "SELECT root, uniks FROM unik_roots WHERE height <= ? ORDER BY height DESC LIMIT 1",
    );
    this.#put = database.prepare("INSERT OR REPLACE INTO unik_roots VALUES (?, ?, ?)");
    this.#remove = database.prepare(
      `DELETE FROM unik_roots WHERE height IN (SELECT height FROM unik_roots WHERE height > ? LIMIT ${STEP_ROWS})`,
    );
  }

  /** Returns the root after the last round that ended at or below a height. */
  at(height: number): MapRoot {
    return this.#last.get(height) ?? { root: EMPTY_MAP, uniks: 0 };
  }

  put(height: number, { root, uniks }: MapRoot): void {
    this.#put.run(height, root, uniks);
  }

  /** Removes some roots above a height; returns whether more may be left. */
  removeAbove(height: number): boolean {
    return this.#remove.run(height).changes === STEP_ROWS;
  }
}
