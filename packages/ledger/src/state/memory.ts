/** Committed state in plain maps: for tests, and as the model of what a store must answer. */
import type { Change, StateReader, TableName, Tables } from "./tables.ts";
import { propertyKey, TABLE_NAMES } from "./tables.ts";

export type MemoryState = StateReader & {
  /** Makes the changes the committed state. */
  commit(changes: readonly Change[]): void;
  /** Takes changes back, last first. */
  revert(changes: readonly Change[]): void;
  /** All records of a table. */
  entries<T extends TableName>(table: T): [key: string, value: Tables[T]][];
};

export function createMemoryState(): MemoryState {
  const tables = new Map<TableName, Map<string, unknown>>(TABLE_NAMES.map((table) => [table, new Map()]));
  const recordsOf = (table: TableName) => tables.get(table)!;
  const write = (table: TableName, key: string, value: unknown) => {
    if (value === undefined) recordsOf(table).delete(key);
    else recordsOf(table).set(key, value);
  };
  function* addressesWhere(test: (wallet: Tables["wallets"]) => boolean): Iterable<string> {
    for (const [address, wallet] of recordsOf("wallets"))
      if (test(wallet as Tables["wallets"])) yield address;
  }
  return {
    get: <T extends TableName>(table: T, key: string) => recordsOf(table).get(key) as Tables[T] | undefined,
    delegates: () => addressesWhere(({ attributes }) => attributes.delegate !== undefined),
    voters: (publicKey) => addressesWhere(({ attributes }) => attributes.vote === publicKey),
    *properties(tokenId) {
      const prefix = propertyKey(tokenId, "");
      for (const [key, value] of recordsOf("properties")) {
        if (key.startsWith(prefix)) yield [key.slice(prefix.length), value as string];
      }
    },
    commit(changes) {
      for (const { table, key, after } of changes) write(table, key, after);
    },
    revert(changes) {
      for (const { table, key, before } of changes.toReversed()) write(table, key, before);
    },
    entries: <T extends TableName>(table: T) => [...recordsOf(table)] as [string, Tables[T]][],
  };
}
