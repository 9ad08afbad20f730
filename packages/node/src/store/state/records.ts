/** Stores the tables of the ledger as rows: one record at a time, without a cache. */
import {
  type Holding,
  parseHoldingKey,
  type TableName,
  type Tables,
  type Token,
  type Wallet,
} from "@uniknode/ledger";
import type { Database, SqlValue, Statement } from "../engine/database.ts";
import { attributesFromJson, attributesToJson, holdingFromMembers, holdingValueToJson } from "./json.ts";
import { RoundStore } from "./packed-round.ts";

/** Statements of one table. */
type Rows<Value> = {
  read(key: string): Value | undefined;
  /** @param before returns the stored record */
  write(key: string, value: Value, before: () => Value | undefined): void;
  remove(key: string): void;
};

export class Records {
  readonly #rounds: RoundStore;
  readonly #tables: { readonly [T in TableName]: Rows<Tables[T]> };
  readonly #delegates: Statement<WalletRow>;
  readonly #voters: Statement<{ address: string }>;
  readonly #properties: Statement<{ key: string; value: string }>;

  constructor(database: Database) {
    this.#rounds = new RoundStore(database);
    this.#tables = {
      wallets: walletRows(database),
      tokens: tokenRows(database),
      properties: propertyRows(database),
      rounds: roundRows(this.#rounds),
      holdings: holdingRows(database),
      usernames: entryRows(database, "usernames"),
      locks: entryRows(database, "locks"),
      ipfs: entryRows(database, "ipfs"),
      entities: entryRows(database, "entities"),
      vouchers: entryRows(database, "vouchers"),
      disclosures: entryRows(database, "disclosures"),
    };
    this.#delegates = database.prepare("SELECT * FROM wallets WHERE username IS NOT NULL", {
      bigints: true,
    });
    this.#voters = database.prepare("SELECT address FROM wallets WHERE vote = +?");
    this.#properties = database.prepare("SELECT key, value FROM properties WHERE token = +?");
  }

  read<T extends TableName>(table: T, key: string): Tables[T] | undefined {
    return this.#tables[table].read(key);
  }

  /**
   * Writes a record; `undefined` removes the row.
   *
   * @param before returns the stored record
   */
  write<T extends TableName>(
    table: T,
    key: string,
    value: Tables[T] | undefined,
    before: () => Tables[T] | undefined,
  ): void {
    if (value === undefined) this.#tables[table].remove(key);
    else this.#tables[table].write(key, value, before);
  }

  delegates(): Wallet[] {
    return this.#delegates.all().map(walletFromRow);
  }

  /** Addresses of the wallets whose vote is this public key. */
  voters(publicKey: string): string[] {
    return this.#voters.all(publicKey).map(({ address }) => address);
  }

  properties(tokenId: string): [key: string, value: string][] {
    return this.#properties.all(tokenId).map(({ key, value }) => [key, value]);
  }

  /** Discards the cache. Must be called if a transaction around `write` fails. */
  reset(): void {
    this.#rounds.reset();
  }
}

type WalletRow = {
  address: string;
  public_key: string | null;
  balance: bigint;
  nonce: bigint;
  attributes: string;
};

/** Shared by most wallets; safe, because records are never changed in place. */
const NO_ATTRIBUTES = {};

const walletFromRow = ({ address, public_key, balance, nonce, attributes }: WalletRow): Wallet => ({
  address,
  ...(public_key !== null && { publicKey: public_key }),
  balance,
  nonce,
  attributes: attributes === "{}" ? NO_ATTRIBUTES : attributesFromJson(JSON.parse(attributes)),
});

/** The columns by which a wallet is found, besides its address. */
const namesOf = ({ publicKey, attributes }: Wallet) =>
  [
    publicKey ?? null,
    attributes.vote ?? null,
    attributes.delegate?.username ?? null,
    attributes.secondPublicKey ?? null,
  ] as const;

