/**
 * The consensus state: rows of the database with a bounded cache, and the records written since the last
 * flush.
 *
 * The reader returns the newest record: written, cached or stored, in this order. The cache never differs
 * from the database, so that discarding the cache and the unflushed records restores the committed state.
 */
import {
  type Change,
  propertiesOver,
  type StateReader,
  TABLE_NAMES,
  type TableName,
  type Tables,
  type Wallet,
  type WrittenRecords,
  walletsOver,
} from "@uniknode/ledger";
import { LRUCache } from "lru-cache";
import { present } from "../../platform/present.ts";
import type { Database } from "../engine/database.ts";
import { fromMembers, toMembers } from "./json.ts";
import { createRecords, type Records } from "./records.ts";
import { createStateTotals, type StateTotals } from "./totals.ts";

/** A record to write, such as a `Change` of the ledger; `undefined` removes the record. */
export type Write<T extends TableName = TableName> = {
  [N in T]: { readonly table: N; readonly key: string; readonly after: Tables[N] | undefined };
}[T];

export type StateStore = StateReader & {
  /** Makes the after-images visible to the reader, and buffers them for the next flush. */
  write(writes: readonly Write[]): void;
  /**
   * Writes the buffered records as rows, each once. Must be called inside the transaction of the blocks that changed
   * them.
   */
  flush(): void;
  /** Removes every record. Must be called inside a transaction; call `reset` if the transaction fails. */
  clear(): void;
  /** Discards uncommitted records. Must be called if a transaction around `flush` fails. */
  reset(): void;
};

export type StateStoreOptions = {
  /** Number of cached records of each table, not counting delegates. Only a few rounds are cached. */
  readonly cacheSize: number;
};

/** A round is as large as fifty wallets, and only the latest rounds are read. */
const MAX_ROUNDS = 16;

/** Names of the tables in the database; some hold several tables of the state. */
const STATE_TABLES = [
  "wallets",
  "tokens",
  "property_parts",
  "properties",
  "rounds",
  "entries",
  "holdings",
  "state_totals",
];

const ABSENT = Symbol("absent");
type Cached = NonNullable<unknown> | typeof ABSENT;

export function createStateStore(database: Database, { cacheSize }: StateStoreOptions): StateStore {
  const records = createRecords(database);
  const totals = createStateTotals(database);
  const layers: Layers = {
    caches: createCaches(cacheSize),
    written: forEachTable(() => new Map()),
    delegates: new Map(),
  };
  const { caches, written, delegates } = layers;

  function get<T extends TableName>(table: T, name: string): Tables[T] | undefined {
    const key = storableText(name);
    if (table === "wallets") {
      const delegate = delegates.get(key);
      if (delegate) return delegate as Tables[T];
    }
    const fresh = written[table];
    const value = fresh.get(key);
    if (value !== undefined || fresh.has(key)) return value as Tables[T] | undefined;
    const cached = caches[table].get(key);
    if (cached !== undefined) return cached === ABSENT ? undefined : (cached as Tables[T]);
    const stored = records.read(table, key);
    caches[table].set(key, stored ?? ABSENT);
    return stored;
  }

  function write(writes: readonly Write[]): void {
    for (const { table, key, after } of writes) {
      written[table].set(storableText(key), typeof after === "string" ? storableText(after) : after);
      if (table !== "wallets") continue;
      if (after?.attributes.delegate) delegates.set(key, after);
      else delegates.delete(key);
    }
  }

  const reset = () => {
    totals.reset();
    discard(records, layers);
  };
  reset();
  return {
    get,
    write,
    flush: () => flush(records, totals, layers),
    clear() {
      for (const table of STATE_TABLES) database.execute(`DELETE FROM ${table}`);
      reset();
    },
    reset,
    delegates: () => delegates.keys(),
    voters: (publicKey) =>
      walletsOver(
        records.voters(publicKey),
        written.wallets as WrittenRecords<Wallet>,
        ({ attributes }) => attributes.vote === publicKey,
      ),
    properties: (tokenId) =>
      propertiesOver(tokenId, records.properties(tokenId), written.properties as WrittenRecords<string>),
  };
}

/** Records in memory. */
type Layers = {
  readonly caches: Record<TableName, LRUCache<string, Cached>>;
  /** Unflushed records. */
  readonly written: Record<TableName, Map<string, Tables[TableName] | undefined>>;
  /** Wallets of delegates are read at every round: they always stay in memory. */
  readonly delegates: Map<string, Wallet>;
};

