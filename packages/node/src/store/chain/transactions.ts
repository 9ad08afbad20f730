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
  const lastOfSender = database.prepare<{ nonce: number }>(
    "SELECT nonce FROM transactions WHERE sender = +? ORDER BY height DESC, sequence DESC LIMIT 1",
  );
  const removeFrom = database.prepare("DELETE FROM transactions WHERE height >= ?");
  const removePayeesFrom = database.prepare("DELETE FROM payees WHERE height >= ?");
  const totals = createTypeTotals(database);

  /** Version 1 has no nonce: this is the position among the sender's transactions, from 1. */
  const nonceOf = ({ data }: SealedTransaction): number | bigint =>
    data.nonce ?? (lastOfSender.get(data.senderPublicKey)?.nonce ?? 0) + 1;

  return {
    append({ header: { height, timestamp }, transactions }) {
      for (const [sequence, transaction] of transactions.entries()) {
        const { data } = transaction;
        const { id, version, typeGroup, type, senderPublicKey, recipientId, amount, fee } = data;
        const { signatures, asset } = toVisibleFields(data);
        insert.run(
          height,
          sequence,
          id,
          version,
          typeGroup,
          type,
          senderPublicKey,
          recipientId ?? null,
          nonceOf(transaction),
          amount,
          fee,
          timestamp,
          data.vendorField || null,
          isAlive(data) ? 1 : null,
          signatures,
          asset,
          transaction.bytes,
        );
        if (data.asset?.payments) {
          for (const payment of data.asset.payments) insertPayee.run(payment.recipientId, height, sequence);
        }
      }
      totals.add(transactions.map(({ data }) => data));
    },
    storedIds: (ids) => ids.filter((id) => selectId.get(id)),
    sealedFrom: (height, limit) =>
      selectFrom.all(height, limit).map(({ id, bytes }) => sealedFromTrustedBytes(bytes, id)),
    removeFrom(height) {
      totals.subtractFrom(height);
      removeFrom.run(height);
      removePayeesFrom.run(height);
    },
  };
}

const LIFE_CYCLE_STATUS = "LifeCycle/Status";
const ALIVE = "3";

/**
 * Returns true if it declares its unik alive, as an update or as a mint with a voucher: the foundation earns
 * by these.
 */
const isAlive = (transaction: Transaction): boolean =>
  (isCertifiedUpdate(transaction) ||
    (isCertifiedMint(transaction) && voucherOf(transaction) !== undefined)) &&
  nftOf(transaction).token.properties?.[LIFE_CYCLE_STATUS] === ALIVE;
