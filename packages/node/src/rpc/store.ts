/** The database of the service: created transactions, and encrypted keys of users. */
import { closeSync, openSync } from "node:fs";
import { ConfigError } from "../platform/coded-error.ts";
import { type Database, openDatabase, type Statement } from "../store/engine/database.ts";

const TABLES: readonly string[] = [
  "CREATE TABLE transactions (id TEXT PRIMARY KEY, json TEXT NOT NULL) STRICT",
  "CREATE TABLE keys (user TEXT PRIMARY KEY, bip38 TEXT NOT NULL) STRICT",
];

const MEMORY = ":memory:";
const MAX_TRANSACTIONS = 100_000;

export class RpcStore {
  readonly #database: Database;
  readonly #maxTransactions: number;
  readonly #saveTransaction: Statement<unknown>;
  readonly #trimTransactions: Statement<unknown>;
  readonly #findTransaction: Statement<{ json: string }>;
  readonly #saveKey: Statement<unknown>;
  readonly #countKeys: Statement<{ count: number }>;
  readonly #findKey: Statement<{ bip38: string }>;

  /**
   * @param path of a file; `:memory:` stores nothing on disk
   * @throws {ConfigError} when the file is not a database, is the database of something else, or cannot be opened
   */
  constructor(path: string, maxTransactions = MAX_TRANSACTIONS) {
    const database = open(path);
    this.#database = database;
    this.#maxTransactions = maxTransactions;
    this.#saveTransaction = database.prepare(
      "INSERT INTO transactions (id, json) VALUES (?, ?) ON CONFLICT DO NOTHING",
    );
    this.#trimTransactions = database.prepare(
      "DELETE FROM transactions WHERE rowid <= (SELECT max(rowid) FROM transactions) - ?",
    );
    this.#findTransaction = database.prepare("SELECT json FROM transactions WHERE id = ?");
    this.#saveKey = database.prepare("INSERT INTO keys (user, bip38) VALUES (?, ?) ON CONFLICT DO NOTHING");
    this.#countKeys = database.prepare("SELECT count(*) AS count FROM keys");
    this.#findKey = database.prepare("SELECT bip38 FROM keys WHERE user = ?");
  }

  /** Stores a signed transaction in its JSON form; beyond the maximum the oldest are removed. */
  saveTransaction(id: string, json: string): void {
    this.#saveTransaction.run(id, json);
    this.#trimTransactions.run(this.#maxTransactions);
  }

  findTransaction(id: string): string | undefined {
    return this.#findTransaction.get(id)?.json;
  }

  /** Stores a BIP38 text by the digest of its user; an existing one is not replaced. */
  saveKey(user: string, bip38: string): void {
    this.#saveKey.run(user, bip38);
  }

  findKey(user: string): string | undefined {
    return this.#findKey.get(user)?.bip38;
  }

  keyCount(): number {
    return Number(this.#countKeys.get()?.count ?? 0);
  }

  close(): void {
    this.#database.close();
  }
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