/** Writes the unflushed records as rows. */
function flush(records: Records, totals: StateTotals, { caches, written }: Layers): void {
  for (const table of TABLE_NAMES) {
    for (const [key, value] of written[table]) {
      const before = () => committed(records, caches, table, key);
      totals.count(table, key, before, value);
      records.write(table, key, value, before);
      caches[table].set(key, value ?? ABSENT);
    }
    written[table].clear();
  }
  totals.flush();
}

/** Returns the record of the database. */
function committed<T extends TableName>(
  records: Records,
  caches: Layers["caches"],
  table: T,
  key: string,
): Tables[T] | undefined {
  const cached = caches[table].get(key);
  if (cached === undefined) return records.read(table, key);
  return cached === ABSENT ? undefined : (cached as Tables[T]);
}

/** Discards uncommitted records, and loads the delegates. */
function discard(records: Records, { caches, written, delegates }: Layers): void {
  for (const table of TABLE_NAMES) {
    written[table].clear();
    caches[table].clear();
  }
  delegates.clear();
  records.reset();
  for (const wallet of records.delegates()) delegates.set(wallet.address, wallet);
}

/**
 * Returns a text as the database would return it. Lenient decoding of transactions can yield unpaired
 * surrogates, which UTF-8 cannot encode: the result must not depend on whether it comes from memory or from
 * the file.
 */
const storableText = (text: string): string => (text.isWellFormed() ? text : text.toWellFormed());

const createCaches = (cacheSize: number) =>
  forEachTable(
    (table) =>
      new LRUCache<string, Cached>({ max: table === "rounds" ? Math.min(cacheSize, MAX_ROUNDS) : cacheSize }),
  );

const forEachTable = <V>(create: (table: TableName) => V): Record<TableName, V> =>
  Object.fromEntries(TABLE_NAMES.map((table) => [table, create(table)])) as Record<TableName, V>;

/** Undo records of the last blocks: the rows that each block changed, as they were before (decision 2). */
export type UndoStore = {
  append(height: number, changes: readonly Change[]): void;
  has(height: number): boolean;
  /** Returns the writes that restore the state before the block; undefined when they were pruned. */
  read(height: number): Write[] | undefined;
  /** Removes the records of blocks at and above the height, which were reverted. */
  removeFrom(height: number): void;
  /** Removes the records of blocks below the height, which can no longer be reverted. */
  prune(height: number): void;
};

export function createUndoStore(database: Database): UndoStore {
  const insert = database.prepare("INSERT INTO undo VALUES (?, ?)");
  const select = database.prepare<{ changes: Uint8Array }>("SELECT changes FROM undo WHERE height = ?");
  const exists = database.prepare("SELECT 1 FROM undo WHERE height = ?");
  const removeFrom = database.prepare("DELETE FROM undo WHERE height >= ?");
  const prune = database.prepare("DELETE FROM undo WHERE height < ?");
  return {
    append: (height, changes) => void insert.run(height, encodeUndo(changes)),
    has: (height) => exists.get(height) !== undefined,
    read(height) {
      const row = select.get(height);
      return row && decodeUndo(row.changes);
    },
    removeFrom: (height) => void removeFrom.run(height),
    prune: (height) => void prune.run(height),
  };
}

/** Number of the table, key, and the members of the record by position; none if it was absent. */
type UndoRow = [table: number, key: string, ...members: unknown[]];

/** Number of wallets; their position is that of a form of development versions. */
const WALLETS = 100;

const numberOf = (table: Change["table"]): number =>
  table === "wallets" ? WALLETS : TABLE_NAMES.indexOf(table);

function encodeUndo(changes: readonly Change[]): Uint8Array {
  const rows = changes.map(
    ({ table, key, before }): UndoRow => [numberOf(table), key, ...toMembers(table, before)],
  );
  return Buffer.from(JSON.stringify(rows));
}

function decodeUndo(bytes: Uint8Array): Write[] {
  const rows: UndoRow[] = JSON.parse(Buffer.from(bytes).toString());
  return rows.map(([number, key, ...members]) => {
    const table = number === WALLETS ? "wallets" : present(TABLE_NAMES[number], `table ${number}`);
    return { table, key, after: fromMembers(table, key, members) } as Write;
  });
}
