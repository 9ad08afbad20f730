/** The transactions of the chain, and their totals by type. */
import { declaresAlive, isCertifiedUpdate, voucherOf } from "@uniknode/ledger";
import {
  type Block,
  hexToBytes,
  type SealedTransaction,
  sealedFromTrustedBytes,
  type Transaction,
} from "@uniknode/protocol";
import type { Database } from "../engine/database.ts";
import { createDictionary, RECIPIENTS, SENDERS } from "../engine/dictionary.ts";
import { createIdLevels, type IdLevels, prepareById, TRANSACTION_IDS } from "./id-levels.ts";
import { toAssetText } from "./visible-fields.ts";

/** Returns the recipients of a multi-payment, each once, in the order of its payments; none for other transactions. */
export const payeesOf = ({ asset }: Transaction): ReadonlySet<string> =>
  new Set(asset?.payments?.map(({ recipientId }) => recipientId));

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
  const selectId = prepareById(database, TRANSACTION_IDS, "1");
  const selectFrom = database.prepare<{ id: string; bytes: Uint8Array }>(
    "SELECT id_text AS id, bytes FROM transactions WHERE height >= ? ORDER BY height, sequence LIMIT +?",
  );
  const removals = ["transactions", "payees"].map((table) =>
    database.prepare(`DELETE FROM ${table} WHERE height >= ?`),
  );
  const totals = createTypeTotals(database);
  const ids = createIdLevels(database, TRANSACTION_IDS);
  const { insert, reset } = createInsertion(database, ids);
  const upTo = database.prepare<{ transactions: number }>(
    "SELECT transactions_up_to AS transactions FROM blocks WHERE height = ?",
  );
  /** Id of the last block whose transactions were written. */
  let last: string | undefined;

  return {
    append({ header: { id, height, previousBlock }, transactions }) {
      // The child of the last block shows that the transaction of the last block was not rolled back.
      if (last !== previousBlock) reset();
      last = undefined;
      for (const [sequence, transaction] of transactions.entries()) insert(height, sequence, transaction);
      if (transactions.length > 0) {
        totals.add(transactions.map(({ data }) => data));
        const { transactions: below } = upTo.get(height - 1) ?? { transactions: 0 };
        ids.grow(below, below + transactions.length);
      }
      last = id;
    },
    storedIds: (ids) => ids.filter((id) => selectId(id) !== undefined),
    sealedFrom: (height, limit) =>
      selectFrom.all(height, limit).map(({ id, bytes }) => sealedFromTrustedBytes(bytes, id)),
    removeFrom(height) {
      totals.subtractFrom(height);
      ids.removeFrom(height);
      for (const removal of removals) removal.run(height);
    },
  };
}

type Insertion = {
  insert(height: number, sequence: number, transaction: SealedTransaction): void;
  /** Discards the cached numbers of parties. */
  reset(): void;
};

function createInsertion(database: Database, ids: IdLevels): Insertion {
  const statement = database.prepare(
    "INSERT INTO transactions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const senders = createDictionary(database, SENDERS);
  const recipients = createDictionary(database, RECIPIENTS);
  const insertPayee = database.prepare("INSERT INTO payees VALUES (?, ?, ?)");
  const nonceOf = createNonces(database);
  return {
    insert(height, sequence, { data, bytes }) {
      const id = hexToBytes(data.id);
      const sender = senders.numberOf(data.senderPublicKey);
      statement.run(
        height,
        sequence,
        id,
        data.version,
        data.typeGroup,
        data.type,
        sender,
        data.recipientId === undefined ? null : recipients.numberOf(data.recipientId),
        data.nonce ?? nonceOf(sender),
        data.amount,
        data.fee,
        data.vendorField || null,
        isAlive(data) ? 1 : null,
        countOfSignatures(data),
        toAssetText(data.asset),
        bytes,
      );
      ids.add(id, height, sequence);
      for (const payee of payeesOf(data)) insertPayee.run(recipients.numberOf(payee), height, sequence);
    },
    reset() {
      senders.reset();
      recipients.reset();
    },
  };
}

/** A transaction of version 1 has no nonce: its position among the sender's transactions replaces it, counted from 1. */
function createNonces(database: Database): (sender: number) => number {
  const lastOfSender = database.prepare<{ nonce: number }>(
    "SELECT nonce FROM transactions WHERE sender = +? ORDER BY height DESC, sequence DESC LIMIT 1",
  );
  return (sender) => (lastOfSender.get(sender)?.nonce ?? 0) + 1;
}

/** Digits of a signature of 64 bytes. */
const SCHNORR_DIGITS = 128;

/** Returns the number of signatures of 64 bytes at the end of the bytes: 1, or 2 with the second one; 0 for other forms. */
function countOfSignatures({ signature, secondSignature, signatures }: Transaction): number {
  if (signature?.length !== SCHNORR_DIGITS || signatures !== undefined) return 0;
  if (secondSignature === undefined) return 1;
  return secondSignature.length === SCHNORR_DIGITS ? 2 : 0;
}

/**
 * Returns true if the transaction declares its unik alive, which pays the foundation: an update, or a mint with a
 * voucher.
 */
export const isAlive = (transaction: Transaction): boolean =>
  (isCertifiedUpdate(transaction) || voucherOf(transaction) !== undefined) && declaresAlive(transaction);

/**
 * Totals of transactions on the chain by type, maintained instead of counted. Each function must be called in the transaction that
 * changes the table of transactions.
 */
type TypeTotals = {
  add(transactions: readonly Pick<Transaction, "typeGroup" | "type">[]): void;
  /** Subtracts the transactions of the blocks at and above a height, before they are removed. */
  subtractFrom(height: number): void;
};

const COUNTS = "SELECT type_group, type, COUNT(*) AS count FROM transactions";

function createTypeTotals(database: Database): TypeTotals {
  const add = database.prepare(
    `INSERT INTO type_totals VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET transactions = transactions + excluded.transactions`,
  );
  const subtract = database.prepare(
    `UPDATE type_totals SET transactions = transactions - left.count
     FROM (${COUNTS} WHERE height >= ? GROUP BY type_group, type) AS left
     WHERE left.type_group = type_totals.type_group AND left.type = type_totals.type`,
  );
  const removeNone = database.prepare("DELETE FROM type_totals WHERE transactions = 0");
  return {
    add(transactions) {
      for (const group of Map.groupBy(transactions, typeKey).values()) {
        const [{ typeGroup, type }] = group as [(typeof group)[number]];
        add.run(typeGroup, type, group.length);
      }
    },
    subtractFrom(height) {
      subtract.run(height);
      removeNone.run();
    },
  };
}

/** A group has 32 bits, a type has 16 (transactions.md 2). */
const typeKey = ({ typeGroup, type }: Pick<Transaction, "typeGroup" | "type">) => typeGroup * 2 ** 16 + type;

/** Recounts all transactions after rows were written without this store. Scans an index of the whole table. */
export function recountTypes(database: Database): void {
  database.transaction(() => {
    database.execute(`DELETE FROM type_totals; INSERT INTO type_totals ${COUNTS} GROUP BY type_group, type`);
  });
}
