/** Confirmed transactions with their position in the chain. */
import { CERTIFIED_MINT, CERTIFIED_UPDATE } from "@uniknode/ledger";
import { hexToBytes, sealedFromTrustedBytes, type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import { prepareById, TRANSACTION_IDS } from "../../../store/chain/id-levels.ts";
import { toSignaturesText } from "../../../store/chain/visible-fields.ts";
import type { Database, Statement } from "../../../store/engine/database.ts";
import { Dictionary, RECIPIENTS } from "../../../store/engine/dictionary.ts";
import type { TransactionFilter, TransactionOrder } from "../../filters.ts";
import type { Found, Range } from "../../page.ts";
import type { Head, QueriesOf, Transactions } from "../../port.ts";
import type { StoredTransaction } from "../../rows.ts";
import { TRANSACTIONS } from "../lists/access-paths.ts";
import { CountCache, IncrementalCounts, StoredCounts } from "../lists/count-cache.ts";
import type { PlannerOptions } from "../lists/planner.ts";
import { PositionLists } from "../lists/position-list.ts";
import { PositionReader } from "../lists/position-page.ts";
import { Scans } from "../lists/scans.ts";
import type { Chunks } from "../lists/time-box.ts";
import { TransactionPage } from "../lists/transaction-list.ts";
import type { ValueIndexes } from "../lists/value-index-cache.ts";
import { type IntegerColumn, integerColumn } from "./blocks.ts";
import { defineAssets, SqliteConditions } from "./transaction-conditions.ts";
import { type FilterDependencies, transactionQueryOf } from "./transaction-filters.ts";

type ListOf<T> = (filter: TransactionFilter, order: TransactionOrder, range: Range) => Found<T>;

type SignedRow = { id: string; bytes: Uint8Array };

/** Exposes only the selected columns of blocks: transactions have most of the other column names too. */
const JOINS = "CROSS JOIN (SELECT height, id AS block, timestamp FROM blocks) AS block USING (height)";
const SIGNED = "id_text AS id, bytes";

type TransactionRow = Omit<
  StoredTransaction,
  "id" | "version" | "senderPublicKey" | "recipientId" | "signatures" | "blockId" | "amount" | "fee" | "nonce"
> & {
  /** Upper-case hexadecimal of the id of the block, the id and the bytes. */
  readonly text: string;
  /** Number of the bytes. */
  readonly size: number;
  readonly amount: IntegerColumn;
  readonly fee: IntegerColumn;
  readonly nonce: IntegerColumn;
  /** Number of the recipient. */
  readonly recipient: number | null;
  /** Number of signatures of 64 bytes at the end of the bytes; 0 for other forms. */
  readonly signatures: number;
};

const integer = (column: string) => integerColumn(`transactions.${column}`, column);

const TRANSACTION_COLUMNS = `hex(block || id || bytes) AS text, length(bytes) AS size, type_group AS typeGroup, type, recipient,
  ${integer("amount")}, ${integer("fee")}, ${integer("nonce")}, vendor_field AS vendorField, signatures, asset, height, timestamp`;

/** Digits of a full id, of a public key and of a signature. */
const [ID, KEY, SIGNATURE] = [64, 66, 128];
/** Positions in the bytes (transactions.md 3): of the second digit of the version, and of the sender by version. */
const [VERSION, SENDER_V1, SENDER_V2] = [3, 16, 34];
const ZERO = "0".charCodeAt(0);

/** Slices members from the text: bytes of each member would cost three times as much. */
function toStoredTransaction(row: TransactionRow, recipients: Dictionary): StoredTransaction {
  const text = row.text.toLowerCase();
  const bytes = text.length - 2 * row.size;
  const version = text.charCodeAt(bytes + VERSION) - ZERO;
  const sender = bytes + (version === 1 ? SENDER_V1 : SENDER_V2);
  return {
    id: text.slice(bytes - ID, bytes),
    version,
    typeGroup: row.typeGroup,
    type: row.type,
    senderPublicKey: text.slice(sender, sender + KEY),
    recipientId: row.recipient === null ? null : recipients.textOf(row.recipient),
    amount: `${row.amount}`,
    fee: `${row.fee}`,
    vendorField: row.vendorField,
    signatures: signaturesOf(row, text),
    asset: row.asset,
    blockId: blockIdOf(text.slice(0, bytes - ID)),
    height: row.height,
    timestamp: row.timestamp,
    nonce: `${row.nonce}`,
  };
}

/** A partial id is stored as text. */
const blockIdOf = (digits: string): string =>
  digits.length === ID ? digits : Buffer.from(digits, "hex").toString("latin1");

function signaturesOf({ signatures, size }: TransactionRow, text: string): string {
  const last = text.slice(-SIGNATURE);
  if (signatures === 1) return `"signature":"${last}"`;
  if (signatures === 2) {
    return `"signature":"${text.slice(-2 * SIGNATURE, -SIGNATURE)}","signSignature":"${last}"`;
  }
  return toSignaturesText(sealedFromTrustedBytes(hexToBytes(text.slice(-2 * size)), "").data);
}

type TransactionQueryDependencies = Pick<FilterDependencies, "heightAt" | "foundation"> &
  PlannerOptions & {
    readonly database: Database;
    readonly head: () => Head;
    readonly chunks: Chunks;
    /** Absent: no value index is built. */
    readonly valueIndexes?: Pick<ValueIndexes, "find"> | undefined;
  };

export class TransactionQueries implements QueriesOf<Transactions> {
  readonly #byId: (id: string) => TransactionRow | undefined;
  readonly #bytesById: (id: string) => Pick<SignedRow, "bytes"> | undefined;
  readonly #idsInBlock: Statement<Pick<SignedRow, "id">>;
  readonly #certifiedInBlock: Statement<SignedRow>;
  readonly #recipients: Dictionary;
  readonly #list: ListOf<TransactionRow>;
  readonly #signedList: ListOf<SignedRow>;

  constructor(deps: TransactionQueryDependencies) {
    const { database } = deps;
    defineAssets(database);
    this.#byId = prepareById(database, TRANSACTION_IDS, TRANSACTION_COLUMNS, JOINS);
    this.#bytesById = prepareById(database, TRANSACTION_IDS, "bytes");
    this.#idsInBlock = database.prepare(
      "SELECT id_text AS id FROM transactions WHERE height = +? ORDER BY sequence",
    );
    this.#certifiedInBlock = database.prepare(
      `SELECT ${SIGNED} FROM transactions INDEXED BY transactions_type
       WHERE type_group = ${TYPE_GROUPS.uns} AND type IN (${CERTIFIED_MINT}, ${CERTIFIED_UPDATE}) AND height = +?
       ORDER BY sequence`,
    );
    this.#recipients = new Dictionary(database, RECIPIENTS);
    const storedCounts = new StoredCounts(database);
    const filters = { ...deps, storedCounts, conditions: new SqliteConditions(database) };
    const incrementalCounts = new IncrementalCounts(database, deps.chunks, TRANSACTIONS);
    const positionLists = new PositionLists({ ...deps, storedCounts, incrementalCounts });
    const counts = new CountCache(database, deps.chunks, TRANSACTIONS);
    const indexes = { ...deps, storedCounts, incrementalCounts, positionLists, counts };
    const listOf = <Row>(columns: string, joins = ""): ListOf<Row> => {
      const scans = new Scans<Row>(database, { ...TRANSACTIONS, columns, joins }, deps.chunks);
      const positions = new PositionReader<Row>(database, columns, joins);
      return (filter, order, range) => {
        const head = deps.head();
        const query = transactionQueryOf(filters, head, filter, order);
        return new TransactionPage(indexes, { scans, positions, head, query, range }).find();
      };
    };
    this.#list = listOf(TRANSACTION_COLUMNS, JOINS);
    this.#signedList = listOf(SIGNED);
  }

  byId(id: string): StoredTransaction | undefined {
    const row = this.#byId(id);
    return row && toStoredTransaction(row, this.#recipients);
  }

  signedById(id: string): Transaction | undefined {
    const row = this.#bytesById(id);
    return row && signedFromRow({ id, ...row });
  }

  bytesById(id: string): Uint8Array | undefined {
    return this.#bytesById(id)?.bytes;
  }

  idsInBlock(height: number): string[] {
    return this.#idsInBlock.all(height).map(({ id }) => id);
  }

  certifiedInBlock(height: number): Transaction[] {
    return this.#certifiedInBlock.all(height).map(signedFromRow);
  }

  list(...query: Parameters<ListOf<unknown>>): Found<StoredTransaction> {
    const { rows, ...found } = this.#list(...query);
    this.#recipients.load(rows.flatMap(({ recipient }) => recipient ?? []));
    return { rows: rows.map((row) => toStoredTransaction(row, this.#recipients)), ...found };
  }

  signedList(...query: Parameters<ListOf<unknown>>): Found<Transaction> {
    const { rows, ...found } = this.#signedList(...query);
    return { rows: rows.map(signedFromRow), ...found };
  }
}

const signedFromRow = ({ id, bytes }: SignedRow): Transaction => sealedFromTrustedBytes(bytes, id).data;
