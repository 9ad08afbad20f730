/**
 * Records each record as it was before the blocks that changed it, so that the state after any recorded block can be read
 * (decision 69).
 */
import type { Change, TableName, Wallet } from "@uniknode/ledger";
import { present } from "../../platform/present.ts";
import type { Database } from "../engine/database.ts";
import { attributesToJson, type Stored, toMembers } from "../state/json.ts";
import type { Write } from "../state/state.ts";

/** Kinds of records in `history_records`. */
export const HISTORY_KINDS = {
  tokens: 1,
  properties: 2,
  attributes: 3,
  holdings: 4,
} as const;

/** Removes the records of earlier runs and returns undefined if the history is disabled, because it would have a gap. */
export function openHistory(database: Database, isEnabled: boolean): HistoryWriter | undefined {
  if (isEnabled) return new HistoryWriter(database);
  if (hasHistory(database)) database.transaction(() => clearHistory(database));
  return undefined;
}

/** Returns true if the database has records of earlier states. */
export const hasHistory = (database: Database): boolean =>
  database.prepare("SELECT 1 FROM history_blocks LIMIT 1").get() !== undefined;

/** Every method must be called in the transaction of the blocks. */
export class HistoryWriter {
  readonly #database: Database;
  readonly #statements: ReturnType<typeof prepareStatements>;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = prepareStatements(database);
  }

  /** Starts at the height unless the records continue there. The state of the database must be that of the height. */
  begin(height: number): void {
    const { lastBlock, addBlock, coins } = this.#statements;
    if (lastBlock.get()?.height === BigInt(height)) return;
    this.clear();
    addBlock.run(height, present(coins.get(), "the coins").coins);
  }

  append(height: number, changes: readonly Change[]): void {
    let coins = present(this.#statements.lastBlock.get(), "the recorded block below").coins;
    for (const { table, key, before, after } of changes) {
      const kind = kindOf(table);
      if (kind === undefined) continue;
      if (table === "wallets") {
        const wallets = { before: before as Wallet | undefined, after: after as Wallet | undefined };
        coins += coinsOf(wallets.after) - coinsOf(wallets.before);
        this.#appendWallet(key, height, wallets);
      } else {
        this.#statements.addRecord.run(kind, key, height, recordText(table, before) ?? null);
      }
    }
    this.#statements.addBlock.run(height, coins);
  }

  /** Removes what a block recorded, given the writes that reverted it. */
  remove(height: number, writes: readonly Write[]): void {
    for (const { table, key } of writes) {
      if (table === "wallets") this.#statements.removeWallet.run(key, height);
      const kind = kindOf(table);
      if (kind !== undefined) this.#statements.removeRecord.run(kind, key, height);
    }
  }

  /** Ends a revert to the height, after `remove` of each block and the flush of the state. */
  revertTo(height: number): void {
    this.#statements.removeBlocks.run(height);
    // The chain was reverted to a block below the first recorded one.
    this.begin(height);
  }

  /** Removes all records. */
  clear(): void {
    clearHistory(this.#database);
  }

  #appendWallet(key: string, height: number, { before, after }: Versions): void {
    const { addWallet, addRecord } = this.#statements;
    if (!before) {
      addWallet.run(key, height, null, null, null);
      return;
    }
    const { balance, nonce, publicKey } = before;
    if (balance !== after?.balance || nonce !== after.nonce || publicKey !== after.publicKey) {
      addWallet.run(key, height, balance, nonce, publicKey === undefined ? 0 : 1);
    }
    if (before.attributes === after?.attributes) return;
    const text = attributesText(before);
    if (text !== (after && attributesText(after))) {
      addRecord.run(HISTORY_KINDS.attributes, key, height, text);
    }
  }
}

type Versions = { readonly before: Wallet | undefined; readonly after: Wallet | undefined };

/** Removes all records: after blocks that were not recorded, they would be wrong. */
function clearHistory(database: Database): void {
  for (const table of ["history_blocks", "history_wallets", "history_records"]) {
    database.execute(`DELETE FROM ${table}`);
  }
}

const prepareStatements = (database: Database) => ({
  addBlock: database.prepare("INSERT INTO history_blocks VALUES (?, ?)"),
  lastBlock: database.prepare<{ height: bigint; coins: bigint }>(
    "SELECT height, coins FROM history_blocks ORDER BY height DESC LIMIT 1",
    { bigints: true },
  ),
  removeBlocks: database.prepare("DELETE FROM history_blocks WHERE height > ?"),
  coins: database.prepare<{ coins: bigint }>(
    `SELECT coalesce(sum(balance + coalesce(CAST(attributes ->> '$.htlc.lockedBalance' AS INTEGER), 0)), 0) AS coins
     FROM wallets`,
    { bigints: true },
  ),
  addWallet: database.prepare("INSERT INTO history_wallets VALUES (?, ?, ?, ?, ?)"),
  removeWallet: database.prepare("DELETE FROM history_wallets WHERE address = ? AND height = ?"),
  addRecord: database.prepare("INSERT INTO history_records VALUES (?, ?, ?, 0, 0, 0, ?)"),
  removeRecord: database.prepare("DELETE FROM history_records WHERE kind = ? AND key = ? AND height = ?"),
});

const kindOf = (table: TableName): number | undefined =>
  table === "wallets"
    ? HISTORY_KINDS.attributes
    : HISTORY_KINDS[table as "tokens" | "properties" | "holdings"];

const coinsOf = (wallet: Wallet | undefined): bigint =>
  wallet ? wallet.balance + (wallet.attributes.htlc?.lockedBalance ?? 0n) : 0n;

const attributesText = ({ attributes }: Wallet): string => JSON.stringify(attributesToJson(attributes));

/** Properties are text, other records are lists of their members. */
const recordText = (table: TableName, record: Stored): string | undefined =>
  record === undefined || table === "properties"
    ? (record as string | undefined)
    : JSON.stringify(toMembers(table, record));