function walletRows(database: Database): Rows<Wallet> {
  const select = database.prepare<WalletRow>(
    "SELECT address, public_key, balance, nonce, attributes FROM wallets WHERE address = ?",
    { bigints: true },
  );
  const put = database.prepare("INSERT OR REPLACE INTO wallets VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  // SQLite writes the index of each column that a statement names: most changes are without some of them.
  const setAttributes = database.prepare("UPDATE wallets SET attributes = ? WHERE address = ?");
  const setBalance = database.prepare("UPDATE wallets SET attributes = ?, balance = ? WHERE address = ?");
  const setNonce = database.prepare(
    "UPDATE wallets SET attributes = ?, balance = ?, nonce = ? WHERE address = ?",
  );
  const remove = database.prepare("DELETE FROM wallets WHERE address = ?");
  return {
    read(key) {
      const row = select.get(key);
      return row && walletFromRow(row);
    },
    write(key, wallet, before) {
      const stored = before();
      const { balance, nonce } = wallet;
      const attributes = JSON.stringify(attributesToJson(wallet.attributes));
      const names = namesOf(wallet);
      if (!stored || namesOf(stored).some((name, index) => name !== names[index])) {
        const [publicKey, ...others] = names;
        put.run(key, publicKey, balance, nonce, ...others, attributes);
      } else if (nonce !== stored.nonce) setNonce.run(attributes, balance, nonce, key);
      else if (balance !== stored.balance) setBalance.run(attributes, balance, key);
      else setAttributes.run(attributes, key);
    },
    remove: (key) => void remove.run(key),
  };
}

function tokenRows(database: Database): Rows<Token> {
  const select = database.prepare<Token>(
    `SELECT id, owner AS ownerId, first_transaction AS firstTransaction, last_transaction AS lastTransaction
     FROM tokens WHERE id = ?`,
  );
  const upsert = database.prepare("INSERT OR REPLACE INTO tokens VALUES (?, ?, ?, ?)");
  const remove = database.prepare("DELETE FROM tokens WHERE id = ?");
  return {
    read: (key) => select.get(key),
    write: (key, { ownerId, firstTransaction, lastTransaction }) =>
      void upsert.run(key, ownerId, firstTransaction, lastTransaction),
    remove: (key) => void remove.run(key),
  };
}

/** Digits of a token id: the part of a property key before the `/`. */
const TOKEN_ID_DIGITS = 64;

function propertyRows(database: Database): Rows<string> {
  return textRows(
    {
      select: database.prepare("SELECT value FROM properties WHERE token = ? AND key = ?"),
      // The triggers of the table would count a replaced row twice.
      upsert: database.prepare(
        "INSERT INTO properties VALUES (?, ?, ?) ON CONFLICT (token, key) DO UPDATE SET value = excluded.value",
      ),
      remove: database.prepare("DELETE FROM properties WHERE token = ? AND key = ?"),
    },
    (key) => [key.slice(0, TOKEN_ID_DIGITS), key.slice(TOKEN_ID_DIGITS + 1)],
  );
}

function entryRows(database: Database, space: TableName): Rows<string> {
  return textRows(
    {
      select: database.prepare("SELECT value FROM entries WHERE space = ? AND key = ?"),
      upsert: database.prepare("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)"),
      remove: database.prepare("DELETE FROM entries WHERE space = ? AND key = ?"),
    },
    (key) => [space, key],
  );
}

type TextStatements = {
  select: Statement<{ value: string }>;
  upsert: Statement<unknown>;
  remove: Statement<unknown>;
};

/** Rows of text under a key of two columns. */
function textRows(
  { select, upsert, remove }: TextStatements,
  columns: (key: string) => [SqlValue, SqlValue],
): Rows<string> {
  return {
    read: (key) => select.get(...columns(key))?.value,
    write: (key, value) => void upsert.run(...columns(key), value),
    remove: (key) => void remove.run(...columns(key)),
  };
}

function holdingRows(database: Database): Rows<Holding> {
  type Row = { value: string; previous: string | null; next: string | null };
  const where = "WHERE address = ? AND kind = ? AND id = ?";
  const select = database.prepare<Row>(`SELECT value, previous, next FROM holdings ${where}`);
  const upsert = database.prepare("INSERT OR REPLACE INTO holdings VALUES (?, ?, ?, ?, ?, ?)");
  const remove = database.prepare(`DELETE FROM holdings ${where}`);
  const columns = (key: string): [string, string, string] => {
    const { address, kind, id } = parseHoldingKey(key);
    return [address, kind, id];
  };
  return {
    read(key) {
      const row = select.get(...columns(key));
      return row && holdingFromMembers([JSON.parse(row.value), row.previous, row.next]);
    },
    write: (key, { value, previous = null, next = null }) =>
      void upsert.run(...columns(key), previous, next, JSON.stringify(holdingValueToJson(value))),
    remove: (key) => void remove.run(...columns(key)),
  };
}

const roundRows = (rounds: RoundStore): Rows<Tables["rounds"]> => ({
  read: (key) => rounds.read(Number(key)),
  write: (_key, round) => rounds.write(round),
  remove: (key) => rounds.remove(Number(key)),
});
