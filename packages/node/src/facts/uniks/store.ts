/** The map of uniks in SQLite. Its content can be derived from the chain, and grows in steps that a restart continues. */
import {
  addressFromPublicKey,
  createRounds,
  type Network,
  type Rounds,
  sealedFromTrustedBytes,
} from "@uniknode/protocol";
import type { Database } from "../../store/engine/database.ts";
import { type ChangeContext, Changes, type StepRows, StoredRows, UNIK_GROUPS } from "./changes.ts";
import { rootOf } from "./map.ts";
import { MAP_PAGES, pagesOf } from "./rows.ts";
import {
  type MapRoot,
  MapRoots,
  type MapState,
  type Position,
  type RootPlace,
  StoredMapState,
} from "./state.ts";

/** Blocks of a round, and the id of its last one. */
type AddedRound = { readonly first: number; readonly last: number; readonly id: string };

/** Changes that are added at once, and rows after which they are written: a few milliseconds, and about ten. */
const BATCH_CHANGES = 48;
const MAX_ROWS = 256;

/** Changes of a round in memory, which are not written yet; a restart repeats them. */
type Pending = {
  readonly step: StepRows;
  readonly next: Position;
  readonly uniks: number;
  readonly isKept: boolean;
};

export class UnikMap {
  readonly #state: StoredMapState;
  readonly #roots: MapRoots;
  readonly #rows: StoredRows;
  readonly #roundAt: Rounds["roundAt"];
  readonly #addSome: ReturnType<typeof createAddition>;
  #pending: Pending | undefined;

  constructor(database: Database, network: Network) {
    this.#state = new StoredMapState(database);
    this.#roots = new MapRoots(database);
    this.#rows = new StoredRows(database);
    this.#roundAt = createRounds(network).roundAt;
    this.#addSome = createAddition(database, network);
  }

  /** Returns the last block of the round whose state readers see; 0 if the map is empty. */
  height(): number {
    return this.#state.read().height;
  }

  /**
   * Adds changes of the round after `height`, inside the caller's transaction.
   *
   * @param untilMs deadline by `performance.now`; no further changes are added after it
   * @returns the root after the round, which the caller must publish in the same transaction; undefined if changes are left
   */
  addRound({ first, last, id }: AddedRound, untilMs: number): MapRoot | undefined {
    const before = this.#state.read();
    const isNew = before.roundId === null;
    if (isNew && !this.#pending && this.#rows.dropBefore(before.height)) return undefined;
    const { step, isKept, ...from } = this.#pending ?? {
      ...{ step: this.#rows.begin(), isKept: false },
      next: isNew ? startOf(first) : before.next,
      uniks: isNew ? this.#roots.at(before.height).uniks : before.uniks,
    };
    // After an error, these changes are added anew.
    this.#pending = undefined;
    let { next, uniks } = from;
    while (next.height <= last && step.size() < MAX_ROWS) {
      const added = this.#addSome(step, next, last);
      next = added.next;
      uniks += added.minted;
      if (performance.now() < untilMs) continue;
      this.#pending = { step, next, uniks, isKept };
      return undefined;
    }
    const isComplete = next.height > last;
    // Most rounds change no unik.
    if (isNew && isComplete && step.size() === 0) return this.#roots.at(before.height);
    if (!(isNew && isComplete) && !isKept) {
      step.keep(before.height);
      this.#pending = { step, next, uniks, isKept: true };
      return undefined;
    }
    step.write();
    this.#state.write({ ...before, roundId: id, next, uniks });
    return isComplete ? { root: this.#root(), uniks } : undefined;
  }

  /** Shows readers the added round, with the place of its root in the tree of facts, inside the caller's transaction. */
  publish(height: number, place?: RootPlace): void {
    const { roundId, uniks, height: before } = this.#state.read();
    const root = roundId === null ? undefined : this.#root();
    if (root !== undefined && root !== this.#roots.at(before).root) this.#roots.put(height, { root, uniks });
    this.#state.publish(height, place);
  }

  /**
   * Removes some of what the map has of reverted blocks, inside the caller's transaction.
   *
   * @param height last block of the tree of facts
   * @param idAt returns the id of a block of the chain
   * @returns whether more may be left; until then, nothing may be added
   */
  follow(height: number, idAt: (height: number) => string | undefined): boolean {
    const [state, rows] = [this.#state, this.#rows];
    this.#pending = undefined;
    const now = state.read();
    if (now.removes === "all") {
      if (!rows.remove()) state.clear();
      return true;
    }
    if (now.removes === "round") {
      if (!rows.restore(now.height)) state.write({ ...now, roundId: null, removes: null });
      return true;
    }
    const isReverted = now.roundId !== null && idAt(this.#endOfNext(now)) !== now.roundId;
    const removes = now.height > height ? "all" : isReverted ? "round" : null;
    if (removes) state.write({ ...now, removes, ...(removes === "all" && { place: undefined }) });
    return this.#roots.removeAbove(height) || removes !== null;
  }

  #root(): string {
    return rootOf(pagesOf(this.#rows.begin(), MAP_PAGES));
  }

  #endOfNext({ height }: MapState): number {
    const { roundHeight, maxDelegates } = this.#roundAt(height + 1);
    return roundHeight + maxDelegates - 1;
  }
}

type Added = { readonly next: Position; readonly minted: number };

/** Returns a function that adds some changes of one block of the chain, the first one after a position that has any. */
function createAddition(database: Database, network: Network) {
  const filled = database.prepare<{ height: number }>(
    "SELECT height FROM transactions WHERE height BETWEEN ? AND ? ORDER BY height LIMIT 1",
  );
  // The condition on groups must not select an index: the rows of a block are adjacent.
  const ofBlock = database.prepare<{ sequence: number; id: string; bytes: Uint8Array }>(
    `SELECT sequence, id_text AS id, bytes FROM transactions
     WHERE height = ? AND sequence >= ? AND +type_group IN (${UNIK_GROUPS.join(", ")}) ORDER BY sequence`,
  );
  // The wallet of a delegate keeps the username for ever.
  const username = database.prepare<{ username: string | null }>(
    "SELECT username FROM wallets WHERE public_key = ?",
  );
  const context: ChangeContext = {
    addressOf: (publicKey) => addressFromPublicKey(publicKey, network.description.pubKeyHash),
    usernameOf: (publicKey) => username.get(publicKey)?.username ?? undefined,
  };

  /** @param last block up to which changes are added */
  return (rows: StepRows, from: Position, last: number): Added => {
    const changes = new Changes(rows, context);
    const height = filled.get(from.height, last)?.height;
    if (height === undefined) return { next: startOf(last + 1), minted: 0 };
    const start = height === from.height ? from : startOf(height);
    const next = addOfBlock(changes, start) ?? startOf(height + 1);
    return { next, minted: changes.write() };
  };

  /** Returns the first change that is left in the block. */
  function addOfBlock(changes: Changes, { height, sequence: start, change }: Position): Position | undefined {
    let first = change;
    for (const { sequence, id, bytes } of ofBlock.iterate(height, start)) {
      const { data } = sealedFromTrustedBytes(bytes, id);
      const left = changes.add(data, first, BATCH_CHANGES - changes.size());
      if (left !== undefined) return { height, sequence, change: left };
      if (changes.size() >= BATCH_CHANGES) return { height, sequence: sequence + 1, change: 0 };
      first = 0;
    }
    return undefined;
  }
}

const startOf = (height: number): Position => ({ height, sequence: 0, change: 0 });
