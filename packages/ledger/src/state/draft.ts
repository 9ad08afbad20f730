/**
 * State in the making: written records over a reader, with a journal that serves both to take back a refused
 * transaction and to undo an accepted block (architecture.md, "the way of a block").
 */
import type { Change, StateReader, TableName, Tables } from "./tables.ts";
import { propertyKey, TABLE_NAMES } from "./tables.ts";

/** A position of the journal, for `rollback`. */
export type Mark = number;

export type Draft = StateReader & {
  /** Writes a record; `undefined` removes it. */
  set<T extends TableName>(table: T, key: string, value: Tables[T] | undefined): void;
  mark(): Mark;
  /** Takes back everything written after the mark. */
  rollback(mark: Mark): void;
  /** What was written after the mark (default: ever), one entry for each record, in order of first writing. */
  changes(since?: Mark): Change[];
};

type Records = Map<string, Tables[TableName] | undefined>;

/** A draft over committed state, or over another draft. */
export function createDraft(base: StateReader): Draft {
  const written = new Map<TableName, Records>(TABLE_NAMES.map((table) => [table, new Map()]));
  const journal: { table: TableName; key: string; before: Tables[TableName] | undefined; fresh: boolean }[] =
    [];

  const recordsOf = (table: TableName): Records => written.get(table)!;

  function get<T extends TableName>(table: T, key: string): Tables[T] | undefined {
    const records = recordsOf(table);
    if (records.has(key)) return records.get(key) as Tables[T] | undefined;
    return base.get(table, key);
  }

  function set<T extends TableName>(table: T, key: string, value: Tables[T] | undefined): void {
    const records = recordsOf(table);
    journal.push({ table, key, before: get(table, key), fresh: !records.has(key) });
    records.set(key, value);
  }

  function rollback(mark: Mark): void {
    while (journal.length > mark) {
      const { table, key, before, fresh } = journal.pop()!;
      if (fresh) recordsOf(table).delete(key);
      else recordsOf(table).set(key, before);
    }
  }

  function changes(since: Mark = 0): Change[] {
    const first = new Map<string, (typeof journal)[number]>();
    for (const entry of journal.slice(since)) {
      const name = `${entry.table} ${entry.key}`;
      if (!first.has(name)) first.set(name, entry);
    }
    return [...first.values()].map(
      ({ table, key, before }) => ({ table, key, before, after: get(table, key) }) as Change,
    );
  }

  /** Addresses of the base that still satisfy the test, and the written ones that do. */
  function* walletsWhere(
    committed: Iterable<string>,
    test: (wallet: Tables["wallets"]) => boolean,
  ): Iterable<string> {
    const records = written.get("wallets") as Map<string, Tables["wallets"] | undefined> | undefined;
    for (const address of committed) if (!records?.has(address)) yield address;
    for (const [address, wallet] of records ?? []) if (wallet && test(wallet)) yield address;
  }

  return {
    get,
    set,
    rollback,
    changes,
    mark: () => journal.length,
    delegates: () => walletsWhere(base.delegates(), ({ attributes }) => attributes.delegate !== undefined),
    voters: (publicKey) =>
      walletsWhere(base.voters(publicKey), ({ attributes }) => attributes.vote === publicKey),
    *properties(tokenId) {
      const records = written.get("properties") as Map<string, string | undefined> | undefined;
      for (const entry of base.properties(tokenId)) {
        if (!records?.has(propertyKey(tokenId, entry[0]))) yield entry;
      }
      const prefix = propertyKey(tokenId, "");
      for (const [key, value] of records ?? []) {
        if (value !== undefined && key.startsWith(prefix)) yield [key.slice(prefix.length), value];
      }
    },
  };
}
