/** Confirmed transactions with their position in the chain. */
import { CERTIFIED_MINT, CERTIFIED_UPDATE } from "@uniknode/ledger";
import { hexToBytes, sealedFromTrustedBytes, type Transaction, TYPE_GROUPS } from "@uniknode/protocol";
import { prepareById, TRANSACTION_IDS } from "../../../store/chain/id-levels.ts";
import { toSignaturesText } from "../../../store/chain/visible-fields.ts";
import type { Database } from "../../../store/engine/database.ts";
import { Dictionary, RECIPIENTS } from "../../../store/engine/dictionary.ts";
import type { TransactionFilter, TransactionOrder } from "../../filters.ts";
import type { Found, Range } from "../../page.ts";
import type { Head, QueriesOf, Transactions } from "../../port.ts";
import type { StoredTransaction } from "../../rows.ts";
import type { Foundation } from "../../transaction-rules.ts";
import { createCountCache, createIncrementalCounts, createStoredCounts } from "../lists/count-cache.ts";
import type { PlannerOptions } from "../lists/planner.ts";
import { createPositionLists } from "../lists/position-list.ts";
import { createRowsAt } from "../lists/position-page.ts";
import { createIndexScan, createTimeBoxedScan } from "../lists/scans.ts";
import type { ChunksOf } from "../lists/time-box.ts";
import { createTransactionList, TRANSACTIONS } from "../lists/transaction-list.ts";
import type { ValueIndexes } from "../lists/value-index-cache.ts";
import { type IntegerColumn, integerColumn } from "./blocks.ts";
import { createParties, defineAssets } from "./transaction-conditions.ts";
import { type FilterDependencies, transactionQueryOf } from "./transaction-filters.ts";

type ListOf<T> = (filter: TransactionFilter, order: TransactionOrder, range: Range) => Found<T>;

type TransactionQueryOptions = Pick<FilterDependencies, "heightAt"> &
  PlannerOptions & {
    readonly head: () => Head;
    readonly foundation: Foundation;
    readonly chunksOf: ChunksOf;
    readonly valueIndexes: ValueIndexes;
  };

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

export function createTransactionQueries(
  database: Database,
  options: TransactionQueryOptions,
): QueriesOf<Transactions> {
  defineAssets(database);
  const byId = prepareById<TransactionRow>(database, TRANSACTION_IDS, TRANSACTION_COLUMNS, JOINS);
  const bytesById = prepareById<Pick<SignedRow, "bytes">>(database, TRANSACTION_IDS, "bytes");
  const idsInBlock = database.prepare<Pick<SignedRow, "id">>(
    "SELECT id_text AS id FROM transactions WHERE height = +? ORDER BY sequence",
  );
  const certifiedInBlock = database.prepare<SignedRow>(
    `SELECT ${SIGNED} FROM transactions INDEXED BY transactions_type
     WHERE type_group = ${TYPE_GROUPS.uns} AND type IN (${CERTIFIED_MINT}, ${CERTIFIED_UPDATE}) AND height = +?
     ORDER BY sequence`,
  );
  const createList = createLists(database, options);
  const list = createList<TransactionRow>(TRANSACTION_COLUMNS, JOINS);
  const signedList = createList<SignedRow>(SIGNED);
  const recipients = new Dictionary(database, RECIPIENTS);
  const toStored = (row: TransactionRow) => toStoredTransaction(row, recipients);
  return {
    byId(id) {
      const row = byId(id);
      return row && toStored(row);
    },
    signedById(id) {
      const row = bytesById(id);
      return row && signedFromRow({ id, ...row });
    },
    bytesById: (id) => bytesById(id)?.bytes,
    idsInBlock: (height) => idsInBlock.all(height).map(({ id }) => id),
    certifiedInBlock: (height) => certifiedInBlock.all(height).map(signedFromRow),
    list(...query) {
      const { rows, ...found } = list(...query);
      recipients.load(rows.flatMap(({ recipient }) => recipient ?? []));
      return { rows: rows.map(toStored), ...found };
    },
    signedList(...query) {
      const { rows, ...found } = signedList(...query);
      return { rows: rows.map(signedFromRow), ...found };
    },
  };
}

/** Returns a function that creates lists with other columns; the lists share what is counted and indexed. */
function createLists(
  database: Database,
  { head, foundation, heightAt, chunksOf, valueIndexes, minIndexedRows, onPlan }: TransactionQueryOptions,
): <Row>(columns: string, joins?: string) => ListOf<Row> {
  const storedCounts = createStoredCounts(database);
  const filters: FilterDependencies = {
    parties: createParties(database, foundation),
    storedCounts,
    heightAt,
  };
  const incrementalCount = createIncrementalCounts(database, chunksOf, TRANSACTIONS);
  const shared = { valueIndexes, storedCounts, incrementalCount, minIndexedRows };
  const list = createTransactionList({
    ...shared,
    onPlan,
    count: createCountCache(database, chunksOf, TRANSACTIONS),
    positionLists: createPositionLists({ ...shared, database, chunksOf }),
  });
  return <Row>(columns: string, joins = ""): ListOf<Row> => {
    const listed = { ...TRANSACTIONS, columns, joins };
    const indexScan = createIndexScan<Row>(database, listed);
    const timeBoxedScan = createTimeBoxedScan<Row>(database, listed, { chunksOf, indexScan });
    const rowsAt = createRowsAt<Row>(database, columns, joins);
    const readers = { indexScan, timeBoxedScan, rowsAt };
    return (filter, order, range) =>
      list(readers, head(), transactionQueryOf(filters, head(), filter, order), range);
  };
}

const signedFromRow = ({ id, bytes }: SignedRow): Transaction => sealedFromTrustedBytes(bytes, id).data;
