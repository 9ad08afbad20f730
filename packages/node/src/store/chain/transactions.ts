/** The transactions of the chain. */
import { isCertifiedMint, isCertifiedUpdate, nftOf, voucherOf } from "@uniknode/ledger";
import {
  type Block,
  type SealedTransaction,
  sealedFromTrustedBytes,
  type Transaction,
} from "@uniknode/protocol";
import type { Database } from "../engine/database.ts";
import { createTypeTotals } from "./type-totals.ts";
import { toVisibleFields } from "./visible-fields.ts";

/**
 * Columns that are derived from the bytes of a transaction, in the order of the table, except the nonce of version 1.
 */
export function transactionColumns({ data, bytes }: SealedTransaction) {
  const { signatures, asset } = toVisibleFields(data);
  return {
    id: data.id,
    version: data.version,
    typeGroup: data.typeGroup,
    type: data.type,
    sender: data.senderPublicKey,
    recipient: data.recipientId ?? null,
    nonce: data.nonce,
    amount: data.amount,
    fee: data.fee,
    vendorField: data.vendorField || null,
    isAlive: isAlive(data) ? 1 : null,
    signatures,
    asset,
    bytes,
    payees: data.asset?.payments?.map(({ recipientId }) => recipientId) ?? [],
  };
}

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
        const row = transactionColumns(transaction);
        insert.run(
          height,
          sequence,
          row.id,
          row.version,
          row.typeGroup,
          row.type,
          row.sender,
          row.recipient,
          nonceOf(transaction.data),
          row.amount,
          row.fee,
          timestamp,
          row.vendorField,
          row.isAlive,
          row.signatures,
          row.asset,
          row.bytes,
        );
        for (const payee of row.payees) insertPayee.run(payee, height, sequence);
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

const LIFE_CYCLE_STATUS = "LifeCycle/Status";
const ALIVE = "3";

/**
 * Returns true if the transaction declares its unik alive, which pays the foundation: an update, or a mint with a
 * voucher.
 */
const isAlive = (transaction: Transaction): boolean =>
  (isCertifiedUpdate(transaction) ||
    (isCertifiedMint(transaction) && voucherOf(transaction) !== undefined)) &&
  nftOf(transaction).token.properties?.[LIFE_CYCLE_STATUS] === ALIVE;
