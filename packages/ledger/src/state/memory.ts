/** Committed state in maps: for tests, and as the reference for the behaviour of a store. */
import {
  type Change,
  propertyKey,
  type StateReader,
  TABLE_NAMES,
  type TableName,
  type Tables,
  type Wallet,
} from "./tables.ts";

export type MemoryState = StateReader & {
  commit(changes: readonly Change[]): void;
  /** Undoes changes, last first. */
  revert(changes: readonly Change[]): void;
  /** All records of a table. */
  entries<T extends TableName>(table: T): [key: string, value: Tables[T]][];
};

export function createMemoryState(): MemoryState {
  const tables = Object.fromEntries(TABLE_NAMES.map((table) => [table, new Map()])) as Record<
    TableName,
    Map<string, unknown>
  >;
  const delegates = new Set<string>();
  const votersOf = new Map<string, Set<string>>();

  function write(table: TableName, key: string, value: unknown): void {
    if (table === "wallets") index(key, tables.wallets.get(key) as Wallet, value as Wallet | undefined);
    if (value === undefined) tables[table].delete(key);
    else tables[table].set(key, value);
  }

  function index(address: string, before: Wallet | undefined, after: Wallet | undefined): void {
    if (after?.attributes.delegate) delegates.add(address);
    else delegates.delete(address);
    const [oldVote, newVote] = [before?.attributes.vote, after?.attributes.vote];
    if (oldVote === newVote) return;
    if (oldVote) votersOf.get(oldVote)?.delete(address);
    if (newVote) votersOf.set(newVote, (votersOf.get(newVote) ?? new Set()).add(address));
  }

  return {
    get: <T extends TableName>(table: T, key: string) => tables[table].get(key) as Tables[T] | undefined,
    delegates: () => delegates,
    voters: (publicKey) => votersOf.get(publicKey) ?? [],
    *properties(tokenId) {
      const prefix = propertyKey(tokenId, "");
      for (const [key, value] of tables.properties) {
        if (key.startsWith(prefix)) yield [key.slice(prefix.length), value as string];
      }
    },
    commit(changes) {
      for (const { table, key, after } of changes) write(table, key, after);
    },
    revert(changes) {
      for (const { table, key, before } of changes.toReversed()) write(table, key, before);
    },
    entries: <T extends TableName>(table: T) => [...tables[table]] as [string, Tables[T]][],
  };
}
