/** Undo records of the last blocks: the rows that each block changed, as they were before (decision 2). */

import type { Attributes, Change, Round, TableName, Token, Wallet } from "@uniknode/ledger";
import { TABLE_NAMES } from "@uniknode/ledger";
import { requireValue } from "../../platform/require-value.ts";
import type { Database } from "../engine/database.ts";
import {
  attributesFromJson,
  attributesToJson,
  type Json,
  type RoundJson,
  roundFromJson,
  roundToJson,
} from "./json.ts";
import type { Write } from "./state.ts";

export type UndoStore = {
  append(height: number, changes: readonly Change[]): void;
  /** Returns the writes that restore the state before the block; undefined when they were pruned. */
  read(height: number): Write[] | undefined;
  /** Removes the records of blocks at and above the height, which were reverted. */
  removeFrom(height: number): void;
  /** Removes the records of blocks below the height, which can no longer be reverted. */
  prune(height: number): void;
};

export function createUndoStore(database: Database): UndoStore {
  const insert = database.prepare("INSERT INTO undo VALUES (?, ?)");
  const select = database.prepare<{ changes: Uint8Array }>("SELECT changes FROM undo WHERE height = ?");
  const removeFrom = database.prepare("DELETE FROM undo WHERE height >= ?");
  const prune = database.prepare("DELETE FROM undo WHERE height < ?");
  return {
    append: (height, changes) => void insert.run(height, encodeUndo(changes)),
    read(height) {
      const row = select.get(height);
      return row && decodeUndo(row.changes);
    },
    removeFrom: (height) => void removeFrom.run(height),
    prune: (height) => void prune.run(height),
  };
}

/** Number of the table, key, and the members of the record by position; none for "was absent". */
type UndoRow = [table: number, key: string, ...members: unknown[]];

function encodeUndo(changes: readonly Change[]): Uint8Array {
  const rows = changes.map((change): UndoRow => {
    const { table, key, before } = change;
    return [TABLE_NAMES.indexOf(table), key, ...(before === undefined ? [] : membersOf(table, before))];
  });
  return Buffer.from(JSON.stringify(rows));
}

function decodeUndo(bytes: Uint8Array): Write[] {
  const rows: UndoRow[] = JSON.parse(Buffer.from(bytes).toString());
  return rows.map(([number, key, ...members]) => {
    const table = requireValue(TABLE_NAMES[number], `table ${number}`);
    return { table, key, after: members.length === 0 ? undefined : recordOf(table, key, members) } as Write;
  });
}

/** The members of a record that are not part of its key. */
function membersOf(table: TableName, record: NonNullable<Change["before"]>): unknown[] {
  switch (table) {
    case "wallets": {
      const { publicKey, balance, nonce, attributes } = record as Wallet;
      return [`${balance}`, `${nonce}`, attributesToJson(attributes), ...(publicKey ? [publicKey] : [])];
    }
    case "tokens": {
      const { ownerId, firstTransaction, lastTransaction } = record as Token;
      return [ownerId, firstTransaction, lastTransaction];
    }
    case "rounds":
      return [roundToJson(record as Round)];
    default:
      return [record];
  }
}

function recordOf(table: TableName, key: string, members: unknown[]): Change["before"] {
  switch (table) {
    case "wallets": {
      const [balance, nonce, attributes, publicKey] = members as [string, string, Json<Attributes>, string?];
      return {
        address: key,
        ...(publicKey !== undefined && { publicKey }),
        balance: BigInt(balance),
        nonce: BigInt(nonce),
        attributes: attributesFromJson(attributes),
      };
    }
    case "tokens": {
      const [ownerId, firstTransaction, lastTransaction] = members as [string, string, string];
      return { id: key, ownerId, firstTransaction, lastTransaction };
    }
    case "rounds":
      return roundFromJson(members[0] as RoundJson);
    default:
      return members[0] as string;
  }
}
