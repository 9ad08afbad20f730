/** What the service remembers: transactions that wait to be broadcast, and keys under a password. */
import { closeSync, openSync } from "node:fs";
import { openDatabase } from "../store/engine/database.ts";

export type RpcStore = {
  /** A signed transaction in its JSON form. Of more than can be kept, the oldest are forgotten. */
  saveTransaction(id: string, json: string): void;
  findTransaction(id: string): string | undefined;
  /** A BIP38 text under the digest of the user that it is for. The first one stays. */
  saveKey(user: string, bip38: string): void;
  findKey(user: string): string | undefined;
  keyCount(): number;
  close(): void;
};

const MEMORY = ":memory:";
const MAX_TRANSACTIONS = 100_000;

/**
 * `path` of a file; `:memory:` forgets everything at the end.
 *
 * @throws {Error} when the file is no database or cannot be opened
 */
export function openRpcStore(path: string, maxTransactions = MAX_TRANSACTIONS): RpcStore {
  if (path !== MEMORY) makePrivate(path);
  const database = openDatabase(path);
  database.execute(`
    CREATE TABLE IF NOT EXISTS transactions (id TEXT PRIMARY KEY, json TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS keys (user TEXT PRIMARY KEY, bip38 TEXT NOT NULL) STRICT;
  `);
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
    keyCount: () => Number(keys.count.get()!.count),
    close: () => database.close(),
  };
}

/** There are keys in it: a new file is nobody else's to read. */
const makePrivate = (path: string): void => closeSync(openSync(path, "a", 0o600));
