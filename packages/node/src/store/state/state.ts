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
import type { Database, Statement } from "../engine/database.ts";
import { fromMembers, toMembers } from "./json.ts";
import { Records } from "./records.ts";
import { StateTotals } from "./totals.ts";

/** A record to write, such as a `Change` of the ledger; `undefined` removes the record. */
export type Write<T extends TableName = TableName> = {
  [N in T]: { readonly table: N; readonly key: string; readonly after: Tables[N] | undefined };
}[T];

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

/** Records that are not flushed, by table and key. */
type Written = Readonly<Record<TableName, Map<string, Tables[TableName] | undefined>>>;

export class StateStore implements StateReader {
  readonly #database: Database;
  readonly #records: Records;
  readonly #totals: StateTotals;
  readonly #caches: Readonly<Record<TableName, LRUCache<string, Cached>>>;
  readonly #written: Written = forEachTable(() => new Map());
  /** Wallets of delegates are read at every round: they always stay in memory. */
  readonly #delegates = new Map<string, Wallet>();

  /** @param cacheSize number of cached records of each table, not counting delegates; only a few rounds are cached */
  constructor(database: Database, { cacheSize }: { readonly cacheSize: number }) {
    this.#database = database;
    this.#records = new Records(database);
    this.#totals = new StateTotals(database);
    this.#caches = createCaches(cacheSize);
    this.reset();
  }

  get<T extends TableName>(table: T, name: string): Tables[T] | undefined {
    const key = storableText(name);
    if (table === "wallets") {
      const delegate = this.#delegates.get(key);
      if (delegate) return delegate as Tables[T];
    }
    const fresh = this.#written[table];
    const value = fresh.get(key);
    if (value !== undefined || fresh.has(key)) return value as Tables[T] | undefined;
    const cache = this.#caches[table];
    const cached = cache.get(key);
    if (cached !== undefined) return cached === ABSENT ? undefined : (cached as Tables[T]);
    const stored = this.#records.read(table, key);
    cache.set(key, stored ?? ABSENT);
    return stored;
  }

  delegates(): IterableIterator<string> {
    return this.#delegates.keys();
  }

  voters(publicKey: string): Iterable<string> {
    return walletsOver(
      this.#records.voters(publicKey),
      this.#written.wallets as WrittenRecords<Wallet>,
      ({ attributes }) => attributes.vote === publicKey,
    );
  }

  properties(tokenId: string): Iterable<readonly [key: string, value: string]> {
    return propertiesOver(
      tokenId,
      this.#records.properties(tokenId),
      this.#written.properties as WrittenRecords<string>,
    );
  }

  /** Makes the after-images visible to the reader, and buffers them for the next flush. */
  write(writes: readonly Write[]): void {
    for (const { table, key, after } of writes) {
      this.#written[table].set(storableText(key), typeof after === "string" ? storableText(after) : after);
      if (table !== "wallets") continue;
      if (after?.attributes.delegate) this.#delegates.set(key, after);
      else this.#delegates.delete(key);
    }
  }

  /**
   * Writes the buffered records as rows, each once. Must be called inside the transaction of the blocks that changed
   * them.
   */
  flush(): void {
    for (const table of TABLE_NAMES) {
      for (const [key, value] of this.#written[table]) {
        const before = () => this.#committed(table, key);
        this.#totals.count(table, key, before, value);
        this.#records.write(table, key, value, before);
        this.#caches[table].set(key, value ?? ABSENT);
      }
      this.#written[table].clear();
    }
    this.#totals.flush();
  }

  /** Removes every record. Must be called inside a transaction; call `reset` if the transaction fails. */
  clear(): void {
    for (const table of STATE_TABLES) this.#database.execute(`DELETE FROM ${table}`);
    this.reset();
  }

  /** Discards uncommitted records, and loads the delegates. Must be called if a transaction around `flush` fails. */
  reset(): void {
    this.#totals.reset();
    for (const table of TABLE_NAMES) {
      this.#written[table].clear();
      this.#caches[table].clear();
    }
    this.#delegates.clear();
    this.#records.reset();
    for (const wallet of this.#records.delegates()) this.#delegates.set(wallet.address, wallet);
  }

  /** Returns the record of the database. */
  #committed<T extends TableName>(table: T, key: string): Tables[T] | undefined {
    const cached = this.#caches[table].get(key);
    if (cached === undefined) return this.#records.read(table, key);
    return cached === ABSENT ? undefined : (cached as Tables[T]);
  }
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
export class UndoStore {
  readonly #insert: Statement<unknown>;
  readonly #select: Statement<{ changes: Uint8Array }>;
  readonly #exists: Statement<unknown>;
  readonly #removeFrom: Statement<unknown>;
  readonly #prune: Statement<unknown>;

  constructor(database: Database) {
    this.#insert = database.prepare("INSERT INTO undo VALUES (?, ?)");
    this.#select = database.prepare("SELECT changes FROM undo WHERE height = ?");
    this.#exists = database.prepare("SELECT 1 FROM undo WHERE height = ?");
    this.#removeFrom = database.prepare("DELETE FROM undo WHERE height >= ?");
    this.#prune = database.prepare("DELETE FROM undo WHERE height < ?");
  }

  append(height: number, changes: readonly Change[]): void {
    this.#insert.run(height, encodeUndo(changes));
  }

  has(height: number): boolean {
    return this.#exists.get(height) !== undefined;
  }

  /** Returns the writes that restore the state before the block; undefined when they were pruned. */
  read(height: number): Write[] | undefined {
    const row = this.#select.get(height);
    return row && decodeUndo(row.changes);
  }

  /** Removes the records of blocks at and above the height, which were reverted. */
  removeFrom(height: number): void {
    this.#removeFrom.run(height);
  }

  /** Removes the records of blocks below the height, which can no longer be reverted. */
  prune(height: number): void {
    this.#prune.run(height);
  }
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
