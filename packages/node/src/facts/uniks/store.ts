/** The map of uniks in SQLite. Its content can be derived from the chain. */
import { addressFromPublicKey, hexToBytes, type Network, sealedFromTrustedBytes } from "@uniknode/protocol";
import type { Database } from "../../store/engine/database.ts";
import {
  decodePage,
  EMPTY_MAP,
  encodePage,
  keyOf,
  type Page,
  type Pages,
  type Path,
  pathTo,
  putLeaves,
} from "./map.ts";
import {
  changedValues,
  leavesOf,
  UNIK_GROUPS,
  type UnikValue,
  type ValueContext,
  valueFromText,
  valueText,
} from "./values.ts";

/** Root of the map after a round, and its number of uniks. */
export type MapRoot = { readonly root: string; readonly uniks: number };

/** Index of the leaf of a root in the tree of facts, and among the leaves of its block. */
export type RootPlace = { readonly leaf: number; readonly indexInBlock: number };

export type UnikMap = {
  /** Returns the last block of the round whose state the map has; 0 if the map is empty. */
  height(): number;
  /** Returns the place of the map's root in the tree of facts; undefined if the tree does not have it. */
  leaf(): RootPlace | undefined;
  /** Returns the root after the last round that ended at or below a height. */
  rootAt(height: number): MapRoot;
  /** Returns the value of a unik in the map. */
  value(unik: string): UnikValue | undefined;
  path(unik: string): Path;
  /** Adds the changes of a round, the next after those in the map, inside the caller's transaction, which must call `setHeight`. */
  addRound(first: number, last: number): MapRoot;
  /** Records the last block of the last round, and the place of its root in the tree of facts, inside the caller's transaction. */
  setHeight(height: number, place?: RootPlace): void;
  /** Removes the roots of rounds above a height, and empties the map if it has such rounds, inside the caller's transaction. */
  truncate(height: number): void;
};

type StateRow = {
  readonly height: number;
  readonly leaf: number | null;
  readonly indexInBlock: number | null;
};

export function createUnikMap(database: Database, network: Network): UnikMap {
  const state = database.prepare<StateRow>(
    "SELECT height, leaf, index_in_block AS indexInBlock FROM unik_map",
  );
  const putState = database.prepare("INSERT OR REPLACE INTO unik_map VALUES (1, ?, ?, ?)");
  const roots = createRoots(database);
  const values = createValues(database);
  const pages = createPages(database);
  const changesBetween = createChanges(database, network, values.read);
  const height = () => state.get()?.height ?? 0;
  return {
    height,
    leaf() {
      const { leaf = null, indexInBlock = null } = state.get() ?? {};
      return leaf === null || indexInBlock === null ? undefined : { leaf, indexInBlock };
    },
    rootAt: roots.at,
    value: values.read,
    path: (unik) => pathTo(pages, keyOf(unik)),
    addRound(first, last) {
      const changed = changesBetween(first, last);
      const leaves = leavesOf(changed);
      if (leaves.length > 0) {
        const minted = [...changed].filter(
          ([unik, { owner }]) => owner !== null && !values.read(unik)?.owner,
        );
        const uniks = roots.at(last - 1).uniks + minted.length;
        roots.put(last, { root: putLeaves(pages, leaves), uniks });
      }
      values.write(changed);
      return roots.at(last);
    },
    setHeight(to, place) {
      putState.run(to, place?.leaf ?? null, place?.indexInBlock ?? null);
    },
    truncate(to) {
      roots.removeAbove(to);
      if (height() <= to) return;
      for (const table of ["unik_map", "unik_values", "unik_pages"]) database.execute(`DELETE FROM ${table}`);
    },
  };
}

function createRoots(database: Database) {
  const last = database.prepare<MapRoot>(
    "SELECT root, uniks FROM unik_roots WHERE height <= ? ORDER BY height DESC LIMIT 1",
  );
  const put = database.prepare("INSERT OR REPLACE INTO unik_roots VALUES (?, ?, ?)");
  const remove = database.prepare("DELETE FROM unik_roots WHERE height > ?");
  return {
    at: (height: number): MapRoot => last.get(height) ?? { root: EMPTY_MAP, uniks: 0 },
    put: (height: number, { root, uniks }: MapRoot) => void put.run(height, root, uniks),
    removeAbove: (height: number) => void remove.run(height),
  };
}

function createValues(database: Database) {
  const get = database.prepare<{ value: string }>("SELECT value FROM unik_values WHERE unik = ?");
  const put = database.prepare("INSERT OR REPLACE INTO unik_values VALUES (?, ?)");
  return {
    read(unik: string): UnikValue | undefined {
      const row = get.get(hexToBytes(unik));
      return row && valueFromText(row.value);
    },
    write(values: ReadonlyMap<string, UnikValue>): void {
      for (const [unik, value] of values) put.run(hexToBytes(unik), valueText(value));
    },
  };
}

function createPages(database: Database): Pages {
  const get = database.prepare<{ nodes: Uint8Array }>("SELECT nodes FROM unik_pages WHERE path = ?");
  const put = database.prepare("INSERT OR REPLACE INTO unik_pages VALUES (?, ?)");
  return {
    read(path): Page | undefined {
      const row = get.get(path);
      return row && decodePage(row.nodes);
    },
    write: (path, page) => void put.run(path, encodePage(page)),
  };
}

/** Returns a function that derives the values of the uniks that the blocks of a range change. */
function createChanges(database: Database, network: Network, valueBefore: ValueContext["valueBefore"]) {
  // The condition on groups must not select an index: the rows of a round are adjacent.
  const rows = database.prepare<{ id: string; bytes: Uint8Array }>(
    `SELECT id_text AS id, bytes FROM transactions
     WHERE height BETWEEN ? AND ? AND +type_group IN (${UNIK_GROUPS.join(", ")}) ORDER BY height, sequence`,
  );
  // The wallet of a delegate keeps the username for ever.
  const username = database.prepare<{ username: string | null }>(
    "SELECT username FROM wallets WHERE public_key = ?",
  );
  const context: ValueContext = {
    valueBefore,
    addressOf: (publicKey) => addressFromPublicKey(publicKey, network.description.pubKeyHash),
    usernameOf: (publicKey) => username.get(publicKey)?.username ?? undefined,
  };
  return (from: number, to: number): Map<string, UnikValue> => {
    const transactions = rows.all(from, to).map(({ id, bytes }) => sealedFromTrustedBytes(bytes, id).data);
    return changedValues(transactions, context);
  };
}
