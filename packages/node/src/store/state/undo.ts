/** Undo records of the last blocks: the rows that each block changed, as they were before (decision 2). */
import { type Change, TABLE_NAMES } from "@uniknode/ledger";
import { present } from "../../platform/present.ts";
import type { Database } from "../engine/database.ts";
import { fromMembers, toMembers } from "./json.ts";
import type { Write } from "./state.ts";

export type UndoStore = {
  append(height: number, changes: readonly Change[]): void;
  has(height: number): boolean;
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
  const exists = database.prepare("SELECT 1 FROM undo WHERE height = ?");
  const removeFrom = database.prepare("DELETE FROM undo WHERE height >= ?");
  const prune = database.prepare("DELETE FROM undo WHERE height < ?");
  return {
    append: (height, changes) => void insert.run(height, encodeUndo(changes)),
    has: (height) => exists.get(height) !== undefined,
    read(height) {
      const row = select.get(height);
      return row && decodeUndo(row.changes);
    },
    removeFrom: (height) => void removeFrom.run(height),
    prune: (height) => void prune.run(height),
  };
}

/** Number of the table, key, and the members of the record by position; none if it was absent. */
type UndoRow = [table: number, key: string, ...members: unknown[]];

/** Number of wallets; their position is that of a form of development versions. */
const WALLETS = 100;

const numberOf = (table: Change["table"]): number =>
  table === "wallets" ? WALLETS : TABLE_NAMES.indexOf(table);

function encodeUndo(changes: readonly Change[]): Uint8Array {
  const rows = changes.map(
    ({ table, key, before }): UndoRow => [numberOf(table), key, ...toMembers(table, before)],
  );
  return Buffer.from(JSON.stringify(rows));
}

function decodeUndo(bytes: Uint8Array): Write[] {
  const rows: UndoRow[] = JSON.parse(Buffer.from(bytes).toString());
  return rows.map(([number, key, ...members]) => {
    const table = number === WALLETS ? "wallets" : present(TABLE_NAMES[number], `table ${number}`);
    return { table, key, after: fromMembers(table, key, members) } as Write;
  });
}
