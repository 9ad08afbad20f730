/** The transactions of the chain, and their totals by type. */
import { declaresAlive, isCertifiedUpdate, voucherOf } from "@uniknode/ledger";
import {
  type Block,
  hexToBytes,
  type SealedTransaction,
  sealedFromTrustedBytes,
  type Transaction,
} from "@uniknode/protocol";
import type { Database, Statement } from "../engine/database.ts";
import { Dictionary, RECIPIENTS, SENDERS } from "../engine/dictionary.ts";
import { IdLevels, prepareById, TRANSACTION_IDS } from "./id-levels.ts";
import { toAssetText } from "./visible-fields.ts";

/** Returns the recipients of a multi-payment, each once, in the order of its payments; none for other transactions. */
export const payeesOf = ({ asset }: Transaction): ReadonlySet<string> =>
  new Set(asset?.payments?.map(({ recipientId }) => recipientId));

export class TransactionStore {
  readonly #selectId: (id: string) => unknown;
  readonly #selectFrom: Statement<{ id: string; bytes: Uint8Array }>;
  readonly #removals: readonly { readonly from: Statement<unknown>; readonly all: Statement<unknown> }[];
  readonly #upTo: Statement<{ transactions: number }>;
  readonly #totals: TypeTotals;
  readonly #ids: IdLevels;
  readonly #insertion: Insertion;
  /** Id of the last block whose transactions were written. */
  #last: string | undefined;

  constructor(database: Database) {
    this.#selectId = prepareById(database, TRANSACTION_IDS, "1");
    this.#selectFrom = database.prepare(
      "SELECT id_text AS id, bytes FROM transactions WHERE height >= ? ORDER BY height, sequence LIMIT +?",
    );
    this.#removals = ["transactions", "payees"].map((table) => ({
      from: database.prepare(`DELETE FROM ${table} WHERE height >= ?`),
      all: database.prepare(`DELETE FROM ${table}`),
    }));
    this.#upTo = database.prepare("SELECT transactions_up_to AS transactions FROM blocks WHERE height = ?");
    this.#totals = new TypeTotals(database);
    this.#ids = new IdLevels(database, TRANSACTION_IDS);
    this.#insertion = new Insertion(database, this.#ids);
  }

  /** Writes the transactions of the next block. */
  append({ header: { id, height, previousBlock }, transactions }: Block): void {
    // The child of the last block shows that the transaction of the last block was not rolled back.
    if (this.#last !== previousBlock) this.#insertion.reset();
    this.#last = undefined;
    for (const [sequence, transaction] of transactions.entries())
      this.#insertion.insert(height, sequence, transaction);
    if (transactions.length > 0) {
      this.#totals.add(transactions.map(({ data }) => data));
      const { transactions: below } = this.#upTo.get(height - 1) ?? { transactions: 0 };
      this.#ids.grow(below, below + transactions.length);
    }
    this.#last = id;
  }

  /** Returns the ids that are on the chain. */
  storedIds(ids: readonly string[]): string[] {
    return ids.filter((id) => this.#selectId(id) !== undefined);
  }

  /** Transactions of the blocks at and above the height, oldest first; they count as verified. */
  sealedFrom(height: number, limit: number): SealedTransaction[] {
    return this.#selectFrom.all(height, limit).map(({ id, bytes }) => sealedFromTrustedBytes(bytes, id));
  }

  /** Removes the transactions of the blocks at and above the height. */
  removeFrom(height: number): void {
    this.#totals.subtractFrom(height);
    this.#ids.removeFrom(height);
    for (const { from, all } of this.#removals) {
      // SQLite empties a table at once.
      if (height <= 1) all.run();
      else from.run(height);
    }
  }
}

class Insertion {
  readonly #ids: IdLevels;
  readonly #statement: Statement<unknown>;
  readonly #insertPayee: Statement<unknown>;
  readonly #senders: Dictionary;
  readonly #recipients: Dictionary;
  readonly #nonceOf: (sender: number) => number;

  constructor(database: Database, ids: IdLevels) {
    this.#ids = ids;
    this.#statement = database.prepare(
      "INSERT INTO transactions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    );
    this.#insertPayee = database.prepare("INSERT INTO payees VALUES (?, ?, ?)");
    this.#senders = new Dictionary(database, SENDERS);
    this.#recipients = new Dictionary(database, RECIPIENTS);
    this.#nonceOf = createNonces(database);
  }

  insert(height: number, sequence: number, { data, bytes }: SealedTransaction): void {
    const id = hexToBytes(data.id);
    const sender = this.#senders.numberOf(data.senderPublicKey);
    this.#statement.run(
      height,
      sequence,
      id,
      data.version,
      data.typeGroup,
      data.type,
      sender,
      data.recipientId === undefined ? null : this.#recipients.numberOf(data.recipientId),
      data.nonce ?? this.#nonceOf(sender),
      data.amount,
      data.fee,
      data.vendorField || null,
      isAlive(data) ? 1 : null,
      countOfSignatures(data),
      toAssetText(data.asset),
      bytes,
    );
    this.#ids.add(id, height, sequence);
    for (const payee of payeesOf(data))
      this.#insertPayee.run(this.#recipients.numberOf(payee), height, sequence);
  }

  /** Discards the cached numbers of parties. */
  reset(): void {
    this.#senders.reset();
    this.#recipients.reset();
  }
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

const COUNTS = "SELECT type_group, type, COUNT(*) AS count FROM transactions";

/**
 * Totals of transactions on the chain by type, maintained instead of counted. Each method must be called in the transaction that
 * changes the table of transactions.
 */
class TypeTotals {
  readonly #add: Statement<unknown>;
  readonly #subtract: Statement<unknown>;
  readonly #removeNone: Statement<unknown>;

  constructor(database: Database) {
    this.#add = database.prepare(
      `INSERT INTO type_totals VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET transactions = transactions + excluded.transactions`,
    );
    this.#subtract = database.prepare(
      `UPDATE type_totals SET transactions = transactions - left.count
     FROM (${COUNTS} WHERE height >= ? GROUP BY type_group, type) AS left
     WHERE left.type_group = type_totals.type_group AND left.type = type_totals.type`,
    );
    this.#removeNone = database.prepare("DELETE FROM type_totals WHERE transactions = 0");
  }

  add(transactions: readonly Pick<Transaction, "typeGroup" | "type">[]): void {
    for (const group of Map.groupBy(transactions, typeKey).values()) {
      const [{ typeGroup, type }] = group as [(typeof group)[number]];
      this.#add.run(typeGroup, type, group.length);
    }
  }

  /** Subtracts the transactions of the blocks at and above a height, before they are removed. */
  subtractFrom(height: number): void {
    this.#subtract.run(height);
    this.#removeNone.run();
  }
}

/** A group has 32 bits, a type has 16 (transactions.md 2). */
const typeKey = ({ typeGroup, type }: Pick<Transaction, "typeGroup" | "type">) => typeGroup * 2 ** 16 + type;

/** Recounts all transactions after rows were written without this store. Scans an index of the whole table. */
export function recountTypes(database: Database): void {
  database.transaction(() => {
    database.execute(`DELETE FROM type_totals; INSERT INTO type_totals ${COUNTS} GROUP BY type_group, type`);
  });
}
