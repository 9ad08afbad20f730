/** Converts records of the state to columns of PostgreSQL, and back (docs/spec/feed.md 3). */
import { parseHoldingKey, TABLE_NAMES, type TableName } from "@uniknode/ledger";
import type { PostgresValue } from "../postgres/connection.ts";
import type { Row } from "./line.ts";
import { MirrorError } from "./mirror-error.ts";

/** A table of PostgreSQL that contains records. */
export type RecordTable = {
  readonly name: "wallets" | "tokens" | "properties" | "entries" | "holdings" | "rounds";
  /** Columns with their types; the columns of the key come first. */
  readonly columns: readonly (readonly [name: string, type: string])[];
  readonly keyLength: number;
};

const WALLETS: RecordTable = {
  name: "wallets",
  columns: [
    ["address", "text"],
    ["public_key", "text"],
    ["balance", "bigint"],
    ["nonce", "bigint"],
    ["vote", "text"],
    ["username", "text"],
    ["second_public_key", "text"],
    ["attributes", "text"],
  ],
  keyLength: 1,
};
const TOKENS: RecordTable = {
  name: "tokens",
  columns: [
    ["id", "text"],
    ["owner", "text"],
    ["first_transaction", "text"],
    ["last_transaction", "text"],
  ],
  keyLength: 1,
};
const PROPERTIES: RecordTable = {
  name: "properties",
  columns: [
    ["token", "text"],
    ["key", "bytea"],
    ["value", "bytea"],
  ],
  keyLength: 2,
};
const ENTRIES: RecordTable = {
  name: "entries",
  columns: [
    ["space", "text"],
    ["key", "bytea"],
    ["value", "bytea"],
  ],
  keyLength: 2,
};
const HOLDINGS: RecordTable = {
  name: "holdings",
  columns: [
    ["address", "text"],
    ["kind", "text"],
    ["id", "text"],
    ["previous", "text"],
    ["next", "text"],
    ["value", "text"],
  ],
  keyLength: 3,
};
const ROUNDS: RecordTable = {
  name: "rounds",
  columns: [
    ["round", "bigint"],
    ["height", "bigint"],
    ["record", "text"],
  ],
  keyLength: 1,
};

export const RECORD_TABLES: readonly RecordTable[] = [WALLETS, TOKENS, PROPERTIES, ENTRIES, HOLDINGS, ROUNDS];

/** Returns the table that stores the records of a table of the ledger. */
export function tableOf(name: string): RecordTable {
  if (name === "wallets") return WALLETS;
  if (name === "tokens") return TOKENS;
  if (name === "properties") return PROPERTIES;
  if (name === "rounds") return ROUNDS;
  if (name === "holdings") return HOLDINGS;
  if (TABLE_NAMES.includes(name as TableName)) return ENTRIES;
  throw new MirrorError(
    "MIRROR_FEED_INVALID",
    `the feed has a record of an unknown table: ${name.slice(0, 32)}`,
  );
}

const bytes = (text: string): Uint8Array => Buffer.from(text);
const textOf = (value: PostgresValue | undefined): string => Buffer.from(value as Uint8Array).toString();

/** Length of the token id in a property key of the ledger, which is the id, a slash, and the name of the property. */
const TOKEN_ID_CHARACTERS = 64;

/** Returns the key of a record in its table. */
export function toKey([table, key]: Row): PostgresValue[] {
  switch (tableOf(table)) {
    case PROPERTIES:
      return [key.slice(0, TOKEN_ID_CHARACTERS), bytes(key.slice(TOKEN_ID_CHARACTERS + 1))];
    case ENTRIES:
      return [table, bytes(key)];
    case HOLDINGS: {
      const { address, kind, id } = parseHoldingKey(key);
      return [address, kind, id];
    }
    default:
      return [key];
  }
}

type WalletAttributes = {
  readonly vote?: string;
  readonly delegate?: { readonly username?: string };
  readonly secondPublicKey?: string;
};

/** Returns the columns of an existing record. */
export function toColumns(row: Row): PostgresValue[] {
  const [table, , ...members] = row;
  const key = toKey(row);
  switch (tableOf(table)) {
    case WALLETS: {
      const [balance, nonce, attributes, publicKey] = members as [string, string, WalletAttributes, string?];
      const { vote, delegate, secondPublicKey } = attributes;
      return [
        ...key,
        publicKey ?? null,
        balance,
        nonce,
        vote ?? null,
        delegate?.username ?? null,
        secondPublicKey ?? null,
        JSON.stringify(attributes),
      ];
    }
    case TOKENS:
      return [...key, ...(members as string[])];
    case HOLDINGS: {
      const [value, previous, next] = members as [unknown, string | null, string | null];
      return [...key, previous, next, JSON.stringify(value)];
    }
    case ROUNDS: {
      const [round] = members as [{ readonly height: number }];
      return [...key, round.height, JSON.stringify(round)];
    }
    default:
      return [...key, bytes(members[0] as string)];
  }
}

/** Returns the record with these columns, as the text of a row. */
export function toRowText(table: RecordTable, columns: readonly PostgresValue[]): string {
  switch (table) {
    case WALLETS: {
      const [address, publicKey, balance, nonce, , , , attributes] = columns;
      const key = publicKey === null ? "" : `,${JSON.stringify(publicKey)}`;
      return `["wallets",${JSON.stringify(address)},"${balance}","${nonce}",${attributes}${key}]`;
    }
    case TOKENS:
      return JSON.stringify(["tokens", ...columns]);
    case PROPERTIES:
      return JSON.stringify(["properties", `${columns[0]}/${textOf(columns[1])}`, textOf(columns[2])]);
    case ROUNDS:
      return `["rounds","${columns[0]}",${columns[2]}]`;
    case HOLDINGS: {
      const [address, kind, id, previous, next, value] = columns;
      const key = JSON.stringify(`${address}/${kind}/${id}`);
      return `["holdings",${key},${value},${JSON.stringify(previous)},${JSON.stringify(next)}]`;
    }
    default:
      return JSON.stringify([columns[0], textOf(columns[1]), textOf(columns[2])]);
  }
}
