/** The transactions of the chain. */
import { declaresAlive, isCertifiedUpdate, voucherOf } from "@uniknode/ledger";
import {
  type Block,
  type SealedTransaction,
  sealedFromTrustedBytes,
  type Transaction,
} from "@uniknode/protocol";
import type { Database, SqlValue } from "../engine/database.ts";
import { createTypeTotals } from "./type-totals.ts";
import { toVisibleFields } from "./visible-fields.ts";

/** Values of the row of a transaction that its bytes do not contain. */
export type InBlock = {
  readonly height: number;
  /** Index in the block. */
  readonly sequence: number;
  /** Timestamp of the block. */
  readonly timestamp: number;
  /** Nonce, also of a transaction of version 1, which contains none. */
  readonly nonce: number | bigint;
};

/** Returns the row of a transaction: its columns in the order of the table. */
export function transactionRow({ data, bytes }: SealedTransaction, inBlock: InBlock): SqlValue[] {
  const { height, sequence, timestamp, nonce } = inBlock;
  const { signatures, asset } = toVisibleFields(data);
  return [
    height,
    sequence,
    data.id,
    data.version,
    data.typeGroup,
    data.type,
    data.senderPublicKey,
    data.recipientId ?? null,
    nonce,
    data.amount,
    data.fee,
    timestamp,
    data.vendorField || null,
    isAlive(data) ? 1 : null,
    signatures,
    asset,
    bytes,
  ];
}

/** Returns the recipients of a multi-payment, in the order of its payments; none for other transactions. */
export const payeesOf = ({ asset }: Transaction): string[] =>
  asset?.payments?.map(({ recipientId }) => recipientId) ?? [];

export type TransactionStore = {
  /** Writes the transactions of the next block. */
  append(block: Block): void;
  /** Returns the ids that are on the chain. */
  storedIds(ids: readonly string[]): string[];
  /** Transactions of the blocks at and above the height, oldest first; they count as verified. */
  sealedFrom(height: number, limit: number): SealedTransaction[];
  /** Removes the transactions of the blocks at and above the height. */
  removeFrom(height: number): void;
};

export function createTransactionStore(database: Database): TransactionStore {
  const insert = database.prepare(
    "INSERT INTO transactions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const insertPayee = database.prepare("INSERT OR IGNORE INTO payees VALUES (?, ?, ?)");
  const selectId = database.prepare<{ id: string }>("SELECT id FROM transactions WHERE id = ?");
  const selectFrom = database.prepare<{ id: string; bytes: Uint8Array }>(
    "SELECT id, bytes FROM transactions WHERE height >= ? ORDER BY height, sequence LIMIT +?",
  );
  const removals = ["transactions", "payees"].map((table) =>
    database.prepare(`DELETE FROM ${table} WHERE height >= ?`),
  );
  const totals = createTypeTotals(database);
  const nonceOf = createNonces(database);

  return {
    append({ header: { height, timestamp }, transactions }) {
      for (const [sequence, transaction] of transactions.entries()) {
        const { data } = transaction;
        insert.run(...transactionRow(transaction, { height, sequence, timestamp, nonce: nonceOf(data) }));
        for (const payee of payeesOf(data)) insertPayee.run(payee, height, sequence);
      }
      totals.add(transactions.map(({ data }) => data));
    },
    storedIds: (ids) => ids.filter((id) => selectId.get(id)),
    sealedFrom: (height, limit) =>
      selectFrom.all(height, limit).map(({ id, bytes }) => sealedFromTrustedBytes(bytes, id)),
    removeFrom(height) {
      totals.subtractFrom(height);
      for (const removal of removals) removal.run(height);
    },
  };
}

/**
 * A transaction of version 1 has no nonce: its position among the sender's transactions replaces it, counted from 1.
 */
function createNonces(database: Database): (transaction: Transaction) => number | bigint {
  const lastOfSender = database.prepare<{ nonce: number }>(
    "SELECT nonce FROM transactions WHERE sender = +? ORDER BY height DESC, sequence DESC LIMIT 1",
  );
  return ({ nonce, senderPublicKey }) => nonce ?? (lastOfSender.get(senderPublicKey)?.nonce ?? 0) + 1;
}

/**
 * Returns true if the transaction declares its unik alive, which pays the foundation: an update, or a mint with a
 * voucher.
 */
const isAlive = (transaction: Transaction): boolean =>
  (isCertifiedUpdate(transaction) || voucherOf(transaction) !== undefined) && declaresAlive(transaction);
