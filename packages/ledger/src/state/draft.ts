/**
 * A draft of the state: written records over a reader, with a journal to roll back a refused transaction and to undo an
 * accepted block (decision 2).
 */
import {
  type Change,
  propertyKey,
  type StateReader,
  type TableName,
  type Tables,
  type Wallet,
} from "./tables.ts";

/** Written records by key; undefined if the record is removed. */
export type WrittenRecords<T> = ReadonlyMap<string, T | undefined>;

/** Yields the committed addresses that were not written, and the written ones whose wallet satisfies the test. */
export function* walletsOver(
  committed: Iterable<string>,
  written: WrittenRecords<Wallet>,
  test: (wallet: Wallet) => boolean,
): Iterable<string> {
  for (const address of committed) if (!written.has(address)) yield address;
  for (const [address, wallet] of written) if (wallet && test(wallet)) yield address;
}

/** Yields the committed properties of a token that were not written, and the written ones. */
export function* propertiesOver(
  tokenId: string,
  committed: Iterable<readonly [key: string, value: string]>,
  written: WrittenRecords<string>,
): Iterable<readonly [key: string, value: string]> {
  for (const entry of committed) if (!written.has(propertyKey(tokenId, entry[0]))) yield entry;
  const prefix = propertyKey(tokenId, "");
  for (const [key, value] of written) {
    if (value !== undefined && key.startsWith(prefix)) yield [key.slice(prefix.length), value];
  }
}

/** A position of the journal, for `rollback`. */
export type Mark = number;

export type Draft = StateReader & {
  /** Writes a record; `undefined` removes it. */
  set<T extends TableName>(table: T, key: string, value: Tables[T] | undefined): void;
  mark(): Mark;
  /** Rolls back everything written after the mark. */
  rollback(mark: Mark): void;
  /**
   * Changes after the mark (default: all), one entry for each record, in order of first writing.
   * A record that was created and removed again is omitted.
   */
  changes(since?: Mark): Change[];
};

type AnyRecord = Tables[TableName] | undefined;
type Records = Map<string, AnyRecord>;

/** One write. `first`: the journal has no earlier write of this record. */
type Entry = { table: TableName; key: string; before: AnyRecord; first: boolean };

/** A draft over committed state, or over another draft. */
export function createDraft(base: StateReader): Draft {
  /** Written records by table, created by the first write: most drafts write to one or two tables. */
  const written: { [T in TableName]?: Records } = {};
  const journal: Entry[] = [];

  function recordsOf(table: TableName): Records {
    const records = written[table] ?? new Map();
    written[table] = records;
    return records;
  }

  function get<T extends TableName>(table: T, key: string): Tables[T] | undefined {
    const records = written[table];
    const record = records?.get(key);
    if (record !== undefined) return record as Tables[T];
    return records?.has(key) ? undefined : base.get(table, key);
  }

  function set<T extends TableName>(table: T, key: string, value: Tables[T] | undefined): void {
    const records = recordsOf(table);
    journal.push({ table, key, before: get(table, key), first: !records.has(key) });
    records.set(key, value);
  }

  function rollback(mark: Mark): void {
    for (const { table, key, before, first } of journal.splice(mark).reverse()) {
      if (first) recordsOf(table).delete(key);
      else recordsOf(table).set(key, before);
    }
  }

  function changes(since: Mark = 0): Change[] {
    const entries = since === 0 ? journal.filter(({ first }) => first) : firstEntries(journal.slice(since));
    return entries
      .map(({ table, key, before }) => ({ table, key, before, after: get(table, key) }) as Change)
      .filter(({ before, after }) => before !== undefined || after !== undefined);
  }

  const writtenWallets = () => recordsOf("wallets") as WrittenRecords<Wallet>;

  return {
    get,
    set,
    rollback,
    changes,
    mark: () => journal.length,
    delegates: () =>
      walletsOver(base.delegates(), writtenWallets(), ({ attributes }) => attributes.delegate !== undefined),
    voters: (publicKey) =>
      walletsOver(
        base.voters(publicKey),
        writtenWallets(),
        ({ attributes }) => attributes.vote === publicKey,
      ),
    properties: (tokenId) =>
      propertiesOver(tokenId, base.properties(tokenId), recordsOf("properties") as WrittenRecords<string>),
  };
}

/** The first entry of each record. */
function firstEntries(entries: readonly Entry[]): Entry[] {
  const seen = new Set<string>();
  return entries.filter(({ table, key }) => {
    const name = `${table} ${key}`;
    return !seen.has(name) && seen.add(name);
  });
}
