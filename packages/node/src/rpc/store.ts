/** The database of the service: created transactions, and encrypted keys of users. */
import { closeSync, openSync } from "node:fs";
import { ConfigError } from "../platform/coded-error.ts";
import { type Database, openDatabase } from "../store/engine/database.ts";

export type RpcStore = {
  /** Stores a signed transaction in its JSON form; beyond the maximum the oldest are removed. */
  saveTransaction(id: string, json: string): void;
  findTransaction(id: string): string | undefined;
  /** Stores a BIP38 text by the digest of its user; an existing one is not replaced. */
  saveKey(user: string, bip38: string): void;
  findKey(user: string): string | undefined;
  keyCount(): number;
  close(): void;
};

const TABLES: readonly string[] = [
  "CREATE TABLE transactions (id TEXT PRIMARY KEY, json TEXT NOT NULL) STRICT",
  "CREATE TABLE keys (user TEXT PRIMARY KEY, bip38 TEXT NOT NULL) STRICT",
];

const MEMORY = ":memory:";
const MAX_TRANSACTIONS = 100_000;

/**
 * @param path of a file; `:memory:` stores nothing on disk
 * @throws {ConfigError} when the file is not a database, is the database of something else, or cannot be opened
 */
export function openRpcStore(path: string, maxTransactions = MAX_TRANSACTIONS): RpcStore {
  const database = open(path);
  const transactions = {
    save: database.prepare("INSERT INTO transactions (id, json) VALUES (?, ?) ON CONFLICT DO NOTHING"),
    trim: database.prepare(
      "DELETE FROM transactions WHERE rowid <= (SELECT max(rowid) FROM transactions) - ?",
    ),
    find: database.prepare<{ json: string }>("SELECT json FROM transactions WHERE id = ?"),
  };
  const keys = {
    save: database.prepare("INSERT INTO keys (user, bip38) VALUES (?, ?) ON CONFLICT DO NOTHING"),
    count: database.prepare<{ count: number }>("SELECT count(*) AS count FROM keys"),
    find: database.prepare<{ bip38: string }>("SELECT bip38 FROM keys WHERE user = ?"),
  };
  return {
    saveTransaction(id, json) {
      transactions.save.run(id, json);
      transactions.trim.run(maxTransactions);
    },
    findTransaction: (id) => transactions.find.get(id)?.json,
    saveKey: (user, bip38) => void keys.save.run(user, bip38),
    findKey: (user) => keys.find.get(user)?.bip38,
    keyCount: () => Number(keys.count.get()?.count ?? 0),
    close: () => database.close(),
  };
}

function open(path: string): Database {
  try {
    if (path !== MEMORY) {
      makePrivate(path);
      refuseOther(path);
    }
    const database = openDatabase(path);
    for (const table of TABLES) database.execute(table.replace("TABLE", "TABLE IF NOT EXISTS"));
    return database;
  } catch (error) {
    throw new ConfigError(
      `--rpc-data ${path} cannot be used: ${(error as Error).message}; choose another file, or move this file away`,
    );
  }
}

/** The file contains keys: a new one is readable by its owner only. */
const makePrivate = (path: string): void => closeSync(openSync(path, "a", 0o600));

/** @throws {Error} if the file has tables of another program, such as those of a node */
function refuseOther(path: string): void {
  const reader = openDatabase(path, { readonly: true });
  const others = reader
    .prepare<{ name: string; sql: string }>("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
    .all()
    .filter(({ sql }) => !TABLES.includes(sql));
  reader.close();
  if (others[0]) throw new Error(`it is the database of another program, with "${others[0].name}"`);
}
